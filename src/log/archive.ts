// Owns the archive: a log beside the log, with every record up to the newest segment that removal
// has looked at, as it was before any removal. Every offline tool can read it. It only grows, one
// segment at a time. A segment gets its name when it is whole and flushed, and its successor
// exists before that, so the archive can be read after any crash.

import fs from 'node:fs';
import path from 'node:path';
import type { LogRecord } from '../model/records.ts';
import { checksumOf, encodeRecord } from './codec.ts';
import type { Entry } from './lmdb/env.ts';
import { Environment } from './lmdb/env.ts';
import { createSegment } from './lmdb-writer.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import { type Archive, LogError, type LogReader, type SealedSegment } from './log.ts';
import { isContinued } from './same-log.ts';
import { clipped } from './segments/dropped-ranges.ts';
import { encodeMark, HEADER_KEY, type Header, type Seal, Tally } from './segments/marks.ts';
import { unlessAborted } from './segments/scan.ts';
import {
  ARCHIVE_NOTE,
  createWhole,
  isArchive,
  listSegments,
  prepareDirectory,
  removeLeftovers,
  removeSegment,
  segmentPath,
  syncPath,
} from './segments/segment-files.ts';
import { Segments } from './segments/segments.ts';

/** The log that an archive follows. */
export interface ArchivedLog extends LogReader {
  /** How far it went when something was last removed from between these; 0 or absent: never. */
  removedAt?(from: number, to: number): number;
}

/**
 * Makes the archive where there is none.
 * @param isRestored the log is a copy, and will leave a gap in the numbers
 * @throws LogError LOG_ARCHIVE when what is there is no archive of this log, or cannot follow on
 *   what it holds; LOG_DIRECTORY, LOG_LOCKED, LOG_IO; LogCorrupt.
 */
export async function openArchive(
  directory: string,
  log: ArchivedLog,
  { isRestored = false } = {},
): Promise<LmdbArchive> {
  const { dataDir, logDir } = await prepareDirectory(
    directory,
    'choose another directory with --archive-dir',
  );
  if (!isArchive(dataDir)) {
    if (listSegments(logDir).length > 0) throw refused(dataDir, 'it holds a log of its own');
    fs.writeFileSync(path.join(dataDir, ARCHIVE_NOTE), NOTE, { mode: 0o600, flush: true });
    await syncPath(dataDir);
  }
  const lock = await lockDirectory(dataDir);
  try {
    if (listSegments(logDir).length === 0) await createSegment(logDir, 1);
    const segments = new Segments(logDir);
    assertFollows(dataDir, segments, log, isRestored);
    removeLeftovers(logDir, segments.counting);
    return new LmdbArchive(segments, log, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

const NOTE =
  'An archive of leasehold: history as it was before its removal from the log. Read it with\n' +
  'leasehold explain, log, state and verify --data-dir DIR; to start on it, copy it with backup.\n';

export class LmdbArchive implements Archive {
  private readonly segments: Segments;
  private readonly log: ArchivedLog;
  private readonly lock: DirectoryLock;

  constructor(segments: Segments, log: ArchivedLog, lock: DirectoryLock) {
    this.segments = segments;
    this.log = log;
    this.lock = lock;
  }

  async keep({ last }: SealedSegment, signal?: AbortSignal): Promise<void> {
    const { logDir, lastNumber, live } = this.segments;
    const from = lastNumber + 1;
    if (last < from) return;
    await createSegment(logDir, live.ordinal + 1);
    // The live segment is empty and stands for the end of the archive. The next records go into
    // it.
    const name = { ordinal: live.ordinal, generation: live.generation + 1 };
    const dropped = clipped(this.log.dropped.ranges, from, last);
    const removedAt = this.log.removedAt?.(from, last) ?? 0;
    const header: Header = { kind: 'header', ...name, dropped, removedAt };
    const target = segmentPath(logDir, name.ordinal, name.generation);
    const rows = unlessAborted(entriesOf(header, this.log, from, last), signal);
    const made = await createWhole(target, (made) => Environment.create(made, rows));
    if (!made) throw refused(path.dirname(logDir), 'somebody else writes to it');
    this.segments.load();
    removeSegment(live);
  }

  async close(): Promise<void> {
    this.segments.close();
    await this.lock.release();
  }
}

function* entriesOf(header: Header, log: LogReader, from: number, last: number): Generator<Entry> {
  const tally = new Tally();
  yield [HEADER_KEY, encodeMark(HEADER_KEY, header)];
  for (const record of log.read(from, last)) {
    const free = record.seq - skippedBefore(log, record);
    if (free < record.seq) yield [free, encodeMark(free, { kind: 'skip', to: record.seq - 1 })];
    const bytes = encodeRecord(record);
    tally.add(checksumOf(bytes));
    yield [record.seq, bytes];
  }
  const { count, hash } = tally;
  const seal: Seal = { kind: 'seal', count, hash, successor: header.ordinal + 1 };
  yield [last + 1, encodeMark(last + 1, seal)];
}

/** Only the first start of a restored log stands after skipped numbers. */
const skippedBefore = (log: LogReader, { seq, type }: LogRecord): number =>
  type === 'CoordinatorStarted' ? log.skippedBefore(seq) : 0;

/**
 * Another log's records, or a gap in this log's, would make an archive of a history that never
 * was.
 */
function assertFollows(
  directory: string,
  archived: Segments,
  log: LogReader,
  isRestored: boolean,
): void {
  const { lastNumber: last, live } = archived;
  if (last === 0) return;
  if (live.last >= live.first) throw refused(directory, 'something else wrote to it');
  if (isRestored) throw refused(directory, 'it holds the history of the log before its restore');
  const lost = log.dropped.ranges.at(-1)?.[1] ?? 0;
  if (lost > last) {
    const what = `it ends at record ${last}, and the log lacks records up to ${lost}: they were`;
    throw refused(directory, `${what} removed without it, or skipped by a restored log`);
  }
  if (!isContinued(archived, log)) {
    throw refused(directory, 'it holds the history of another log');
  }
}

const refused = (directory: string, why: string): LogError =>
  new LogError(
    'LOG_ARCHIVE',
    `cannot archive to ${directory}: ${why}; give --archive-dir a new directory`,
  );
