// Owns whether a data directory may be this node's copy of the cluster's log. A directory with the
// log of something else is refused with the command that makes a copy of it.

import type { Etcd } from '../log/etcd/etcd.ts';
import type { Keys } from '../log/etcd/keys.ts';
import { type Agreement, decodeAgreement } from './agreement.ts';
import { ClusterError } from './cluster-error.ts';
import { type MirrorNote, readMirrorNote, writeMirrorNote } from './mirror-note.ts';

/** What all nodes have agreed on. @throws ClusterError CLUSTER_UNKNOWN, EtcdError, LogError */
export async function readAgreement(
  etcd: Pick<Etcd, 'range'>,
  keys: Keys,
  cluster: string,
): Promise<Agreement> {
  const [kv] = (await etcd.range(keys.meta, undefined)).kvs;
  if (kv !== undefined) return decodeAgreement(kv.value);
  throw new ClusterError(
    'CLUSTER_UNKNOWN',
    `etcd holds no cluster named ${cluster}; \`leasehold cluster init\` with the same --etcd and ` +
      '--cluster-name makes it',
  );
}

/** Before anything is opened. @throws ClusterError CLUSTER_MIRROR */
export function assertOfCluster(dataDir: string, cluster: string): void {
  const note = readMirrorNote(dataDir);
  if (note === undefined || note.cluster === cluster) return;
  throw new ClusterError(
    'CLUSTER_MIRROR',
    `${dataDir} belongs to the cluster ${note.cluster} and not to ${cluster}; give ` +
      `--cluster-name ${note.cluster}, or another --data-dir`,
  );
}

/**
 * With the directory locked. An empty one becomes a copy.
 * @param records that the directory's log holds, by the number of the last one
 * @param newId makes a random id
 * @throws ClusterError CLUSTER_MIRROR
 */
export function joined(
  dataDir: string,
  records: number,
  { cluster, log }: { readonly cluster: string; readonly log: string },
  newId: () => string,
): MirrorNote {
  const note = readMirrorNote(dataDir);
  if (note === undefined && records > 0) {
    throw new ClusterError(
      'CLUSTER_MIRROR',
      `${dataDir} holds the log of a server without a cluster. \`leasehold cluster init --from ` +
        `${dataDir}\` makes a cluster that goes on with it; a node of a cluster that exists ` +
        'needs an empty directory, or a copy made by `leasehold backup --node`',
    );
  }
  if (note !== undefined && note.log !== log) {
    throw new ClusterError(
      'CLUSTER_MIRROR',
      `${dataDir} is a copy of another log than the cluster ${cluster} has now; this node needs ` +
        'an empty directory, or a copy made by `leasehold backup --node`',
    );
  }
  if (note !== undefined) return note;
  const made = { cluster, log, mirror: newId() };
  writeMirrorNote(dataDir, made);
  return made;
}
