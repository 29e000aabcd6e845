// Owns what the requirements say about one request: which record it causes and how it is answered,
// decided on the model's book alone. How requests wait is in model.ts.

import type { LogRecord, TaskCreated, TaskDead } from '../../../src/model/records.ts';
import type { CancelledReason, Rejected, RejectedReason } from '../../../src/model/refusal.ts';
import type {
  HeartbeatRequest,
  LeaseRequest,
  ReportRequest,
  Request,
  SubmitRequest,
} from '../../../src/model/request.ts';
import type { EmptyReason, HeartbeatOk, Lease, Response } from '../../../src/model/response.ts';
import { difference } from '../checkers/same.ts';
import type { Book } from './book.ts';
import {
  afterFailure,
  heldLease,
  isOver,
  type ModelLease,
  type ModelTask,
  newestLease,
} from './tasks.ts';

export interface ModelKnobs {
  readonly leaseDurationMs: number;
  readonly heartbeatIntervalMs: number;
  readonly executionWindowMs: number;
  readonly maxRetries: number;
  readonly backoffMs: number;
  readonly backoffFactor: number;
  readonly poisonThreshold: number;
  readonly retentionMs: number;
  readonly retentionFailedMs: number;
  readonly answerMaxBytes: number;
}

/** Either a record and the answer once it happened, or an answer alone. */
export interface Decision {
  readonly record?: LogRecord;
  readonly answer: (seq: number) => Response;
}

export type ChangingRequest = Exclude<
  Request,
  { op: 'lease' | 'task' | 'tasks' | 'standing' | 'stats' | 'queues' | 'workers' | 'metrics' }
>;

const no = (reason: RejectedReason, more: Partial<Rejected> = {}): Decision => ({
  answer: () => ({ kind: 'refusal', outcome: 'REJECTED', reason, record: null, ...more }),
});

export function decide(
  book: Book,
  knobs: ModelKnobs,
  request: ChangingRequest,
  now: number,
): Decision {
  if (request.op === 'submit') return decideSubmit(book, knobs, request, now);
  const task = book.find(request.taskId);
  if (task === undefined) return no('unknown_task');
  const { state: taskState } = task;
  switch (request.op) {
    case 'kill': {
      if (isOver(task)) return no('task_terminal', { taskState });
      const record = deadRecord(task, request.reason, now);
      return {
        record,
        answer: (seq) => ({ kind: 'committed', taskState: 'DEAD', record: seq }),
      };
    }
    case 'redrive':
      return decideRedrive(book, task, now);
    default: {
      const lease = task.leases.find(({ id }) => id === request.leaseId);
      if (lease === undefined) return no('unknown_lease');
      if (request.op === 'heartbeat') return decideHeartbeat(knobs, task, lease, request, now);
      return decideReport(task, lease, request, now);
    }
  }
}

function decideSubmit(
  book: Book,
  knobs: ModelKnobs,
  request: SubmitRequest,
  now: number,
): Decision {
  const { requestId, queue } = request;
  const known = requestId === undefined ? undefined : book.requestIds.get(requestId);
  const before = known === undefined ? undefined : book.find(known);
  if (before !== undefined) {
    if (difference(before.contentHash, request.contentHash) !== undefined) {
      return no('request_id_conflict');
    }
    const { id: taskId, state, queue: its } = before;
    const answer = { kind: 'submitted', taskId, state, queue: its, record: null } as const;
    return { answer: () => ({ ...answer, deduplicated: true }) };
  }
  const record: TaskCreated = {
    type: 'TaskCreated',
    seq: 0,
    at: now,
    prev: 0,
    queue,
    payload: request.payload,
    executionWindowMs: request.executionWindowMs ?? knobs.executionWindowMs,
    retryPolicy: {
      maxRetries: request.maxRetries ?? knobs.maxRetries,
      backoffMs: request.backoffMs ?? knobs.backoffMs,
      backoffFactor: request.backoffFactor ?? knobs.backoffFactor,
      backoffMaxMs: request.backoffMaxMs,
    },
    requestId,
    contentHash: requestId === undefined ? undefined : request.contentHash,
    metadata: request.metadata,
    notBefore: request.delayMs ? now + request.delayMs : undefined,
  };
  return {
    record,
    answer: (seq) => ({
      kind: 'submitted',
      taskId: seq,
      state: 'WAITING',
      queue,
      deduplicated: false,
      record: seq,
    }),
  };
}

function decideRedrive(book: Book, origin: ModelTask, now: number): Decision {
  const { state: taskState, id: originTaskId } = origin;
  if (taskState !== 'FAILED' && taskState !== 'DEAD') return no('not_redrivable', { taskState });
  const made = origin.redrivenAs === undefined ? undefined : book.find(origin.redrivenAs);
  if (made !== undefined) {
    const answer = { kind: 'redriven', taskId: made.id, originTaskId, state: made.state } as const;
    return { answer: () => ({ ...answer, deduplicated: true, record: null }) };
  }
  const record: TaskCreated = {
    type: 'TaskCreated',
    seq: 0,
    at: now,
    prev: 0,
    queue: origin.queue,
    payload: origin.payload,
    executionWindowMs: origin.windowMs,
    retryPolicy: origin.policy,
    metadata: origin.metadata,
    originTaskId,
  };
  return {
    record,
    answer: (seq) => ({
      kind: 'redriven',
      taskId: seq,
      originTaskId,
      state: 'WAITING',
      deduplicated: false,
      record: seq,
    }),
  };
}

/** Why a lease that is not the task's any more gives no authority (R12). */
function lost(task: ModelTask, lease: ModelLease): CancelledReason {
  if (task.state === 'DEAD') return 'task_dead';
  return (newestLease(task) as ModelLease).id > lease.id ? 'lease_superseded' : 'lease_expired';
}

function decideHeartbeat(
  knobs: ModelKnobs,
  task: ModelTask,
  lease: ModelLease,
  request: HeartbeatRequest,
  now: number,
): Decision {
  const { state: taskState } = task;
  if (lease.outcome === 'COMMITTED') {
    return no(isOver(task) ? 'task_terminal' : 'already_reported', { taskState });
  }
  if (heldLease(task) !== lease) return no(lost(task, lease), { taskState });
  const until = Math.min(now + knobs.leaseDurationMs, lease.deadline);
  const grows = until > lease.expiry;
  const leaseExpiry = grows ? until : lease.expiry;
  const answer = (seq: number): HeartbeatOk => ({
    kind: 'heartbeat',
    leaseExpiry,
    leaseMs: leaseExpiry - now,
    executionDeadline: lease.deadline,
    atCap: leaseExpiry >= lease.deadline,
    record: grows ? seq : null,
  });
  if (!grows) return { answer };
  const record: LogRecord = {
    type: 'LeaseExtended',
    seq: 0,
    at: now,
    prev: lease.lastExtension === 0 ? lease.id : lease.lastExtension,
    taskId: request.taskId,
    leaseId: lease.id,
    newLeaseExpiry: until,
  };
  return { record, answer };
}

function decideReport(
  task: ModelTask,
  lease: ModelLease,
  request: ReportRequest,
  now: number,
): Decision {
  const { state: taskState } = task;
  const { id: leaseId, extensions, lastExtension } = lease;
  if (lease.outcome !== undefined) {
    const { outcome: firstOutcome, report: firstReport, reportRecord: firstRecord } = lease;
    return no('duplicate_report', { firstOutcome, firstReport, firstRecord, taskState });
  }
  const { id: taskId, last: prev } = task;
  if (heldLease(task) !== lease) {
    const reason = lost(task, lease);
    return {
      record: { type: 'TaskCancelled', seq: 0, at: now, prev, taskId, leaseId, report: request.op },
      answer: (record) => ({ kind: 'refusal', outcome: 'CANCELLED', reason, taskState, record }),
    };
  }
  if (request.op === 'complete') {
    return {
      record: {
        type: 'TaskCompleted',
        seq: 0,
        at: now,
        prev,
        taskId,
        leaseId,
        extensions,
        lastExtension,
        result: request.result,
      },
      answer: (record) => ({ kind: 'committed', taskState: 'COMPLETED', record }),
    };
  }
  const { reason: failureReason, kind } = request;
  const { retryAt } = afterFailure(task, kind, now);
  const after = retryAt === undefined ? 'FAILED' : 'WAITING';
  return {
    record: {
      type: 'TaskFailed',
      seq: 0,
      at: now,
      prev,
      taskId,
      leaseId,
      extensions,
      lastExtension,
      failureReason,
      kind,
      retryAt,
    },
    answer: (record) => ({ kind: 'committed', taskState: after, retryAt, record }),
  };
}

export function deadRecord(task: ModelTask, reason: string, now: number): TaskDead {
  const lease = heldLease(task);
  return {
    type: 'TaskDead',
    seq: 0,
    at: now,
    prev: task.last,
    taskId: task.id,
    extensions: lease?.extensions ?? 0,
    lastExtension: lease?.lastExtension ?? 0,
    reason,
  };
}

export function grantRecord(
  knobs: ModelKnobs,
  task: ModelTask,
  request: LeaseRequest,
  now: number,
): LogRecord {
  const { poisonThreshold: poison } = knobs;
  if (poison > 0 && task.expirationsInRow >= poison) {
    const reason = `poison: ${task.expirationsInRow} leases in a row expired without a report`;
    return deadRecord(task, reason, now);
  }
  return {
    type: 'LeaseGranted',
    seq: 0,
    at: now,
    prev: task.last,
    taskId: task.id,
    workerId: request.workerId,
    attempt: task.attempt + 1,
    leaseExpiry: now + Math.min(knobs.leaseDurationMs, task.windowMs),
    grantedAt: now,
  };
}

/** What the worker is given with its newest lease. */
export function leaseAnswer(knobs: ModelKnobs, task: ModelTask, now: number): Lease {
  const lease = newestLease(task) as ModelLease;
  const before = task.leases.at(-2);
  const leaseMs = lease.expiry - now;
  return {
    taskId: task.id,
    leaseId: lease.id,
    queue: task.queue,
    attempt: lease.attempt,
    maxRetries: task.policy.maxRetries,
    previous: before && {
      attempt: before.attempt,
      leaseId: before.id,
      workerId: before.workerId,
      ended: before.end === 'failed' || before.end === 'released' ? before.end : 'expired',
      at: before.endAt,
      reason: before.reason,
    },
    metadata: task.metadata,
    payload: task.payload,
    leaseExpiry: lease.expiry,
    leaseMs,
    executionDeadline: lease.deadline,
    heartbeatIntervalMs: Math.min(knobs.heartbeatIntervalMs, Math.max(1, Math.floor(leaseMs / 3))),
    createdAt: task.createdAt,
  };
}

export function roomFor(book: Book, request: LeaseRequest): number {
  if (request.capacity === undefined) return Number.POSITIVE_INFINITY;
  return request.capacity - book.order.heldBy(request.workerId);
}

export function whyEmpty(book: Book, request: LeaseRequest, now: number): EmptyReason {
  if (roomFor(book, request) <= 0) return { reason: 'at_capacity' };
  const next = book.order.nextEligibleAt(request.queues);
  if (next === Number.POSITIVE_INFINITY) return { reason: 'no_task' };
  return { reason: 'not_yet_eligible', nextEligibleAt: Math.max(next, now) };
}
