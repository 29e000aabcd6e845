// Owns the state that the log's records add up to: tasks, leases, orders, counters. It decides
// nothing, and apply.ts is its only writer. The state can be dropped at any time, because a replay
// of the log makes an equal one.

import type { Totals } from '../model/records.ts';
import { Contracts } from './contracts.ts';
import { type Digest, DigestIndex } from './digest-index.ts';
import { EndedTasks } from './ended-tasks.ts';
import type { EndedLease, TaskHistory } from './history.ts';
import { endedByReport, placeOf } from './history.ts';
import { Leases } from './leases.ts';
import type { Queue } from './queue.ts';
import { NONE, TaskTable } from './task-table.ts';

/** Turns a request id into 128 bits; handed in, because the core computes no hashes. */
export type DigestText = (text: string) => Digest;

/** Numbers whose records are gone, or say nothing any more. */
export interface Removed {
  has(seq: number): boolean;
  add(seq: number): void;
}

const NOTHING: Removed = { has: () => false, add: () => {} };

export class State {
  readonly tasks = new TaskTable();
  readonly contracts = new Contracts();
  readonly leases = new Leases();
  readonly requestIds = new DigestIndex();
  readonly ended = new EndedTasks();
  /** By row: tasks whose attempts did not simply succeed. */
  readonly histories = new Map<number, TaskHistory>();
  /** A redriven task's id by its origin's, and the reverse. */
  readonly redrivenAs = new Map<number, number>();
  readonly originOf = new Map<number, number>();
  readonly totals: Totals = {
    leaseExpirations: 0,
    duplicateExecutions: 0,
    lateReports: 0,
    retries: 0,
    starts: 0,
  };
  /** Number of the newest record, and its time: no later record is earlier. */
  lastSeq = 0;
  lastAt = 0;
  /** Time of the newest start that came long after the record before it. */
  jumpedAt = Number.NEGATIVE_INFINITY;
  /** How far history was forgotten: numbers of terminal records. */
  completedThrough = 0;
  failedThrough = 0;
  /** Bytes of records in the log, about, by whether what they are about is remembered. */
  readonly weights = { live: 0, forgotten: 0 };
  /** Numbers of all CoordinatorStarted, ascending: explain finds those within a history. */
  readonly starts: number[] = [];
  readonly digestText: DigestText;
  /**
   * Numbers whose records are gone from the log that this state was replayed from. Also tasks that
   * replay forgot earlier than the coordinator did, because the records of their origin are gone.
   */
  readonly removed: Removed;

  constructor(digestText: DigestText, removed: Removed = NOTHING) {
    this.digestText = digestText;
    this.removed = removed;
  }

  /** Number of the newest CoordinatorStarted, 0 before the first. */
  get epoch(): number {
    return this.starts.at(-1) ?? 0;
  }

  queueOf(row: number): Queue {
    return this.contracts.at(this.tasks.contract(row)).queue;
  }

  /** @returns the newest lease of a task, current or ended; 0: it was never leased. */
  newestLease(row: number): number {
    if (this.tasks.state(row) !== 'WAITING') return this.tasks.leaseId(row);
    return this.histories.get(row)?.leases.at(-1)?.leaseId ?? 0;
  }

  /** @returns an ended lease of the task with its outcome, or undefined. */
  endedLease(row: number, leaseId: number): EndedLease | undefined {
    const { tasks } = this;
    if (tasks.state(row) === 'COMPLETED' && tasks.leaseId(row) === leaseId) {
      return endedByReport(leaseId, 'completed', tasks.endRecord(row));
    }
    const history = this.histories.get(row);
    const place = history === undefined ? -1 : placeOf(history, leaseId);
    return place === -1 ? undefined : history?.leases[place];
  }

  /** @returns the task that was submitted under a request id of this digest, or NONE. */
  submittedUnder(requestId: Digest): number {
    const row = this.requestIds.find(requestId);
    return row === -1 ? NONE : row;
  }
}
