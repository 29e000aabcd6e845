// Owns the removal of records from a sealed segment: the same ordinal is written anew as the next
// generation, whole under a temporary name, and given its own name when all of it is flushed. From
// then on it counts, and the old generation is a leftover. It does not decide what may go.

import { setImmediate } from 'node:timers/promises';
import type { LogRecord } from '../core/records.ts';
import { checksumOf, decodeRecord } from './codec.ts';
import { DroppedRanges } from './dropped-ranges.ts';
import { Environment } from './lmdb-env.ts';
import { LogCorrupt, LogError } from './log.ts';
import type { Segment } from './segment-chain.ts';
import { createWhole, segmentPath } from './segment-files.ts';
import { encodeMark, HEADER_KEY, type Header, type Seal, Tally } from './segment-marks.ts';
import type { Entry } from './segment-scan.ts';
import type { Segments } from './segments.ts';

/** The event loop gets a turn after so many records. */
const TURN_RECORDS = 1_000;

export interface Rewritten {
  readonly removed: number;
  readonly dropped: Header['dropped'];
  readonly seal: Seal;
}

/** @returns what the new generation is, or undefined when every record is kept: nothing is made. */
export async function rewriteSegment(
  segments: Segments,
  segment: Segment,
  keep: (record: LogRecord) => boolean,
): Promise<Rewritten | undefined> {
  const { ordinal, generation, seal } = segment;
  if (seal === undefined) throw new LogError('LOG_IO', `segment ${ordinal} is not sealed`);
  const dropped = new DroppedRanges(segment.dropped);
  const tally = new Tally();
  const removed = await sift(segments, segment, keep, dropped, tally);
  if (removed === 0) return undefined;
  const header: Header = {
    kind: 'header',
    ordinal,
    generation: generation + 1,
    dropped: dropped.ranges,
  };
  const after: Seal = { ...seal, count: tally.count, hash: tally.hash };
  const target = segmentPath(segments.logDir, ordinal, generation + 1);
  const made = await createWhole(target, (directory) =>
    Environment.create(directory, entries(segments, segment, header, after, dropped)),
  );
  if (!made) throw new LogError('LOG_IO', `${target} exists already`);
  return { removed, dropped: dropped.ranges, seal: after };
}

/** Reads all of the segment; what goes is added to `dropped`, what stays to `tally`. */
async function sift(
  segments: Segments,
  segment: Segment,
  keep: (record: LogRecord) => boolean,
  dropped: DroppedRanges,
  tally: Tally,
): Promise<number> {
  const whole = new Tally();
  let removed = 0;
  for (const [key, bytes] of segments.entries(segment, segment.first, segment.last)) {
    if (dropped.has(key)) continue; // The mark of skipped numbers.
    whole.add(checksumOf(bytes));
    if (keep(decodeRecord(key, bytes))) {
      tally.add(checksumOf(bytes));
    } else {
      dropped.add(key, key);
      removed += 1;
    }
    if (whole.count % TURN_RECORDS === 0) await setImmediate();
  }
  if (segment.seal !== undefined && !whole.equals(segment.seal)) {
    throw new LogCorrupt(segment.last, `segment ${segment.ordinal} is not what its seal says`);
  }
  return removed;
}

function* entries(
  segments: Segments,
  segment: Segment,
  header: Header,
  seal: Seal,
  dropped: DroppedRanges,
): Generator<Entry> {
  yield [HEADER_KEY, encodeMark(HEADER_KEY, header)];
  for (const entry of segments.entries(segment, segment.first, segment.last)) {
    if (!dropped.has(entry[0])) yield entry;
  }
  yield [segment.last + 1, encodeMark(segment.last + 1, seal)];
}
