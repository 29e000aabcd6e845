// Owns a log in an array for tests of what reads: numbers may be missing where a test declares it.

import type { DroppedSet, LogReader } from '../../src/log/log.ts';
import type { LogRecord } from '../../src/model/records.ts';

export class ArrayLog implements LogReader {
  readonly records: (LogRecord | undefined)[] = [];
  /** Calls of get, for tests of what a read costs. */
  gets = 0;
  reads = 0;

  get lastNumber(): number {
    return this.records.length;
  }

  readonly dropped: DroppedSet = {
    has: (seq) => this.records[seq - 1] === undefined,
    endOfRange: (seq) => (this.records[seq - 1] === undefined ? seq : 0),
    ranges: [],
  };

  add(record: LogRecord): void {
    record.seq = this.records.length + 1;
    this.records.push(record);
  }

  get(seq: number): LogRecord | undefined {
    this.gets += 1;
    return this.records[seq - 1];
  }

  skippedBefore(): number {
    return 0;
  }

  *read(from: number, to = this.lastNumber): Generator<LogRecord> {
    for (let seq = from; seq <= to; seq += 1) {
      const record = this.records[seq - 1];
      this.reads += 1;
      if (record !== undefined) yield record;
    }
  }

  bytes(): { total: number } {
    return { total: 0 };
  }

  async close(): Promise<void> {}
}
