// Owns the choice of the log that a coordinator works on: the one of this machine alone, or the one
// that the nodes of a cluster agree on. No other file of the coordinator's thread knows which.

import { ClusterError } from '../../src/cluster/cluster-error.ts';
import { readMirrorNote } from '../../src/cluster/mirror-note.ts';
import { openArchive } from '../../src/log/archive.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import type { Store, StoreSeams } from './store.ts';

/** @returns undefined: the signal aborted before. @throws LogError, LogCorrupt, ClusterError */
export async function openStore(seams: StoreSeams): Promise<Store | undefined> {
  if (seams.data.cluster === undefined) return openOwnLog(seams);
  // A server without a cluster loads nothing of what speaks with etcd.
  const { openClusterStore } = await import('./open-cluster.ts');
  return openClusterStore(seams, seams.data.cluster);
}

async function openOwnLog({ data, onCommit }: StoreSeams): Promise<Store> {
  const { dataDir, archiveDir, segmentBytes, skip } = data;
  const note = readMirrorNote(dataDir);
  if (note !== undefined) {
    throw new ClusterError(
      'CLUSTER_MIRROR',
      `${dataDir} holds the log of a node of the cluster ${note.cluster}; start it with --etcd, ` +
        `or copy it with \`leasehold backup --data-dir ${dataDir} NEWDIR\` and start on the copy`,
    );
  }
  const log = await openLmdbLog({ dataDir, segmentBytes, onCommit });
  const how = { isRestored: skip > 0 };
  const archive = archiveDir ? await openArchive(archiveDir, log, how) : undefined;
  return {
    log,
    archive,
    lead: () => Promise.resolve({ skip }),
    leading: () => {},
    ending: (told) => ({ told }),
    // A commit in this process cannot be given up.
    abandon: () => {},
    async close() {
      await archive?.close();
      await log.close();
    },
  };
}
