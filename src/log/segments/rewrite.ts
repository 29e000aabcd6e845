// Owns the making of one segment out of sealed neighbours, without the records that may go. The
// first neighbour's ordinal is written anew as its next generation, under a temporary name. It
// gets its own name when all of it is flushed. From then on it counts, and its sources are
// leftovers. The callers decide: loop/removal.ts which segments are rewritten or merged and which
// records may go, core/forgetting.ts which tasks are forgotten, loop/retention.ts when.

import { setImmediate } from 'node:timers/promises';
import type { LogRecord } from '../../model/records.ts';
import { checksumOf, decodeRecord } from '../codec.ts';
import type { Entry } from '../lmdb/env.ts';
import { Environment } from '../lmdb/env.ts';
import { LogCorrupt, LogError } from '../log.ts';
import type { Segment } from './chain.ts';
import { DroppedRanges } from './dropped-ranges.ts';
import { encodeMark, HEADER_KEY, type Header, isMark, type Seal, Tally } from './marks.ts';
import { unlessAborted } from './scan.ts';
import { createWhole, segmentPath } from './segment-files.ts';
import type { Segments } from './segments.ts';

/** The event loop gets a turn after so many records. */
const TURN_RECORDS = 1_000;

export interface Rewritten {
  readonly removed: number;
  readonly segment: Segment;
}

/**
 * @param members one, or neighbours of which the first one's new generation takes the place
 * @returns what that is, or undefined when it would be what the only one is: nothing is made.
 */
export async function rewriteSegments(
  segments: Segments,
  members: readonly Segment[],
  keep: (record: LogRecord) => boolean,
  signal?: AbortSignal,
): Promise<Rewritten | undefined> {
  const [first, end] = [members[0], members.at(-1)];
  if (first === undefined || end?.seal === undefined) {
    throw new LogError('LOG_IO', `segment ${end?.ordinal} is not sealed`);
  }
  const dropped = new DroppedRanges();
  for (const member of members) dropped.addAll(member.dropped);
  const tally = new Tally();
  let removed = 0;
  const isKept = (record: LogRecord): boolean => {
    signal?.throwIfAborted();
    return keep(record);
  };
  for (const member of members) removed += await sift(segments, member, isKept, dropped, tally);
  if (removed === 0 && members.length === 1) return undefined;
  const name = { ordinal: first.ordinal, generation: first.generation + 1 };
  const before = Math.max(...members.map(({ removedAt }) => removedAt));
  const removedAt = removed > 0 ? segments.lastNumber : before;
  const header: Header = { kind: 'header', ...name, dropped: dropped.ranges, removedAt };
  const seal: Seal = { ...end.seal, count: tally.count, hash: tally.hash };
  const target = segmentPath(segments.logDir, name.ordinal, name.generation);
  const rows = unlessAborted(entries(segments, members, header, seal, dropped), signal);
  const made = await createWhole(target, (directory) => Environment.create(directory, rows));
  if (!made) throw new LogError('LOG_IO', `${target} exists already`);
  return {
    removed,
    segment: {
      ...name,
      path: target,
      first: first.first,
      last: end.last,
      dropped: dropped.ranges,
      removedAt,
      seal,
    },
  };
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
  members: readonly Segment[],
  header: Header,
  seal: Seal,
  dropped: DroppedRanges,
): Generator<Entry> {
  yield [HEADER_KEY, encodeMark(HEADER_KEY, header)];
  let end = 0;
  for (const member of members) {
    for (const entry of segments.entries(member, member.first, member.last)) {
      // The mark of skipped numbers stays: it alone tells them from history that was removed.
      if (!dropped.has(entry[0]) || isMark(entry[1])) yield entry;
    }
    end = member.last + 1;
  }
  yield [end, encodeMark(end, seal)];
}
