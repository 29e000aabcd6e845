// Owns the reading of one segment in batches: each record under the number that is expected next,
// or the error that names it. Nothing stays open between batches, so a caller may take its time.

import type { LogRecord } from '../../model/records.ts';
import { checksumOf, decodeRecord } from '../codec.ts';
import type { Entry } from '../lmdb/env.ts';
import { LogCorrupt } from '../log.ts';
import type { Segment } from './chain.ts';
import type { DroppedRanges } from './dropped-ranges.ts';
import { decodeMark } from './marks.ts';
import type { SegmentName } from './segment-files.ts';
import type { SegmentReader } from './segment-reader.ts';

const BATCH_RECORDS = 1_024;
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Visits up to a batch of the records from..to, each with its checksum as stored.
 * @returns the number to go on with.
 * @throws LogCorrupt naming the first record that is damaged, or missing and not dropped.
 */
export function scanRecords(
  files: SegmentReader,
  dropped: DroppedRanges,
  segment: SegmentName,
  [from, to]: readonly [from: number, to: number],
  visit: (record: LogRecord, sum: number) => void,
): number {
  let next = dropped.present(from);
  let records = 0;
  let size = 0;
  const full = (): boolean => records >= BATCH_RECORDS || size >= BATCH_BYTES;
  files.read(
    segment,
    () => next,
    (file) => {
      file.scan(next, to, (key, bytes, start, end) => {
        if (key !== next) {
          if (dropped.has(key)) return true; // What stands there marks numbers as skipped.
          throw missing(next);
        }
        visit(decodeRecord(key, bytes, start, end), checksumOf(bytes, start));
        next = dropped.present(key + 1);
        records += 1;
        size += end - start;
        return !full();
      });
      if (!full() && next <= to) throw missing(next);
    },
  );
  return next;
}

/** @returns how many numbers right before this one the segment marks as skipped. */
export function skippedBefore(
  files: SegmentReader,
  dropped: DroppedRanges,
  segment: Segment,
  seq: number,
): number {
  // Among dropped numbers nothing stands but marks.
  const from = Math.max(segment.first, dropped.presentBefore(seq - 1) + 1);
  let skipped = 0;
  files.read(
    segment,
    () => seq,
    (file) => {
      file.scan(from, seq - 1, (key, bytes, start, end) => {
        const mark = decodeMark(key, bytes, start, end);
        if (mark.kind === 'skip' && mark.to === seq - 1) skipped = seq - key;
        return true;
      });
    },
  );
  return skipped;
}

/** Entries as they are stored, marks too; a copy of each. */
export function* copyEntries(
  files: SegmentReader,
  segment: SegmentName,
  from: number,
  to: number,
): Generator<Entry> {
  for (let next = from; ; ) {
    const batch = copyBatch(files, segment, next, to);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield* batch;
    next = last[0] + 1;
  }
}

/** The entries of a segment that is being made, as long as it is wanted. @throws the reason. */
export function* unlessAborted(entries: Iterable<Entry>, signal?: AbortSignal): Generator<Entry> {
  for (const entry of entries) {
    signal?.throwIfAborted();
    yield entry;
  }
}

function copyBatch(files: SegmentReader, segment: SegmentName, from: number, to: number): Entry[] {
  const batch: Entry[] = [];
  let next = from;
  let size = 0;
  files.read(
    segment,
    () => next,
    (file) => {
      file.scan(next, to, (key, bytes, start, end) => {
        batch.push([key, Uint8Array.prototype.slice.call(bytes, start, end)]);
        next = key + 1;
        size += end - start;
        return batch.length < BATCH_RECORDS && size < BATCH_BYTES;
      });
    },
  );
  return batch;
}

const missing = (seq: number): LogCorrupt => new LogCorrupt(seq, 'it is missing');
