// Owns the copying of a log to another directory while the log may be written to: all of it, or
// the records before the first damage, or only what an earlier copy lacks. The copy holds the same
// bytes under the same numbers. The source is not changed, and the copy can be read after any
// crash.

import fs from 'node:fs';
import path from 'node:path';
import { copyPlan, type Part } from './copy-plan.ts';
import type { Entry } from './lmdb/env.ts';
import { Environment } from './lmdb/env.ts';
import { logDirOf, openSegments } from './lmdb-reader.ts';
import { createSegment } from './lmdb-writer.ts';
import { LogCorrupt, LogError } from './log.ts';
import { isContinued } from './same-log.ts';
import { clipped } from './segments/dropped-ranges.ts';
import { encodeMark, HEADER_KEY, type Header } from './segments/marks.ts';
import {
  createWhole,
  listSegments,
  prepareDirectory,
  removeLeftovers,
  removeSegment,
  segmentPath,
} from './segments/segment-files.ts';
import { Segments } from './segments/segments.ts';

export interface Copied {
  /** All that the copy holds. */
  readonly records: number;
  /** Number of the last record that was copied. */
  readonly last: number;
  /** Numbers of the source after it, where the source's end could be read. */
  readonly leftBehind: number;
  /** What was forgotten up to this record, after the last one, is not in the copy; 0: nothing. */
  readonly goneBy: number;
  readonly segmentsCopied: number;
  /** They were there already and had not changed. */
  readonly segmentsSkipped: number;
}

export interface CopyOptions {
  /** The last record to copy; undefined: the newest. */
  readonly until?: number | undefined;
  readonly onProgress?: (records: number, of: number) => void;
  /** The directory is there and nothing was copied yet. */
  readonly begin?: () => void;
}

/**
 * Every record is read and its checksum verified before it is copied.
 * @param targetDir new, empty, or with an earlier copy that nobody has written to since
 * @throws LogCorrupt naming the first bad record; LogError when there is no log to copy, or the
 *   target is something else
 */
export async function copyLog(
  sourceDir: string,
  targetDir: string,
  options: CopyOptions = {},
): Promise<Copied> {
  const logDir = logDirOf(sourceDir);
  for (;;) {
    const before = fs.readdirSync(logDir).join();
    const source = openSegments(logDir, options.until);
    try {
      return await copyOnce(source, targetDir, options);
    } catch (error) {
      // A rewritten segment vanishes during the copy. Then the copy is tried again, without the
      // segments that it has already.
      if (fs.readdirSync(logDir).join() === before) throw error;
    } finally {
      source.close();
    }
  }
}

async function copyOnce(
  source: Segments,
  targetDir: string,
  { until, onProgress, begin }: CopyOptions,
): Promise<Copied> {
  const newest = source.lastNumber;
  // A copy ends with a record: what starts on it goes on after that one.
  const last = source.dropped.presentBefore(Math.min(until ?? newest, newest));
  const removedAt = source.removedAt(1, last);
  const copied = earlierCopy(targetDir);
  try {
    if (copied !== undefined) assertContinued(targetDir, copied, source, last);
    const plan = copyPlan(source, copied, last);
    let records = plan.recordsKept;
    for (const { segment, end } of plan.parts) {
      for (const _ of source.read(segment.first, end)) {
        records += 1;
        if (records % 8_192 === 0) onProgress?.(records, last);
      }
    }
    const { logDir } = await prepareDirectory(targetDir, 'choose another directory for the copy');
    begin?.();
    if (copied !== undefined) removeOldEnd(copied, plan.parts);
    for (const part of plan.parts) await copyPart(source, part, logDir);
    const target = new Segments(logDir);
    removeLeftovers(logDir, target.counting);
    target.close();
    return {
      records,
      last,
      leftBehind: newest - last,
      goneBy: removedAt > last ? removedAt : 0,
      segmentsCopied: plan.parts.length,
      segmentsSkipped: plan.segmentsKept,
    };
  } finally {
    copied?.close();
  }
}

function earlierCopy(targetDir: string): Segments | undefined {
  const logDir = path.join(targetDir, 'log');
  if (!fs.existsSync(logDir) || listSegments(logDir).length === 0) return undefined;
  try {
    return new Segments(logDir);
  } catch (error) {
    if (!(error instanceof LogCorrupt)) throw error;
    throw refused(targetDir, `is damaged (${error.message})`);
  }
}

function assertContinued(targetDir: string, copied: Segments, source: Segments, last: number) {
  const { lastNumber } = copied;
  if (lastNumber === 0 || (lastNumber <= last && isContinued(copied, source))) return;
  const why =
    lastNumber > last
      ? `goes to record ${lastNumber}, beyond ${last}`
      : 'is that of another log, or was written to';
  throw refused(targetDir, why);
}

const refused = (targetDir: string, why: string): LogError =>
  new LogError('LOG_DIRECTORY', `the copy in ${targetDir} ${why}; choose a new directory`);

/** A sealed segment's successor is made first, empty: so the copy ends well after every step. */
async function copyPart(
  source: Segments,
  { segment, end, isSealed }: Part,
  logDir: string,
): Promise<void> {
  const { ordinal, seal, removedAt } = segment;
  if (isSealed && seal !== undefined) await standIn(logDir, seal.successor);
  const generation = freeGeneration(logDir, segment);
  const dropped = clipped(segment.dropped, segment.first, end);
  const mark: Header = { kind: 'header', ordinal, generation, dropped, removedAt };
  const header = encodeMark(HEADER_KEY, mark);
  const rows = source.entries(segment, HEADER_KEY + 1, isSealed ? segment.last + 1 : end);
  await createWhole(segmentPath(logDir, ordinal, generation), (directory) =>
    Environment.create(directory, withHeader([HEADER_KEY, header], rows)),
  );
}

async function standIn(logDir: string, ordinal: number): Promise<void> {
  if (listSegments(logDir).some((one) => one.ordinal === ordinal)) return;
  await createSegment(logDir, ordinal);
}

/** An end that the source does not have any more; it would be in the way of another. */
function removeOldEnd({ successor }: Segments, parts: readonly Part[]): void {
  const isNamed = parts.some(({ segment }) => segment.seal?.successor === successor?.ordinal);
  if (successor !== undefined && parts.length > 0 && !isNamed) removeSegment(successor);
}

/** The source's own where it is free, else the next: a name, once given, is never given again. */
function freeGeneration(
  logDir: string,
  { ordinal, generation }: { readonly ordinal: number; readonly generation: number },
): number {
  const taken = listSegments(logDir).find((one) => one.ordinal === ordinal);
  return taken === undefined ? generation : Math.max(generation, taken.generation + 1);
}

function* withHeader(header: Entry, rows: Iterable<Entry>): Generator<Entry> {
  yield header;
  yield* rows;
}
