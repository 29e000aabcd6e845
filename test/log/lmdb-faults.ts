// Owns the ways in which tests break or damage a log on the device. It goes around the log: what it
// does is what a failing disk or a stranger would do.

import fs from 'node:fs';
import path from 'node:path';
import { open } from 'lmdb';
import { readKey, writeKey } from '../../src/log/lmdb/page.ts';

const segmentDirectories = (dataDir: string): string[] =>
  fs
    .readdirSync(path.join(dataDir, 'log'))
    .toSorted()
    .map((name) => path.join(dataDir, 'log', name));

/**
 * Closes this process's descriptors for writing of the log's data files behind LMDB's back: every
 * write fails with EBADF until the files are opened anew. Linux only.
 * @param which 'meta' leaves all but the last write of a commit, which goes through one of its own.
 */
export function breakDataFile(dataDir: string, which: 'all' | 'meta' = 'all'): void {
  for (const fd of fs.readdirSync('/proc/self/fd')) {
    const target = linkOf(fd);
    if (!target.startsWith(dataDir) || !target.endsWith('data.mdb')) continue;
    const flags = flagsOf(fd);
    if ((flags & (fs.constants.O_RDWR | fs.constants.O_WRONLY)) === 0) continue;
    if (which === 'all' || (flags & fs.constants.O_DSYNC) !== 0) fs.closeSync(Number(fd));
  }
}

function linkOf(fd: string): string {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return ''; // The descriptor with which the directory itself was read.
  }
}

function flagsOf(fd: string): number {
  const info = fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
  return Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)?.[1] ?? '0', 8);
}

/** Changes the stored bytes of an entry, or removes it, while nobody has the log open. */
export async function rewriteEntry(
  dataDir: string,
  seq: number,
  how: (bytes: Uint8Array) => Uint8Array | undefined,
): Promise<void> {
  for (const directory of segmentDirectories(dataDir)) {
    const db = open<Uint8Array, number>({
      path: directory,
      noSubdir: false,
      overlappingSync: false,
      encoding: 'binary',
      keyEncoder: { writeKey, readKey },
    });
    try {
      const before = db.get(seq);
      // A seal stands at the number after a segment's last; the record is in the next one.
      if (before === undefined || before[4] === 0) continue;
      const after = how(Uint8Array.from(before));
      if (after === undefined) db.removeSync(seq);
      else db.putSync(seq, after);
      return;
    } finally {
      await db.close();
    }
  }
  throw new Error(`no record ${seq} to damage`);
}
