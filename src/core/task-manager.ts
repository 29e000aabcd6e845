// Owns the making of the records about tasks: TaskCreated, TaskCompleted, TaskFailed, TaskCancelled
// and TaskDead. It proposes; it never writes the state (R27).

import type { LogRecord, TaskCancelled, TaskCreated, TaskDead } from '../model/records.ts';
import type {
  CompleteRequest,
  FailRequest,
  ReportRequest,
  SubmitRequest,
} from '../model/request.ts';
import { type Context, recordAt } from './context.ts';
import { newHistory } from './history.ts';
import type { ActiveLease } from './leases.ts';
import { countFailure, retryAt } from './retry-policy.ts';
import type { Subject } from './subject.ts';

/** A new task; what the request does not name comes from the knobs, and is written. */
export function created(context: Context, request: SubmitRequest, now: number): TaskCreated {
  const { knobs } = context;
  return {
    type: 'TaskCreated',
    seq: 0,
    at: now,
    prev: 0,
    queue: request.queue,
    payload: request.payload,
    // The settings of a task stand in its record. So other knobs at a later start change nothing
    // for it, and a replay needs no knobs.
    executionWindowMs: request.executionWindowMs ?? knobs.executionWindowMs,
    retryPolicy: {
      maxRetries: request.maxRetries ?? knobs.maxRetries,
      backoffMs: request.backoffMs ?? knobs.backoffMs,
      backoffFactor: request.backoffFactor ?? knobs.backoffFactor,
      backoffMaxMs: request.backoffMaxMs,
    },
    requestId: request.requestId,
    contentHash: request.requestId === undefined ? undefined : request.contentHash,
    metadata: request.metadata,
    // An absolute time, so that a replay needs no clock (R14).
    notBefore: request.delayMs ? now + request.delayMs : undefined,
    originTaskId: undefined,
  };
}

/** A new task with the content of one that FAILED or is DEAD; neither its request id nor delay. */
export function redriven(context: Context, originTaskId: number, now: number): TaskCreated {
  // The payload is copied, because the records of the origin may be removed first.
  const origin = recordAt(context, originTaskId, 'TaskCreated');
  return {
    ...origin,
    seq: 0,
    at: now,
    // A request id stands for one task while that is remembered (R16): the origin keeps it.
    requestId: undefined,
    contentHash: undefined,
    notBefore: undefined,
    originTaskId,
  };
}

/** The report of the worker that holds the lease. */
export function reported(
  context: Context,
  lease: ActiveLease,
  request: ReportRequest,
  now: number,
): LogRecord {
  return request.op === 'complete'
    ? completed(context, lease, request, now)
    : failed(context, lease, request, now);
}

function completed(
  { state }: Context,
  lease: ActiveLease,
  request: CompleteRequest,
  now: number,
): LogRecord {
  return {
    type: 'TaskCompleted',
    seq: 0,
    at: now,
    prev: state.tasks.last(lease.row),
    taskId: lease.taskId,
    leaseId: lease.leaseId,
    extensions: lease.extensions,
    lastExtension: lease.lastExtension,
    result: request.result,
  };
}

function failed(
  { state }: Context,
  lease: ActiveLease,
  request: FailRequest,
  now: number,
): LogRecord {
  const policy = state.contracts.at(state.tasks.contract(lease.row)).retryPolicy;
  const counts = countFailure(state.histories.get(lease.row) ?? newHistory(0), request.kind);
  return {
    type: 'TaskFailed',
    seq: 0,
    at: now,
    prev: state.tasks.last(lease.row),
    taskId: lease.taskId,
    leaseId: lease.leaseId,
    extensions: lease.extensions,
    lastExtension: lease.lastExtension,
    failureReason: request.reason,
    kind: request.kind,
    retryAt: retryAt(policy, request.kind, lease.attempt, counts, now),
  };
}

/** Records a report without authority, so that a worker's lost authority is never silent (R10). */
export function cancelled(
  { state }: Context,
  row: number,
  request: ReportRequest,
  now: number,
): TaskCancelled {
  return {
    type: 'TaskCancelled',
    seq: 0,
    at: now,
    prev: state.tasks.last(row),
    taskId: request.taskId,
    leaseId: request.leaseId,
    report: request.op,
  };
}

export function dead(
  { state }: Context,
  { row, lease }: Subject,
  reason: string,
  now: number,
): TaskDead {
  return {
    type: 'TaskDead',
    seq: 0,
    at: now,
    prev: state.tasks.last(row),
    taskId: state.tasks.id(row),
    extensions: lease?.extensions ?? 0,
    lastExtension: lease?.lastExtension ?? 0,
    reason,
  };
}
