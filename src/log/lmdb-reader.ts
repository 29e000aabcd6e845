// Owns the reading of a log on the device beside its writer, in another thread or process. It takes
// no lock, maps nothing, writes nothing, and follows the writer into new and rewritten segments.

import fs from 'node:fs';
import path from 'node:path';
import { errnoText } from '../model/errno-text.ts';
import type { LogRecord } from '../model/records.ts';
import { type DroppedSet, type LogBytes, LogError, type LogReader, NO_LOG } from './log.ts';
import { listSegments } from './segments/segment-files.ts';
import { Segments } from './segments/segments.ts';

/** Rewritten segments vanish under a reader; this often in a row it looks for the new ones. */
const TRIES = 5;

/** A log as it stands in a directory. */
export interface DirectoryReader extends LogReader {
  /** The number up to which the log went when history was last removed from it; 0: never. */
  readonly removedAt: number;
}

/**
 * @param durable the newest number known to be durable, where someone knows. Without it the reader
 * flushes what it found before showing it: the writer may not have flushed it yet.
 * @throws LogError LOG_DIRECTORY when there is no log, LOG_IO; LogCorrupt.
 */
export async function openLmdbReader(
  dataDir: string,
  durable?: () => number,
): Promise<DirectoryReader> {
  return new LmdbReader(logDirOf(dataDir), durable);
}

/**
 * Where the log of this data directory is.
 * @throws LogError LOG_DIRECTORY when there is none, or when this user may not look.
 */
export function logDirOf(dataDir: string): string {
  const logDir = path.join(dataDir, 'log');
  // A crash, or a start that is under way, may leave a directory with a half-made segment in it.
  if (holdsSegments(logDir)) return logDir;
  throw new LogError('LOG_DIRECTORY', `${NO_LOG} in ${path.resolve(dataDir)}`);
}

/**
 * A directory that cannot be read may hold a log: only a path that does not exist counts as none.
 */
function holdsSegments(logDir: string): boolean {
  try {
    return fs.statSync(logDir).isDirectory() && listSegments(logDir).length > 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    const where = path.resolve(logDir);
    const asWhom = code === 'EACCES' ? '; read it as the user that the coordinator runs as' : '';
    const message = `cannot read the log in ${where}: ${errnoText(error)}${asWhom}`;
    throw new LogError('LOG_DIRECTORY', message, { cause: error });
  }
}

/**
 * The chain as it stands, also while a writer replaces parts of it.
 * @param until what comes after this number need not be whole
 * @param openMax so many segments can be read also when a writer has replaced them
 * @throws LogCorrupt, LogError
 */
export const openSegments = (logDir: string, until?: number, openMax?: number): Segments =>
  unlessReplaced(logDir, () => new Segments(logDir, until, openMax));

/** An error while segments are replaced is tried again on the new ones; any other error stands. */
function unlessReplaced<T>(logDir: string, act: () => T): T {
  for (;;) {
    const before = fs.readdirSync(logDir).join();
    try {
      return act();
    } catch (error) {
      if (fs.readdirSync(logDir).join() === before) throw error;
    }
  }
}

class LmdbReader implements DirectoryReader {
  private readonly segments: Segments;
  private readonly durable: (() => number) | undefined;

  constructor(logDir: string, durable: (() => number) | undefined) {
    this.durable = durable;
    this.segments = openSegments(logDir);
    if (durable === undefined) this.segments.flush();
  }

  get lastNumber(): number {
    this.again(() => this.catchUp());
    return this.shown;
  }

  get dropped(): DroppedSet {
    return this.segments.dropped;
  }

  get removedAt(): number {
    return this.again(() => {
      this.catchUp();
      return this.segments.removedAt();
    });
  }

  get(seq: number): LogRecord | undefined {
    return this.again(() => {
      if (seq > this.segments.lastNumber) this.catchUp();
      return seq <= this.shown ? this.segments.get(seq) : undefined;
    });
  }

  skippedBefore(seq: number): number {
    return this.again(() => this.segments.skippedBefore(seq));
  }

  *read(from: number, to = Number.POSITIVE_INFINITY): Generator<LogRecord> {
    let next = from;
    if (to > this.segments.lastNumber) this.again(() => this.catchUp());
    const end = Math.min(to, this.shown);
    for (let left = TRIES; ; left--) {
      try {
        for (const record of this.segments.read(next, end)) {
          next = record.seq + 1;
          left = TRIES;
          yield record;
        }
        return;
      } catch (error) {
        if (left === 0) throw error;
        this.reload();
      }
    }
  }

  bytes(): LogBytes {
    return this.again(() => {
      this.catchUp();
      return { total: this.segments.totalBytes };
    });
  }

  async close(): Promise<void> {
    this.segments.close();
  }

  private get shown(): number {
    return Math.min(this.segments.lastNumber, this.durable?.() ?? Number.POSITIVE_INFINITY);
  }

  private catchUp(): void {
    if (this.segments.follow() && this.durable === undefined) this.segments.flush();
  }

  private reload(): void {
    unlessReplaced(this.segments.logDir, () => this.segments.load());
  }

  /** The writer may have replaced what we were about to read. */
  private again<T>(act: () => T): T {
    for (let left = TRIES; ; left--) {
      try {
        return act();
      } catch (error) {
        if (left === 0) throw error;
        this.reload();
      }
    }
  }
}
