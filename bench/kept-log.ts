// Owns a log without a device, for measuring what stands before it: it keeps the records themselves
// and has every group durable at once.

import type { AppendResult, Log } from '../src/log/log.ts';
import type { LogRecord } from '../src/model/records.ts';

const NOTHING_DROPPED = { has: () => false, endOfRange: () => 0, ranges: [] };

export class KeptLog implements Log {
  readonly dropped = NOTHING_DROPPED;
  private readonly records: LogRecord[] = [];

  get lastNumber(): number {
    return this.records.length;
  }

  get(seq: number): LogRecord | undefined {
    return this.records[seq - 1];
  }

  *read(from: number, to = this.records.length): Iterable<LogRecord> {
    for (let seq = from; seq <= to; seq += 1) yield this.records[seq - 1] as LogRecord;
  }

  start(record: LogRecord): Promise<AppendResult> {
    return this.append([record]);
  }

  append(records: readonly LogRecord[]): Promise<AppendResult> {
    for (const record of records) this.records.push(record);
    return Promise.resolve('durable');
  }

  skippedBefore = () => 0;
  bytes = () => ({ total: 0 });
  sealed = () => [];
  rewrite = () => Promise.resolve(0);
  merge = () => Promise.resolve(undefined);
  reopen = () => Promise.resolve();
  close = () => Promise.resolve();
}
