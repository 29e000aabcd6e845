// Owns the model's memory: what the records so far say of every task, and the way back to an
// earlier record when a log refuses those after it. It decides nothing.

import type { LogRecord, TaskCreated, Totals } from '../../../src/model/records.ts';
import { newTask, taskAfter } from './fold.ts';
import { Order } from './order.ts';
import {
  copyOf,
  heldLease,
  isOver,
  type ModelLease,
  type ModelTask,
  newestLease,
} from './tasks.ts';

/** What a record changed: all that there was before it. */
class Undo {
  readonly seq: number;
  readonly lastSeq: number;
  readonly lastAt: number;
  readonly epoch: number;
  readonly totals: Totals;
  readonly completedThrough: number;
  readonly failedThrough: number;
  readonly changes: Change[] = [];

  constructor(seq: number, book: Book) {
    this.seq = seq;
    this.lastSeq = book.lastSeq;
    this.lastAt = book.lastAt;
    this.epoch = book.epoch;
    this.totals = book.totals;
    this.completedThrough = book.completedThrough;
    this.failedThrough = book.failedThrough;
  }
}

interface Start {
  readonly seq: number;
  readonly at: number;
  /** It came more than a day after the record before it: its clock may be wrong. */
  readonly isLate: boolean;
}

const DAY_MS = 86_400_000;
const isLate = ({ at }: LogRecord, lastAt: number): boolean => lastAt > 0 && at - lastAt > DAY_MS;

interface Change {
  readonly id: number;
  readonly from: ModelTask | undefined;
  readonly to: ModelTask | undefined;
}

export class Book {
  readonly waiting = new Map<number, ModelTask>();
  readonly leased = new Map<number, ModelTask>();
  readonly over = new Map<number, ModelTask>();
  readonly order = new Order();
  readonly requestIds = new Map<string, number>();
  private readonly tasks = new Map<number, ModelTask>();
  lastSeq = 0;
  lastAt = 0;
  readonly starts: Start[] = [];
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
    return this.tasks.get(id);
  }

  /** Records up to this one are on the device: there is no way back behind them. */
  settled(seq: number): void {
    let settled = 0;
    while (settled < this.journal.length && (this.journal[settled] as Undo).seq <= seq) {
      settled += 1;
    }
    if (settled > 0) this.journal.splice(0, settled);
  }

  /** Takes back every record after this one. */
  backTo(seq: number): void {
    for (;;) {
      const last = this.journal.at(-1);
      if (last === undefined || last.seq <= seq) return;
      if (this.starts.at(-1)?.seq === last.seq) this.starts.pop();
      this.journal.pop();
      for (const { id, from, to } of last.changes.toReversed()) this.put(id, to, from);
      this.lastSeq = last.lastSeq;
      this.lastAt = last.lastAt;
      this.epoch = last.epoch;
      this.totals = last.totals;
      this.completedThrough = last.completedThrough;
      this.failedThrough = last.failedThrough;
    }
  }

  apply(record: LogRecord): void {
    const { lastAt } = this;
    this.journal.push(new Undo(record.seq, this));
    this.lastSeq = record.seq;
    this.lastAt = record.at;
    switch (record.type) {
      case 'TaskCreated':
        return this.create(record);
      case 'CoordinatorStarted':
        this.epoch = record.seq;
        this.starts.push({ seq: record.seq, at: record.at, isLate: isLate(record, lastAt) });
        return this.total('starts');
      case 'HistoryForgotten':
        this.completedThrough = record.completedThrough;
        this.failedThrough = record.failedThrough;
        for (const id of this.forgettable(record.completedThrough, record.failedThrough)) {
          this.change(id, undefined);
        }
        return;
      default: {
        const task = this.find(record.taskId);
        if (task === undefined) throw new Error(`the model knows no task ${record.taskId}`);
        this.count(task, record);
        this.change(task.id, taskAfter(task, record));
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

  /** @returns where what is kept beside the tasks is not what they say, or undefined. */
  broken(): string | undefined {
    const { waiting, leased, over, tasks, order } = this;
    if (tasks.size !== waiting.size + leased.size + over.size) return 'the number of tasks';
    for (const task of tasks.values()) {
      if (this.mapOf(task).get(task.id) !== task) return `task ${task.id}`;
      const expiry = heldLease(task)?.expiry ?? Number.POSITIVE_INFINITY;
      if (expiry < this.soonestExpiry) return `the soonest expiry: task ${task.id} has ${expiry}`;
    }
    return order.broken(waiting.values(), leased.values());
  }

  private create(record: TaskCreated): void {
    this.change(record.seq, newTask(record));
    const origin = record.originTaskId === undefined ? undefined : this.find(record.originTaskId);
    if (origin === undefined) return;
    const redriven = copyOf(origin);
    redriven.redrivenAs = record.seq;
    this.change(origin.id, redriven);
  }

  private count(task: ModelTask, record: LogRecord): void {
    if (record.type === 'LeaseExpired') this.total('leaseExpirations');
    if (record.type === 'TaskCancelled') this.total('lateReports');
    if (record.type === 'LeaseGranted') this.countGrant(newestLease(task));
  }

  private countGrant(before: ModelLease | undefined): void {
    if (before?.end === 'expired') this.total('duplicateExecutions');
    if (before?.end === 'failed') this.total('retries');
  }

  private total(name: keyof Totals): void {
    const totals = { ...this.totals };
    totals[name] += 1;
    this.totals = totals;
  }

  private change(id: number, to: ModelTask | undefined): void {
    const from = this.find(id);
    this.journal.at(-1)?.changes.push({ id, from, to });
    this.put(id, from, to);
  }

  private put(id: number, from: ModelTask | undefined, to: ModelTask | undefined): void {
    this.order.changed(from, to);
    const place = to && this.mapOf(to);
    if (from !== undefined && this.mapOf(from) !== place) this.mapOf(from).delete(id);
    if (to === undefined || place === undefined) {
      this.tasks.delete(id);
      if (from?.requestId !== undefined) this.requestIds.delete(from.requestId);
      return;
    }
    this.tasks.set(id, to);
    place.set(id, to);
    const expiry = heldLease(to)?.expiry ?? Number.POSITIVE_INFINITY;
    if (expiry < this.soonestExpiry) this.soonestExpiry = expiry;
    if (from === undefined && to.requestId !== undefined) this.requestIds.set(to.requestId, id);
  }

  private mapOf(task: ModelTask): Map<number, ModelTask> {
    if (isOver(task)) return this.over;
    return task.state === 'WAITING' ? this.waiting : this.leased;
  }
}
