// Owns the model's memory: what the records so far say of every task, and the way back to an
// earlier record when a log refuses those after it. It decides nothing.

import type { LogRecord, TaskCreated, Totals } from '../../../src/core/records.ts';
import {
  afterFailure,
  heldLease,
  isOver,
  type ModelLease,
  type ModelTask,
  newestLease,
  withNewestLease,
} from './tasks.ts';

interface Undo {
  readonly seq: number;
  readonly undo: () => void;
}

export class Book {
  readonly waiting = new Map<number, ModelTask>();
  readonly leased = new Map<number, ModelTask>();
  readonly over = new Map<number, ModelTask>();
  readonly requestIds = new Map<string, number>();
  lastSeq = 0;
  lastAt = 0;
  epoch = 0;
  totals: Totals = {
    leaseExpirations: 0,
    duplicateExecutions: 0,
    lateReports: 0,
    retries: 0,
    starts: 0,
  };
  completedThrough = 0;
  failedThrough = 0;
  /** No lease runs out before. */
  soonestExpiry = Number.POSITIVE_INFINITY;
  private journal: Undo[] = [];

  find(id: number): ModelTask | undefined {
    return this.leased.get(id) ?? this.waiting.get(id) ?? this.over.get(id);
  }

  /** Records up to this one are on the device: there is no way back behind them. */
  settled(seq: number): void {
    let kept = 0;
    while (kept < this.journal.length && (this.journal[kept] as Undo).seq <= seq) kept += 1;
    if (kept > 0) this.journal = this.journal.slice(kept);
  }

  /** Takes back every record after this one. */
  backTo(seq: number): void {
    while (this.journal.length > 0 && (this.journal.at(-1) as Undo).seq > seq) {
      this.journal.pop()?.undo();
    }
  }

  apply(record: LogRecord): void {
    this.remember(record.seq);
    this.lastSeq = record.seq;
    this.lastAt = record.at;
    switch (record.type) {
      case 'TaskCreated':
        return this.create(record);
      case 'CoordinatorStarted':
        this.epoch = record.seq;
        this.totals = { ...this.totals, starts: this.totals.starts + 1 };
        return;
      case 'HistoryForgotten':
        this.completedThrough = record.completedThrough;
        this.failedThrough = record.failedThrough;
        for (const id of this.forgettable(record.completedThrough, record.failedThrough)) {
          this.change(record.seq, id, undefined);
        }
        return;
      default: {
        const task = this.find(record.taskId);
        if (task === undefined) throw new Error(`the model knows no task ${record.taskId}`);
        this.change(record.seq, task.id, this.after(task, record));
      }
    }
  }

  /** Ended tasks up to these records, but those whose origin stays (R32). */
  forgettable(completedThrough: number, failedThrough: number): Set<number> {
    const gone = new Set<number>();
    for (let before = -1; before !== gone.size; ) {
      before = gone.size;
      for (const task of this.over.values()) {
        if (gone.has(task.id)) continue;
        const through = task.state === 'COMPLETED' ? completedThrough : failedThrough;
        if (task.endRecord > through) continue;
        const { origin } = task;
        if (origin !== undefined && !gone.has(origin) && this.find(origin) !== undefined) continue;
        gone.add(task.id);
      }
    }
    return gone;
  }

  private create(record: TaskCreated): void {
    this.change(record.seq, record.seq, {
      id: record.seq,
      queue: record.queue,
      payload: record.payload,
      windowMs: record.executionWindowMs,
      policy: record.retryPolicy,
      requestId: record.requestId,
      contentHash: record.contentHash,
      metadata: record.metadata,
      createdAt: record.at,
      origin: record.originTaskId,
      state: 'WAITING',
      attempt: 0,
      eligibleAt: Math.max(record.at, record.notBefore ?? 0),
      place: record.seq,
      leases: [],
      last: record.seq,
      records: 1,
      expirations: 0,
      expirationsInRow: 0,
      failures: 0,
      released: 0,
      releasedInRow: 0,
      endRecord: 0,
      endAt: 0,
    });
    const origin = record.originTaskId === undefined ? undefined : this.find(record.originTaskId);
    if (origin !== undefined) {
      this.change(record.seq, origin.id, { ...origin, redrivenAs: record.seq });
    }
  }

  private after(
    task: ModelTask,
    record: Exclude<LogRecord, { type: 'TaskCreated' | 'CoordinatorStarted' | 'HistoryForgotten' }>,
  ): ModelTask {
    const records = task.records + 1;
    const last = record.seq;
    const end = { endAt: record.at };
    switch (record.type) {
      case 'LeaseGranted': {
        this.countGrant(newestLease(task));
        const lease: ModelLease = {
          id: record.seq,
          workerId: record.workerId,
          attempt: record.attempt,
          grantedAt: record.grantedAt,
          deadline: record.grantedAt + task.windowMs,
          expiry: record.leaseExpiry,
          extensions: 0,
          lastExtension: 0,
          endAt: 0,
          reportRecord: 0,
        };
        const leases = [...task.leases, lease];
        return { ...task, records, last, leases, state: 'LEASED', attempt: record.attempt };
      }
      case 'LeaseExtended': {
        const extensions = (newestLease(task) as ModelLease).extensions + 1;
        const change = { expiry: record.newLeaseExpiry, extensions, lastExtension: record.seq };
        return { ...withNewestLease(task, change), records };
      }
      case 'LeaseExpired':
        this.total('leaseExpirations');
        return {
          ...withNewestLease(task, { ...end, end: 'expired' }),
          records,
          last,
          state: 'WAITING',
          eligibleAt: record.at,
          place: record.seq,
          expirations: task.expirations + 1,
          expirationsInRow: task.expirationsInRow + 1,
        };
      case 'TaskCompleted':
        return {
          ...withNewestLease(task, { ...end, end: 'completed', ...accepted('complete', last) }),
          records,
          last,
          state: 'COMPLETED',
          expirationsInRow: 0,
          endRecord: last,
          endAt: record.at,
          result: record.result,
        };
      case 'TaskFailed': {
        const { retryAt, ...counts } = afterFailure(task, record.kind, record.at);
        const reason = record.failureReason;
        const how = record.kind === 'released' ? 'released' : 'failed';
        const ended = withNewestLease(task, {
          ...end,
          end: how,
          reason,
          ...accepted('fail', last),
        });
        const lastFailure = { record: last, reason, kind: record.kind, retryAt };
        const common = { ...ended, ...counts, records, last, lastFailure, expirationsInRow: 0 };
        return retryAt === undefined
          ? { ...common, state: 'FAILED', endRecord: last, endAt: record.at }
          : { ...common, state: 'WAITING', eligibleAt: retryAt, place: last };
      }
      case 'TaskCancelled': {
        this.total('lateReports');
        const { report } = record;
        const leases = task.leases.map((lease): ModelLease => {
          if (lease.id !== record.leaseId) return lease;
          return { ...lease, outcome: 'CANCELLED', report, reportRecord: last };
        });
        return { ...task, records, last, leases };
      }
      case 'TaskDead': {
        const ended =
          task.state === 'LEASED' ? withNewestLease(task, { ...end, end: 'killed' }) : task;
        return { ...ended, records, last, state: 'DEAD', endRecord: last, endAt: record.at };
      }
    }
  }

  private countGrant(before: ModelLease | undefined): void {
    if (before?.end === 'expired') this.total('duplicateExecutions');
    if (before?.end === 'failed') this.total('retries');
  }

  private total(name: keyof Totals): void {
    this.totals = { ...this.totals, [name]: this.totals[name] + 1 };
  }

  private remember(seq: number): void {
    const { lastSeq, lastAt, epoch, totals, completedThrough, failedThrough } = this;
    const undo = () =>
      Object.assign(this, { lastSeq, lastAt, epoch, totals, completedThrough, failedThrough });
    this.journal.push({ seq, undo });
  }

  private change(seq: number, id: number, to: ModelTask | undefined): void {
    const from = this.find(id);
    this.journal.push({ seq, undo: () => this.put(id, to, from) });
    this.put(id, from, to);
  }

  private put(id: number, from: ModelTask | undefined, to: ModelTask | undefined): void {
    if (from !== undefined) {
      this.mapOf(from).delete(id);
      if (to === undefined && from.requestId !== undefined) this.requestIds.delete(from.requestId);
    }
    if (to === undefined) return;
    this.mapOf(to).set(id, to);
    const expiry = heldLease(to)?.expiry ?? Number.POSITIVE_INFINITY;
    if (expiry < this.soonestExpiry) this.soonestExpiry = expiry;
    if (from === undefined && to.requestId !== undefined) this.requestIds.set(to.requestId, id);
  }

  private mapOf(task: ModelTask): Map<number, ModelTask> {
    if (isOver(task)) return this.over;
    return task.state === 'WAITING' ? this.waiting : this.leased;
  }
}

const accepted = (report: 'complete' | 'fail', record: number) =>
  ({ outcome: 'COMMITTED', report, reportRecord: record }) as const;
