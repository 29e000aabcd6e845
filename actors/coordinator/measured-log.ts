// Owns the stopwatch around the log: how long a commit takes and how many records it holds. It
// passes everything on unchanged.

import type { AppendResult, DroppedSet, Log, LogBytes, SealedSegment } from '../../src/log/log.ts';
import { Histogram, type HistogramData, SECONDS, SIZES } from '../../src/metrics/histogram.ts';
import type { CoordinatorStarted, LogRecord } from '../../src/model/records.ts';

export class MeasuredLog implements Log {
  private readonly log: Log;
  private readonly monotonicMs: () => number;
  private readonly seconds = new Histogram(SECONDS);
  private readonly records = new Histogram(SIZES);

  constructor(log: Log, monotonicMs: () => number) {
    this.log = log;
    this.monotonicMs = monotonicMs;
  }

  figures(): { readonly commit_seconds: HistogramData; readonly commit_records: HistogramData } {
    return { commit_seconds: this.seconds.data(), commit_records: this.records.data() };
  }

  async append(records: readonly LogRecord[]): Promise<AppendResult> {
    const began = this.monotonicMs();
    const result = await this.log.append(records);
    this.seconds.observe((this.monotonicMs() - began) / 1_000);
    this.records.observe(records.length);
    return result;
  }

  get lastNumber(): number {
    return this.log.lastNumber;
  }

  get dropped(): DroppedSet {
    return this.log.dropped;
  }

  get(seq: number): LogRecord | undefined {
    return this.log.get(seq);
  }

  read(from: number, to?: number): Iterable<LogRecord> {
    return this.log.read(from, to);
  }

  bytes(): LogBytes {
    return this.log.bytes();
  }

  sealed(): readonly SealedSegment[] {
    return this.log.sealed();
  }

  rewrite(...given: Parameters<Log['rewrite']>): Promise<number> {
    return this.log.rewrite(...given);
  }

  merge(signal?: AbortSignal): Promise<SealedSegment | undefined> {
    return this.log.merge(signal);
  }

  start(record: CoordinatorStarted): Promise<AppendResult> {
    return this.log.start(record);
  }

  reopen(): Promise<void> {
    return this.log.reopen();
  }

  close(): Promise<void> {
    return this.log.close();
  }
}
