// Owns the shapes of what is asked of the coordinator, after parsing: ids are numbers, bytes are
// bytes, every field is known and in range. Whoever holds a Request need not look at its form
// again.

import type { FailureKind, ReportVerb } from './records.ts';

export interface SubmitRequest {
  readonly op: 'submit';
  readonly queue: string;
  readonly payload: Uint8Array;
  readonly requestId?: string | undefined;
  /** First 16 bytes of SHA-256 over payload, queue and the named options; with requestId only. */
  readonly contentHash?: Uint8Array | undefined;
  readonly executionWindowMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly backoffMs?: number | undefined;
  readonly backoffFactor?: number | undefined;
  readonly backoffMaxMs?: number | undefined;
  readonly delayMs?: number | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface LeaseRequest {
  readonly op: 'lease';
  readonly workerId: string;
  /** At least one; a name stands in it once. */
  readonly queues: readonly string[];
  readonly max: number;
  /** 0: answer at once; else park for at most so long until a task becomes eligible. */
  readonly waitMs: number;
  readonly capacity?: number | undefined;
  /** The answer gives payloads as base64 even where they are valid UTF-8. */
  readonly base64: boolean;
}

export interface HeartbeatRequest {
  readonly op: 'heartbeat';
  readonly taskId: number;
  readonly leaseId: number;
}

export interface CompleteRequest {
  readonly op: 'complete';
  readonly taskId: number;
  readonly leaseId: number;
  readonly result?: Uint8Array | undefined;
}

export interface FailRequest {
  readonly op: 'fail';
  readonly taskId: number;
  readonly leaseId: number;
  readonly reason: string;
  readonly kind: FailureKind;
}

export interface KillRequest {
  readonly op: 'kill';
  readonly taskId: number;
  readonly reason: string;
}

export interface RedriveRequest {
  readonly op: 'redrive';
  readonly taskId: number;
}

/** One task; with waitMs the answer is given when it is terminal or the time is over. */
export interface TaskRequest {
  readonly op: 'task';
  readonly taskId: number;
  readonly waitMs: number;
  readonly base64: boolean;
}

export interface TasksRequest {
  readonly op: 'tasks';
  readonly state?: TaskStateName | undefined;
  readonly queue?: string | undefined;
  readonly requestId?: string | undefined;
  /** Task numbers greater than this. */
  readonly after: number;
  readonly limit: number;
}

/** The facts about now that explain adds to a task's records. */
export interface StandingRequest {
  readonly op: 'standing';
  readonly taskId: number;
}

/** Counts, the soft registry, and the numbers behind the metrics. */
export interface OverviewRequest {
  readonly op: 'stats' | 'queues' | 'workers' | 'metrics';
}

export type ReportRequest = CompleteRequest | FailRequest;
export type Request =
  | SubmitRequest
  | LeaseRequest
  | HeartbeatRequest
  | CompleteRequest
  | FailRequest
  | KillRequest
  | RedriveRequest
  | TaskRequest
  | TasksRequest
  | StandingRequest
  | OverviewRequest;
export type Op = Request['op'];

export type TaskStateName = 'WAITING' | 'LEASED' | 'COMPLETED' | 'FAILED' | 'DEAD';
export const TASK_STATES: readonly TaskStateName[] = [
  'WAITING',
  'LEASED',
  'COMPLETED',
  'FAILED',
  'DEAD',
];

export const isReport = (op: Op): op is ReportVerb => op === 'complete' || op === 'fail';
/** Requests that end or keep up work in progress: the last eighth of the mailbox is theirs. */
export const isWorkInProgress = (op: Op): boolean => op === 'heartbeat' || isReport(op);
