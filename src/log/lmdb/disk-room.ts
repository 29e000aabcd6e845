// Owns the question whether the disk has room for a transaction. LMDB says of a full disk that the
// device failed, and writes that to standard error with a stack.

import fs from 'node:fs';
import { LogError } from '../log.ts';

/** What a transaction takes beyond its entries, at most: pages that it begins and changes. */
const MORE_BYTES = 1024 * 1024;

/** @returns the entries, for which there is room. @throws LogError LOG_IO */
export function withRoom<T extends readonly [key: number, bytes: Uint8Array]>(
  directory: string,
  entries: readonly T[],
): readonly T[] {
  const { bavail, bsize } = fs.statfsSync(directory);
  const needed = entries.reduce((sum, [, bytes]) => sum + bytes.length, MORE_BYTES);
  if (bavail * bsize >= needed) return entries;
  throw new LogError('LOG_IO', 'the disk is full: there is no room for a new segment');
}
