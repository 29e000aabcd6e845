// Owns the reading of a log for a copy elsewhere, beside its writer. The log as it stands at the
// beginning is what goes out; whoever receives it verifies every record.

import { copyPlan, type Part } from './copy-plan.ts';
import { type Begin, encodeFrame, FORMAT } from './copy-wire.ts';
import type { Entry } from './lmdb/env.ts';
import { logDirOf, openSegments } from './lmdb-reader.ts';
import { clipped } from './segments/dropped-ranges.ts';
import { HEADER_KEY } from './segments/marks.ts';
import type { Segments } from './segments/segments.ts';

/** So much is read at a time. */
const CHUNK_BYTES = 512 * 1024;
/**
 * Removal may replace segments faster than a receiver takes them, again and again. So the files of
 * a log of up to 256 GiB (with segments as large as they are by default) stay open from the
 * beginning until they were sent.
 */
const OPEN_MAX = 1_024;

/**
 * @param of the cluster whose log this is
 * @param begun told the last record that will come
 * @throws LogError, LogCorrupt; of a log in more files, also when a segment was replaced meanwhile
 */
export function* sentLog(
  dataDir: string,
  of?: Begin['cluster'],
  begun: (last: number) => void = () => {},
): Generator<Buffer> {
  const source = openSegments(logDirOf(dataDir), undefined, OPEN_MAX);
  try {
    // The writer may not have flushed yet what stands in the file.
    source.flush();
    const newest = source.lastNumber;
    const last = source.dropped.presentBefore(newest);
    const removedAt = source.removedAt(1, last);
    begun(last);
    const cluster = of === undefined ? {} : { cluster: of };
    yield encodeFrame({ kind: 'begin', begin: { format: FORMAT, last, ...cluster } });
    for (const part of copyPlan(source, undefined, last).parts) yield* sentPart(source, part);
    const goneBy = removedAt > last ? removedAt : 0;
    yield encodeFrame({ kind: 'end', end: { leftBehind: newest - last, goneBy } });
  } finally {
    source.close();
  }
}

function* sentPart(source: Segments, { segment, end, isSealed }: Part): Generator<Buffer> {
  const { ordinal, generation, first, removedAt } = segment;
  const dropped = clipped(segment.dropped, first, end);
  yield encodeFrame({ kind: 'part', part: { ordinal, generation, dropped, removedAt } });
  let rows: Entry[] = [];
  let bytes = 0;
  // The seal stands at the number after the last record.
  for (const row of source.entries(segment, HEADER_KEY + 1, isSealed ? segment.last + 1 : end)) {
    rows.push(row);
    bytes += row[1].length;
    if (bytes < CHUNK_BYTES) continue;
    yield encodeFrame({ kind: 'rows', rows });
    rows = [];
    bytes = 0;
  }
  source.leave(segment);
  if (rows.length > 0) yield encodeFrame({ kind: 'rows', rows });
}
