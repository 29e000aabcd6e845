// Owns the shapes of the coordinator's answers. Every request gets exactly one of them; format.ts
// turns it into the wire's JSON and http-status.ts into a status.

import type { Caused, Refusal } from './refusal.ts';
import type { TaskStateName } from './request.ts';

export interface Submitted {
  readonly kind: 'submitted';
  readonly taskId: number;
  readonly state: TaskStateName;
  readonly queue: string;
  readonly deduplicated: boolean;
  readonly record: Caused;
}

export interface PreviousAttempt {
  readonly attempt: number;
  readonly leaseId: number;
  readonly workerId: string;
  readonly ended: 'expired' | 'failed' | 'released';
  readonly at: number;
  readonly reason?: string | undefined;
}

export interface Lease {
  readonly taskId: number;
  readonly leaseId: number;
  readonly queue: string;
  readonly attempt: number;
  readonly maxRetries: number;
  readonly previous?: PreviousAttempt | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly payload: Uint8Array;
  readonly leaseExpiry: number;
  /** Time left at the decision. */
  readonly leaseMs: number;
  readonly executionDeadline: number;
  readonly heartbeatIntervalMs: number;
  readonly createdAt: number;
}

export interface EmptyReason {
  readonly reason: 'no_task' | 'not_yet_eligible' | 'at_capacity';
  readonly nextEligibleAt?: number | undefined;
}

export interface Leased {
  readonly kind: 'leased';
  readonly leases: readonly Lease[];
  /** How long the request was parked before the decision, rounded down. */
  readonly waitedMs: number;
  readonly empty?: EmptyReason | undefined;
  readonly base64: boolean;
}

export interface HeartbeatOk {
  readonly kind: 'heartbeat';
  readonly leaseExpiry: number;
  readonly leaseMs: number;
  readonly executionDeadline: number;
  readonly atCap: boolean;
  readonly record: Caused;
}

export interface Committed {
  readonly kind: 'committed';
  readonly taskState: TaskStateName;
  readonly retryAt?: number | undefined;
  readonly record: number;
}

export interface Redriven {
  readonly kind: 'redriven';
  readonly taskId: number;
  readonly originTaskId: number;
  readonly state: TaskStateName;
  readonly deduplicated: boolean;
  readonly record: Caused;
}

/** What a list shows of a task; TaskView adds what only its records hold. */
export interface TaskSummary {
  readonly taskId: number;
  readonly queue: string;
  readonly state: TaskStateName;
  readonly attempt: number;
  readonly maxRetries: number;
  readonly backoffMs: number;
  readonly executionWindowMs: number;
  readonly requestId?: string | undefined;
  readonly originTaskId?: number | undefined;
  readonly redrivenAs?: number | undefined;
  readonly createdAt: number;
  readonly eligibleAt?: number | undefined;
  readonly lease?:
    | {
        readonly leaseId: number;
        readonly workerId: string;
        readonly grantedAt: number;
        readonly leaseExpiry: number;
        readonly executionDeadline: number;
      }
    | undefined;
  readonly endedAt?: number | undefined;
  readonly expirations: number;
  readonly failures: number;
  readonly retryAt?: number | undefined;
  readonly lastFailureReason?: string | undefined;
  readonly lastFailureKind?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly records: number;
}

export interface TaskShown {
  readonly kind: 'task';
  readonly task: TaskSummary;
  readonly payload: Uint8Array;
  readonly result?: Uint8Array | undefined;
  readonly base64: boolean;
}

export interface TaskList {
  readonly kind: 'tasks';
  readonly tasks: readonly TaskSummary[];
  /** Give it as `after` to go on; null: the end was reached. */
  readonly next: number | null;
}

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
  /** CoordinatorStarted records after the task's creation, ascending, the newest 100. */
  readonly starts: readonly number[];
  /** How many older ones there are after the task's creation. */
  readonly startsLeftOut?: number | undefined;
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
