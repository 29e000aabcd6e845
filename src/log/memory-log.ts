// Owns a log that keeps the promise of log.ts in memory, and breaks down on command: an append can
// fail, stall, or be cut off by a crash. The simulator and the tests of the core run on it; nothing
// here outlives the process.

import { invariant } from '../model/assert.ts';
import type { CoordinatorStarted, LogRecord } from '../model/records.ts';
import { AppendLine, assertContiguous } from './append-line.ts';
import { decodeRecord, encodeRecord } from './codec.ts';
import {
  type Appended,
  type AppendResult,
  type DroppedSet,
  type Log,
  type LogBytes,
  LogCorrupt,
  LogError,
  type SealedSegment,
} from './log.ts';
import { MemoryStore } from './memory-store.ts';

/**
 * What becomes of a commit: 'durable'; 'failed', nothing written; 'lost answer', told as failed
 * although everything was written; 'stalled', neither until `settle`, `reopen` or `close`.
 */
export type Outcome = 'durable' | 'failed' | 'lost answer' | 'stalled';

export interface MemoryLogOptions {
  /** Shared by every writer and reader of the same log; what a crash leaves. */
  readonly store?: MemoryStore;
  /** Commits wait for `settle` instead of taking the next planned outcome at once. */
  readonly manual?: boolean;
  /** How many numbers make a sealed stretch; default 1 000. */
  readonly segmentRecords?: number;
  /** A log that other machines write to as well: its writer can be confirmed. Default false. */
  readonly isShared?: boolean;
}

interface Pending {
  /** @returns false when the store refuses. */
  readonly act: () => boolean;
  readonly resolve: (result: AppendResult) => void;
}

export class MemoryLog implements Log {
  readonly store: MemoryStore;
  lastNumber: number;
  private readonly manual: boolean;
  readonly segmentRecords: number;
  private readonly line = new AppendLine();
  private readonly planned: Outcome[] = [];
  private inFlight: Pending | undefined;
  readonly confirm?: () => Promise<AppendResult>;

  constructor(options: MemoryLogOptions = {}) {
    this.store = options.store ?? new MemoryStore();
    this.manual = options.manual ?? false;
    this.segmentRecords = options.segmentRecords ?? 1_000;
    this.lastNumber = this.store.last;
    if (options.isShared === true) {
      const isOurs = (): boolean => this.store.last === this.lastNumber;
      this.confirm = () => this.line.confirm(() => this.asked(isOurs));
    }
  }

  get dropped(): DroppedSet {
    return this.store.dropped;
  }

  /** How far it went when something was last removed from between these; 0: never. */
  removedAt(from = 1, to = this.lastNumber): number {
    let last = 0;
    for (const [seq, at] of this.store.removals) {
      if (from <= seq && seq <= to) last = Math.max(last, at);
    }
    return last;
  }

  /** The outcomes of the next commits, one each; after them all are durable. */
  plan(...outcomes: Outcome[]): void {
    this.planned.push(...outcomes);
  }

  /** Whether a commit or a confirmation waits to be settled. */
  get pending(): boolean {
    return this.inFlight !== undefined;
  }

  /** Settles what is in flight. What the store refuses is fenced whatever is asked. */
  settle(outcome: Exclude<Outcome, 'stalled'> = 'durable'): void {
    const commit = this.inFlight;
    invariant(commit !== undefined, 'no commit is in flight');
    this.inFlight = undefined;
    if (outcome === 'failed') return commit.resolve('failed');
    if (!commit.act()) return commit.resolve('fenced');
    if (outcome === 'lost answer') return commit.resolve('failed');
    this.lastNumber = this.store.last;
    commit.resolve('durable');
  }

  async start(record: CoordinatorStarted): Promise<AppendResult> {
    return this.line.run(() => this.commit([record], this.lastNumber + 1));
  }

  append(records: readonly LogRecord[]): Appended {
    const first = assertContiguous(records);
    return this.line.run(() => this.commit(records, first));
  }

  async reopen(): Promise<void> {
    this.abandon();
    await this.line.idle();
    if (this.line.fenced) throw new LogError('LOG_FENCED', 'another writer has the log');
    this.line.reopened();
    this.lastNumber = this.store.last;
  }

  get(seq: number): LogRecord | undefined {
    if (seq < 1 || seq > this.lastNumber || this.dropped.has(seq)) return undefined;
    const bytes = this.store.entries.get(seq);
    if (bytes === undefined) throw new LogCorrupt(seq, 'it is missing');
    return decodeRecord(seq, bytes);
  }

  skippedBefore(seq: number): number {
    return this.store.skips.get(seq) ?? 0;
  }

  *read(from: number, to = this.lastNumber): Iterable<LogRecord> {
    const end = Math.min(to, this.lastNumber);
    for (let seq = Math.max(1, from); seq <= end; seq++) {
      const record = this.get(seq);
      if (record !== undefined) yield record;
      else seq = this.store.dropped.endOfRange(seq);
    }
  }

  bytes(): LogBytes {
    return { total: this.store.bytes };
  }

  sealed(): readonly SealedSegment[] {
    const sealed: SealedSegment[] = [];
    for (let first = 1; first + this.segmentRecords <= this.lastNumber; ) {
      const last = first + this.segmentRecords - 1;
      sealed.push({ first, last });
      first = last + 1;
    }
    return sealed;
  }

  async rewrite(
    { first, last }: SealedSegment,
    keep: (record: LogRecord) => boolean,
  ): Promise<number> {
    const removed: number[] = [];
    const { dropped } = this.store;
    for (let seq = dropped.present(first); seq <= last; seq = dropped.present(seq + 1)) {
      const record = this.get(seq);
      if (record !== undefined && !keep(record)) removed.push(seq);
    }
    for (const seq of removed) this.store.drop(seq);
    return removed.length;
  }

  /** Its stretches are numbers only: they have no size. */
  merge(): Promise<SealedSegment | undefined> {
    return Promise.resolve(undefined);
  }

  close(): Promise<void> {
    this.abandon();
    return Promise.resolve();
  }

  private abandon(): void {
    const commit = this.inFlight;
    this.inFlight = undefined;
    commit?.resolve('failed');
  }

  private commit(records: readonly LogRecord[], skippedFrom: number): Promise<AppendResult> {
    const entries = records.map(encodeRecord);
    const first = records[0]?.seq ?? 0;
    return this.asked(() => this.store.commit(first, skippedFrom, entries));
  }

  /** Puts a question to the store, which is settled by the next planned outcome or by command. */
  private asked(act: () => boolean): Promise<AppendResult> {
    return new Promise((resolve) => {
      this.inFlight = { act, resolve };
      if (this.manual) return;
      const outcome = this.planned.shift() ?? 'durable';
      if (outcome !== 'stalled') this.settle(outcome);
    });
  }
}
