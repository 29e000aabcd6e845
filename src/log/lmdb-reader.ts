// Owns the reading of a log on the device beside its writer, in another thread or process. It takes
// no lock, writes nothing, and follows the writer into new segments and rewritten ones.

import fs from 'node:fs';
import path from 'node:path';
import type { LogRecord } from '../core/records.ts';
import { type DroppedSet, type LogBytes, LogCorrupt, LogError, type LogReader } from './log.ts';
import { isMark } from './segment-marks.ts';
import { Segments } from './segments.ts';

/** @throws LogError LOG_DIRECTORY when there is no log, LOG_IO; LogCorrupt. */
export async function openLmdbReader(dataDir: string): Promise<LogReader> {
  const logDir = path.join(dataDir, 'log');
  if (!fs.existsSync(logDir)) throw new LogError('LOG_DIRECTORY', `there is no log in ${dataDir}`);
  try {
    return new LmdbReader(new Segments(logDir, 'read'));
  } catch (error) {
    if (error instanceof LogError || error instanceof LogCorrupt) throw error;
    throw new LogError('LOG_IO', `cannot read the log in ${dataDir}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

class LmdbReader implements LogReader {
  private readonly segments: Segments;

  constructor(segments: Segments) {
    this.segments = segments;
  }

  get lastNumber(): number {
    return this.again(() => {
      this.catchUp();
      return this.segments.lastNumber;
    });
  }

  get dropped(): DroppedSet {
    return this.segments.dropped;
  }

  get(seq: number): LogRecord | undefined {
    return this.again(() => {
      if (seq > this.segments.lastNumber) this.catchUp();
      return this.segments.get(seq);
    });
  }

  *read(from: number, to = this.lastNumber): Generator<LogRecord> {
    let next = from;
    for (let tries = 0; ; tries += 1) {
      try {
        if (to > this.segments.lastNumber) this.catchUp();
        for (const record of this.segments.read(next, to)) {
          next = record.seq + 1;
          yield record;
        }
        return;
      } catch (error) {
        // A segment may have been rewritten under another name meanwhile: look anew, once in a row.
        if (tries > 0) throw error;
        this.segments.load();
      }
    }
  }

  bytes(): LogBytes {
    return this.again(() => {
      this.catchUp();
      return { total: this.segments.totalBytes, forgotten: 0 };
    });
  }

  async close(): Promise<void> {
    this.segments.release();
  }

  /** Sees what was committed meanwhile; a seal at the end leads into the next segment. */
  private catchUp(): void {
    const { live } = this.segments;
    const environment = this.segments.of(live);
    const last = environment.lastKey;
    if (last <= live.last) return;
    // A mark after what is known leads on: to the next segment, or over skipped numbers.
    const marked = [live.last + 1, last].some((key) => {
      const bytes = environment.peek(key);
      return bytes === undefined || isMark(bytes, bytes.length);
    });
    if (marked) this.segments.load();
    else live.last = last;
  }

  private again<T>(act: () => T): T {
    try {
      return act();
    } catch {
      this.segments.load();
      return act();
    }
  }
}
