// Owns the answer to whether one log continues another: only then may a backup or an archive be
// continued from it. It compares one record that both logs must have; it does not read them
// through.

import type { LogRecord } from '../model/records.ts';
import { encodeRecord } from './codec.ts';
import type { DroppedSet } from './log.ts';

interface Readable {
  readonly lastNumber: number;
  readonly dropped: DroppedSet;
  get(seq: number): LogRecord | undefined;
}

/**
 * @param newer may have removed more of its history than `older`
 * @throws LogCorrupt
 */
export function isContinued(older: Readable, newer: Readable): boolean {
  const { lastNumber } = older;
  if (newer.lastNumber < lastNumber) return false;
  const gone = newer.dropped.ranges.findLast(
    ([from, to]) => from <= lastNumber && lastNumber <= to,
  );
  // The first record of a log is about no task: it is never removed.
  const common = gone === undefined ? lastNumber : gone[0] - 1;
  const [before, now] = [older.get(common), newer.get(common)];
  if (before === undefined || now === undefined) return false;
  return Buffer.compare(encodeRecord(before), encodeRecord(now)) === 0;
}
