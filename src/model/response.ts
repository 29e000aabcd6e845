// Owns the shapes of the coordinator's answers. Every request gets exactly one of them. Those that
// clients see follow from their descriptions in answer-table.ts.

import type { Values } from './answer-fields.ts';
import type * as a from './answer-table.ts';
import type { Refusal } from './refusal.ts';
import type { TaskStateName } from './request.ts';

export type PreviousAttempt = Values<typeof a.previous>;
export type Lease = Values<typeof a.lease>;
export type EmptyReason = Values<typeof a.empty>;
export type TaskSummary = Values<typeof a.summary>;

/** Whether bytes are written as base64 also where they are valid UTF-8. */
interface WithBytes {
  readonly base64: boolean;
}
export type Submitted = Answer<'submitted', Values<typeof a.submitted>>;
/** `waitedMs`: how long the request was parked before the decision, rounded down. */
export type Leased = Answer<'leased', Values<typeof a.leased> & WithBytes & { waitedMs: number }>;
export type HeartbeatOk = Answer<'heartbeat', Values<typeof a.heartbeat>>;
export type Committed = Answer<'committed', Values<typeof a.committed>>;
export type Redriven = Answer<'redriven', Values<typeof a.redriven>>;
export type TaskShown = Answer<
  'task',
  { task: TaskSummary } & Values<typeof a.taskBytes> & WithBytes
>;
export type TaskList = Answer<'tasks', Values<typeof a.tasks>>;

type Answer<K extends string, T> = { readonly kind: K } & { readonly [M in keyof T]: T[M] };

/** A worker whose lease request waits for a task's queue; advisory, of no record. */
export interface WaitingAsker {
  readonly workerId: string;
  /** How many leases it says it can hold; undefined: it said nothing. */
  readonly capacity?: number | undefined;
  /** How many it holds under its name, and some of them. */
  readonly held: number;
  readonly leases: readonly HeldLease[];
}

export interface HeldLease {
  readonly leaseId: number;
  readonly taskId: number;
  readonly leaseExpiry: number;
}

/** The task whose content a redriven task has, or the one that was made by a redrive. */
export interface Relative {
  readonly role: 'origin' | 'heir';
  readonly taskId: number;
  readonly state: TaskStateName;
  readonly lastRecord: number;
  readonly lastExtension: number;
  /**
   * Of an origin: starts between its creation and that of its redrive, the newest ones. Those since
   * an heir's creation are among the standing's own.
   */
  readonly starts: readonly number[];
}

/** What is true of a task now, for explain: derived state and advisory facts. */
export interface Standing {
  readonly kind: 'standing';
  readonly taskId: number;
  readonly state: TaskStateName;
  readonly queue: string;
  readonly now: number;
  /** The newest record of all when this was looked up. */
  readonly asOf: number;
  /** The newest record of the task that is not a LeaseExtended; its `prev` chain is the story. */
  readonly lastRecord: number;
  /** The running lease's newest extension, 0 when there is none. */
  readonly lastExtension: number;
  /**
   * CoordinatorStarted records after the task's creation, and before its newest record when it is
   * over: ascending, the newest 100.
   */
  readonly starts: readonly number[];
  /** How many older ones there are after the task's creation. */
  readonly startsLeftOut?: number | undefined;
  /** All other CoordinatorStarted records after the task's creation, the newest 5 000. */
  readonly startsBeside?: readonly number[] | undefined;
  readonly eligibleAt?: number | undefined;
  readonly leaseId?: number | undefined;
  readonly leaseExpiry?: number | undefined;
  readonly executionDeadline?: number | undefined;
  /** Tasks of the same queue before it; exact up to 1 000. */
  readonly ahead?: number | undefined;
  readonly aheadIsMore: boolean;
  /** When a worker last asked for this queue since the start; advisory. */
  readonly queueLastAskedAt?: number | undefined;
  /** Lease requests for this queue that are parked now; advisory. */
  readonly queueParked?: number | undefined;
  /** Of a queue that nobody asked for: queues that workers ask for, a few; advisory. */
  readonly queuesAskedFor?: readonly string[] | undefined;
  /** Lease requests that wait for the queue and are not served, the oldest few; advisory. */
  readonly askers?: readonly WaitingAsker[] | undefined;
  /** The coordinator's setting: so many expiries in a row end a task; 0: none do. */
  readonly poisonThreshold?: number | undefined;
  /** The tasks beside it with the same content by redrive, as far as they are remembered. */
  readonly relatives?: readonly Relative[] | undefined;
  readonly poisonAtNextGrant: boolean;
  readonly redrivenAs?: number | undefined;
  readonly attemptsLeft: number;
}

/** One queue as metrics show it, or the sum of those that are not shown. */
export interface QueueFigures {
  readonly queue: string;
  readonly waiting: number;
  readonly leased: number;
  readonly completed: number;
  readonly failed: number;
  readonly dead: number;
  readonly eligible: number;
  /** From eligibility; 0 when nothing waits. */
  readonly oldest_waiting_ms: number;
}

/** An answer whose shape only its one reader knows: stats, queues, workers, metrics. */
export interface Overview {
  readonly kind: 'overview';
  readonly body: Readonly<Record<string, unknown>>;
}

export type Response =
  | Refusal
  | Submitted
  | Leased
  | HeartbeatOk
  | Committed
  | Redriven
  | TaskShown
  | TaskList
  | Standing
  | Overview;
