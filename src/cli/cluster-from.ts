// Owns the turning of a server's data directory into a node's copy of a cluster's log.

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Agreement } from '../cluster/agreement.ts';
import { ClusterError } from '../cluster/cluster-error.ts';
import type { Beginning } from '../cluster/init.ts';
import { mirrorNoteFile, readMirrorNote, writeMirrorNote } from '../cluster/mirror-note.ts';
import { checksumOf, encodeRecord } from '../log/codec.ts';
import { openLmdbReader } from '../log/lmdb-reader.ts';
import { lockDirectory } from '../log/lock.ts';

/** The numbers that an old server might still use, if it were started somewhere after all. */
const GAP = 1_000_000;

/**
 * @param make makes the cluster; it throws when it did not
 * @returns the number of the last record. @throws LogError, LogCorrupt, ClusterError
 */
export async function converted(
  dataDir: string,
  cluster: string,
  fresh: Agreement,
  make: (agreement: Agreement, from: Beginning) => Promise<void>,
): Promise<number> {
  const lock = await lockDirectory(dataDir);
  try {
    const { last, check } = await endOf(dataDir);
    const before = readMirrorNote(dataDir);
    if (before !== undefined && before.cluster !== cluster) {
      const text = `${dataDir} belongs to the cluster ${before.cluster}`;
      throw new ClusterError('CLUSTER_MIRROR', text);
    }
    // The note comes first: from now on no server without a cluster starts on this directory.
    const note = before ?? { cluster, log: fresh.log, mirror: randomUUID() };
    if (before === undefined) writeMirrorNote(dataDir, note);
    try {
      await make({ ...fresh, log: note.log }, { end: { last, check }, gap: GAP });
    } catch (error) {
      // What became of the cluster is not known when etcd did not answer: then the note stays.
      const isRefused = error instanceof ClusterError;
      if (isRefused && before === undefined) rmSync(mirrorNoteFile(dataDir), { force: true });
      throw error;
    }
    return last;
  } finally {
    await lock.release();
  }
}

async function endOf(dataDir: string): Promise<{ last: number; check: number }> {
  const log = await openLmdbReader(dataDir);
  try {
    const last = log.lastNumber;
    const record = log.get(last);
    if (record !== undefined) return { last, check: checksumOf(encodeRecord(record)) };
    throw new ClusterError(
      'CLUSTER_MIRROR',
      `${dataDir} holds no records: there is nothing to take`,
    );
  } finally {
    await log.close();
  }
}
