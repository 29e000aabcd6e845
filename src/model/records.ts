// Owns the shapes of the facts that the log holds: the ten record types, nothing else. A record
// says what happened; why it was chosen is in choose.ts and what it does to the state in apply.ts.
//
// To change a record: never alter or reuse a field or a type code. Add an optional field (old logs
// lack it, so apply must give its absence today's meaning) or a new type at the end of
// RECORD_TYPES, raise FORMAT_VERSION, describe it in record-fields.ts, and add a golden log written
// by the new version under test/golden. An older build refuses a newer format
// with both versions named. docs/internals/ADDING-A-FEATURE.md goes the whole way with an example.

import type { FAILURE_KINDS } from './task-states.ts';

/** Written in every CoordinatorStarted; a log with a greater one is refused. */
export const FORMAT_VERSION = 1;

/** Index in this list + 1 is the type's code on the disk: only ever append to it. */
export const RECORD_TYPES = [
  'TaskCreated',
  'LeaseGranted',
  'LeaseExtended',
  'LeaseExpired',
  'TaskCompleted',
  'TaskFailed',
  'TaskCancelled',
  'TaskDead',
  'CoordinatorStarted',
  'HistoryForgotten',
] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** How often and after which pause a failed attempt is followed by another one. */
export interface RetryPolicy {
  readonly maxRetries: number;
  readonly backoffMs: number;
  /** 1 … 100; the one number of the interface that may have a fraction. */
  readonly backoffFactor: number;
  readonly backoffMaxMs?: number | undefined;
}

/** A worker's statement about a failed attempt; the transition stays the coordinator's. */
export type FailureKind = (typeof FAILURE_KINDS)[number];
export type ReportVerb = 'complete' | 'fail';

interface Base {
  /** The record's number, its key in the log: 1, 2, 3 … 0 until append gives it one. */
  seq: number;
  /** Coordinator time in ms since the epoch; metadata that only invariant checks may compare. */
  readonly at: number;
  /**
   * Number of the same task's previous record that is not a LeaseExtended; of a LeaseExtended the
   * lease's previous extension, else its grant. 0 where there is none.
   */
  readonly prev: number;
}

/** What a lease's last record tells of its extensions; both are 0 when it was never extended. */
interface EndsLease {
  readonly extensions: number;
  readonly lastExtension: number;
}

/** The task's id is the record's own number, so ids need no randomness (R1). */
export interface TaskCreated extends Base {
  readonly type: 'TaskCreated';
  readonly queue: string;
  readonly payload: Uint8Array;
  readonly executionWindowMs: number;
  readonly retryPolicy: RetryPolicy;
  readonly requestId?: string | undefined;
  /** First 16 bytes of the SHA-256 over what a repeated submit must match. */
  readonly contentHash?: Uint8Array | undefined;
  /** Carried along, never decided by (R18). */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Absolute, as `retryAt` is: a replay reads no clock. */
  readonly notBefore?: number | undefined;
  readonly originTaskId?: number | undefined;
}

/**
 * The lease's id and fencing token is the record's own number. Later leases have greater ones, also
 * after a restore, so a store can refuse an older worker (R2).
 */
export interface LeaseGranted extends Base {
  readonly type: 'LeaseGranted';
  readonly taskId: number;
  /** Advisory: a report is believed by its lease id alone. */
  readonly workerId: string;
  readonly attempt: number;
  readonly leaseExpiry: number;
  /** The execution window is counted from here, however often the lease is extended (R8). */
  readonly grantedAt: number;
}

export interface LeaseExtended extends Base {
  readonly type: 'LeaseExtended';
  readonly taskId: number;
  readonly leaseId: number;
  readonly newLeaseExpiry: number;
}

export interface LeaseExpired extends Base, EndsLease {
  readonly type: 'LeaseExpired';
  readonly taskId: number;
  readonly leaseId: number;
}

export interface TaskCompleted extends Base, EndsLease {
  readonly type: 'TaskCompleted';
  readonly taskId: number;
  readonly leaseId: number;
  readonly result?: Uint8Array | undefined;
}

export interface TaskFailed extends Base, EndsLease {
  readonly type: 'TaskFailed';
  readonly taskId: number;
  readonly leaseId: number;
  readonly failureReason: string;
  readonly kind: FailureKind;
  /** Present exactly when the task goes back to WAITING: it is eligible when now >= retryAt. */
  readonly retryAt?: number | undefined;
}

/** A report arrived without authority; it changes no task. At most one for each lease. */
export interface TaskCancelled extends Base {
  readonly type: 'TaskCancelled';
  readonly taskId: number;
  readonly leaseId: number;
  readonly report: ReportVerb;
}

/** The reason of the coordinator's own TaskDead, whole: a kill may begin with the same word. */
export const poisonReason = (inRow: number): string =>
  `poison: ${inRow} leases in a row expired without a report`;

export interface TaskDead extends Base, EndsLease {
  readonly type: 'TaskDead';
  readonly taskId: number;
  readonly reason: string;
}

/** Changes no task: it makes a restart a fact of the log, and its number is the epoch (R30). */
export interface CoordinatorStarted extends Base {
  readonly type: 'CoordinatorStarted';
  readonly formatVersion: number;
  /** The wall clock, beside `at`: how far coordinator time was from it stays known. */
  readonly startedAt: number;
}

/** Lifetime counters at a record, absolute; apply sets them (they outlive forgotten records). */
export interface Totals {
  leaseExpirations: number;
  duplicateExecutions: number;
  lateReports: number;
  retries: number;
  starts: number;
}

/**
 * Says with two numbers which ended tasks are forgotten: those whose last record is not after them
 * (R32). A list of ids would grow with the tasks, and these records stay for good.
 */
export interface HistoryForgotten extends Base {
  readonly type: 'HistoryForgotten';
  readonly completedThrough: number;
  readonly failedThrough: number;
  readonly totals: Readonly<Totals>;
}

export type LogRecord =
  | TaskCreated
  | LeaseGranted
  | LeaseExtended
  | LeaseExpired
  | TaskCompleted
  | TaskFailed
  | TaskCancelled
  | TaskDead
  | CoordinatorStarted
  | HistoryForgotten;

/** @returns the task that a record is about, or 0 for the two types that are about none. */
export function taskOf(record: LogRecord): number {
  switch (record.type) {
    case 'TaskCreated':
      return record.seq;
    case 'CoordinatorStarted':
    case 'HistoryForgotten':
      return 0;
    default:
      return record.taskId;
  }
}

/** Whether the record ended its task. */
export const isEnd = (record: LogRecord): boolean =>
  record.type === 'TaskCompleted' ||
  record.type === 'TaskDead' ||
  (record.type === 'TaskFailed' && record.retryAt === undefined);
