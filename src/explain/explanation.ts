// Owns the shape of an explanation: the story of one task as data. explain-task.ts makes the data
// from the task's records. page-json.ts, page-text.ts and page-svg.ts show the data and add
// nothing.

import type { FailureKind, RecordType, ReportVerb } from '../model/records.ts';
import type { TaskStateName } from '../model/request.ts';
import type { WaitingAsker } from '../model/response.ts';

/** One record of the task, in the log's order. */
export interface ExplainedRecord {
  readonly seq: number;
  readonly at: number;
  readonly type: RecordType;
  readonly before: TaskStateName | 'NONE';
  readonly after: TaskStateName;
  /** The rule's place in the table of transitions, `a` the first: the same on all pages. */
  readonly letter: string;
  /** On which condition the record may happen, from the table by which the core decides. */
  readonly rule: string;
  /** What the record says, in words. */
  readonly text: string;
  /** Of a TaskFailed: what the worker said of the failure. */
  readonly kind?: FailureKind | undefined;
}

/**
 * reported: a report for the lease is in the log.
 * heartbeated: the lease was extended, and no report came.
 * none: only the grant is in the log. Its answer may have been lost, so perhaps no worker ever
 * worked on the task.
 */
export type Evidence = 'reported' | 'heartbeated' | 'none';
export type AttemptEnd = 'completed' | 'failed' | 'released' | 'expired' | 'killed';

export interface ExplainedAttempt {
  readonly attempt: number;
  /** The lease's number, which is that of its grant. */
  readonly leaseId: number;
  readonly workerId: string;
  /** The record that made the task WAITING for this attempt, and its time. */
  readonly waitingRecord: number;
  readonly waitingSince: number;
  /** From when on the task could have been leased for this attempt. */
  readonly eligibleAt: number;
  readonly grantedAt: number;
  /** The lease's last expiry, extensions included. */
  readonly leaseExpiry: number;
  readonly executionDeadline: number;
  readonly extensions: number;
  /** Times of the extensions that the log still has; it may have dropped all but the last. */
  readonly heartbeats: readonly number[];
  readonly lastHeartbeat?: { readonly at: number; readonly record: number } | undefined;
  /** Undefined: it runs. */
  readonly ended?: AttemptEnd | undefined;
  readonly endedAt?: number | undefined;
  readonly endRecord?: number | undefined;
  /** What the worker, or whoever killed the task, gave as the reason. */
  readonly reason?: string | undefined;
  readonly kind?: FailureKind | undefined;
  readonly retryAt?: number | undefined;
  readonly report?: AttemptReport | undefined;
  readonly evidence: Evidence;
  readonly reachedWindow: boolean;
  /** Undefined: the grant followed at once. */
  readonly wait?: Wait | undefined;
}

/** What lay between a task's being eligible and its grant, as far as the log shows. */
export interface Wait {
  readonly durationMs: number;
  /** Starts of the coordinator in it, and for how much of it the coordinator was down at most. */
  readonly starts: readonly number[];
  readonly downMs: number;
  /** The log was restored from a copy meanwhile: what lay in the wait is lost. */
  readonly isLost?: boolean | undefined;
  /** Undefined: the records in between are too many to be read, or some were removed. */
  readonly between?: Between | undefined;
}

/** Records of other tasks between a task's being eligible and its grant. */
export interface Between {
  /** Grants of other tasks of the same queue: how many, the first and the last. */
  readonly grants: number;
  readonly firstGrant?: number | undefined;
  readonly lastGrant?: number | undefined;
  /** Tasks of the same queue that ended as DEAD: a lease request may have done it (poison). */
  readonly deaths: number;
  /** Grants of tasks of other queues. */
  readonly grantsElsewhere: number;
  /** The newest lease that ended in between and was held by the worker that got the grant. */
  readonly freed?: FreedLease | undefined;
}

export interface FreedLease {
  readonly leaseId: number;
  readonly taskId: number;
  readonly at: number;
  readonly record: number;
}

export interface AttemptReport {
  readonly verb: ReportVerb;
  readonly outcome: 'COMMITTED' | 'CANCELLED';
  readonly at: number;
  readonly record: number;
}

/**
 * did: the late report of the earlier attempt came while the later lease was held. So two workers
 * had the task in hand; no record says whether both worked.
 * may: the earlier worker had shown life, and no record says when it stopped.
 * unknown: the earlier worker never showed any life.
 */
export type Certainty = 'did' | 'may' | 'unknown';

/** Two attempts whose workers were, or may have been, at it at the same time. */
export interface Overlap {
  readonly leases: readonly [earlier: number, later: number];
  /** The tasks that the leases are of: two where a redrive lies between them. */
  readonly tasks: readonly [earlier: number, later: number];
  readonly from: number;
  /** Undefined: not over yet. */
  readonly to?: number | undefined;
  readonly certainty: Certainty;
  /** The records that this rests on. */
  readonly records: readonly number[];
}

export type Topic =
  | 'origin'
  | 'heir'
  | 'cause'
  | 'late'
  | 'restart'
  | 'clock'
  | 'end'
  | 'overlap'
  | 'effect';

/** One claim in plain words, and the records that it rests on. */
export interface Statement {
  readonly topic: Topic;
  /** The record of what it tells, where it tells one event: the order of time. */
  readonly record?: number | undefined;
  readonly text: string;
  readonly records: readonly number[];
}

/** A start of the coordinator that falls into the history. */
export interface ExplainedStart {
  readonly seq: number;
  readonly at: number;
  /** The newest record before it: until then the coordinator was surely up. */
  readonly lastAliveAt?: number | undefined;
  /** The log was restored from a copy before this start. */
  readonly restored?: Restored | undefined;
  /** Coordinator time minus the wall clock at this start, in ms. */
  readonly clockOffsetMs: number;
}

/** What a copy of the log holds; what was recorded after it was made is lost. */
export interface Restored {
  /** The newest record of the copy. */
  readonly after: number;
  /** The time of that record, or of the newest before it that is not removed. */
  readonly at?: number | undefined;
}

/** How many attempts may be charged before a failure ends the task, and which ones were. */
export interface Budget {
  /** max_retries + 1. */
  readonly allowed: number;
  /** Numbers of the attempts that were charged, a running one included. */
  readonly charged: readonly number[];
  /** Numbers of the attempts that were not: they were given back. */
  readonly free: readonly number[];
  /** Not counting a running attempt. */
  readonly left: number;
  /** Leases that ran out since the last accepted report. */
  readonly expiriesInRow: number;
  /** The coordinator's setting, 0: off; undefined: read from the log alone. */
  readonly poisonThreshold?: number | undefined;
}

/** A sentence about now; without records it is advisory, and says so. */
export interface Fact {
  readonly text: string;
  readonly records: readonly number[];
}

export interface ExplainedNow {
  readonly state: TaskStateName;
  /** Coordinator time at which this was true. */
  readonly at: number;
  readonly eligibleAt?: number | undefined;
  readonly ahead?: number | undefined;
  /** There are more tasks ahead than `ahead` says. */
  readonly aheadIsMore: boolean;
  /** Whether a running coordinator was asked; a log alone does not tell who asks for tasks. */
  readonly advisory: boolean;
  /** Advisory, not of the log: when a worker last asked for the queue since the start. */
  readonly queueLastAskedAt?: number | undefined;
  /** Advisory: lease requests for the queue that are parked now. */
  readonly queueParked?: number | undefined;
  /** Advisory: the workers of the oldest of those requests, and what they hold. */
  readonly askers?: readonly WaitingAsker[] | undefined;
  readonly leaseId?: number | undefined;
  readonly leaseExpiry?: number | undefined;
  readonly executionDeadline?: number | undefined;
  readonly attemptsLeft: number;
  /** What is true now, a few sentences each. */
  readonly facts: readonly Fact[];
  /** What will change it, and by which rule. */
  readonly next: Fact;
}

export interface Explanation {
  readonly taskId: number;
  readonly queue: string;
  readonly state: TaskStateName;
  readonly createdAt: number;
  readonly maxRetries: number;
  readonly executionWindowMs: number;
  readonly originTaskId?: number | undefined;
  readonly redrivenAs?: number | undefined;
  /** The story in one sentence. */
  readonly summary: string;
  readonly records: readonly ExplainedRecord[];
  /**
   * The number of the task's records that are not in `records`: older heartbeats beyond the bound,
   * or heartbeats that were dropped from the log.
   */
  readonly recordsLeftOut: number;
  readonly attempts: readonly ExplainedAttempt[];
  readonly budget: Budget;
  readonly starts: readonly ExplainedStart[];
  /** Older starts within the history that are not in `starts`. */
  readonly startsLeftOut: number;
  readonly statements: readonly Statement[];
  readonly overlaps: readonly Overlap[];
  readonly now: ExplainedNow;
}
