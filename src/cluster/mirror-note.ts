// Owns the note in a data directory that says of which cluster its log is a copy. A server without
// a cluster never starts on such a directory: it would write records that the cluster does not
// have.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ClusterError } from './cluster-error.ts';

export interface MirrorNote {
  readonly cluster: string;
  /** Of the log that the cluster agrees on, made by `cluster init`. */
  readonly log: string;
  /** Of this copy, random. */
  readonly mirror: string;
}

export const mirrorNoteFile = (dataDir: string): string => path.join(dataDir, 'cluster.json');

/** @returns undefined: the directory belongs to no cluster. @throws ClusterError CLUSTER_MIRROR */
export function readMirrorNote(dataDir: string): MirrorNote | undefined {
  const file = mirrorNoteFile(dataDir);
  if (!existsSync(file)) return undefined;
  try {
    const { cluster, log, mirror } = JSON.parse(readFileSync(file, 'utf8')) as MirrorNote;
    if ([cluster, log, mirror].every((text) => typeof text === 'string' && text !== '')) {
      return { cluster, log, mirror };
    }
  } catch {
    // Told below.
  }
  throw new ClusterError('CLUSTER_MIRROR', `${file} cannot be read: it says which cluster this is`);
}

/** Flushed before it counts. */
export function writeMirrorNote(dataDir: string, note: MirrorNote): void {
  const file = mirrorNoteFile(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(note)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
