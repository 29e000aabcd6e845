// Owns the answers to requests that change something: read off the record that was just applied and
// the state after it. Reads are answered by views.ts.

import { invariant } from '../model/assert.ts';
import { formatLeaseId } from '../model/ids.ts';
import type { LeaseGranted, LogRecord, TaskCreated } from '../model/records.ts';
import type {
  HeartbeatOk,
  Lease,
  PreviousAttempt,
  Redriven,
  Response,
  Submitted,
} from '../model/response.ts';
import { type Context, recordAt } from './context.ts';
import type { ActiveLease } from './leases.ts';
import type { State } from './state.ts';
import type { Subject } from './subject.ts';
import { lostBecause, lostSentence } from './validate.ts';

/**
 * @param subject what the record names, from before it was applied
 * @returns the answer to the request that the record was chosen for.
 */
export function respond(state: State, record: LogRecord, subject: Subject, now: number): Response {
  switch (record.type) {
    case 'TaskCreated':
      return record.originTaskId === undefined
        ? submitted(record)
        : {
            kind: 'redriven',
            taskId: record.seq,
            originTaskId: record.originTaskId,
            state: 'WAITING',
            deduplicated: false,
            record: record.seq,
          };
    case 'LeaseExtended': {
      const { lease } = subject;
      invariant(lease !== undefined, 'lease', record.leaseId, 'is not current');
      // The lease is the state's own object: the record that was applied has moved its expiry.
      return heartbeatOk(lease, now, record.seq);
    }
    case 'TaskCompleted':
      return { kind: 'committed', taskState: 'COMPLETED', record: record.seq };
    case 'TaskFailed': {
      const { retryAt } = record;
      const taskState = retryAt === undefined ? 'FAILED' : 'WAITING';
      return { kind: 'committed', taskState, retryAt, record: record.seq };
    }
    case 'TaskDead':
      return { kind: 'committed', taskState: 'DEAD', record: record.seq };
    case 'TaskCancelled': {
      const { row } = subject;
      const reason = lostBecause(state, row, record.leaseId);
      return {
        kind: 'refusal',
        outcome: 'CANCELLED',
        reason,
        detail: `${lostSentence(reason, formatLeaseId(record.leaseId))}: the report was discarded`,
        taskState: state.tasks.state(row),
        record: record.seq,
      };
    }
    default:
      invariant(false, 'no request is answered by a', record.type);
  }
}

const submitted = (record: TaskCreated): Submitted => ({
  kind: 'submitted',
  taskId: record.seq,
  state: 'WAITING',
  queue: record.queue,
  deduplicated: false,
  record: record.seq,
});

/** The same submit came again: the task as it is now, nothing appended (R16). */
export function submittedBefore(state: State, row: number): Submitted {
  return {
    kind: 'submitted',
    taskId: state.tasks.id(row),
    state: state.tasks.state(row),
    queue: state.queueOf(row).name,
    deduplicated: true,
    record: null,
  };
}

/** The task was redriven before: the same new task again (R24). */
export function redrivenBefore(state: State, originTaskId: number, taskId: number): Redriven {
  return {
    kind: 'redriven',
    taskId,
    originTaskId,
    state: state.tasks.state(state.tasks.find(taskId)),
    deduplicated: true,
    record: null,
  };
}

/** A valid heartbeat that lengthens nothing: the lease as it stands (R15). */
export const heartbeatUnchanged = (lease: ActiveLease, now: number): HeartbeatOk =>
  heartbeatOk(lease, now, null);

function heartbeatOk(lease: ActiveLease, now: number, record: number | null): HeartbeatOk {
  return {
    kind: 'heartbeat',
    leaseExpiry: lease.expiry,
    leaseMs: lease.expiry - now,
    executionDeadline: lease.deadline,
    atCap: lease.expiry >= lease.deadline,
    record,
  };
}

/** @returns what a worker is given with a lease; its grant has been applied. */
export function leaseOf(context: Context, grant: LeaseGranted, row: number, now: number): Lease {
  const { knobs } = context;
  const task = recordAt(context, grant.taskId, 'TaskCreated');
  // Told as a duration, too: the worker's clock need not agree with the coordinator's.
  const leaseMs = grant.leaseExpiry - now;
  return {
    taskId: grant.taskId,
    leaseId: grant.seq,
    queue: task.queue,
    attempt: grant.attempt,
    maxRetries: task.retryPolicy.maxRetries,
    previous: grant.attempt === 1 ? undefined : previousAttempt(context, grant, row),
    metadata: task.metadata,
    payload: task.payload,
    leaseExpiry: grant.leaseExpiry,
    leaseMs,
    executionDeadline: grant.grantedAt + task.executionWindowMs,
    heartbeatIntervalMs: Math.min(knobs.heartbeatIntervalMs, Math.max(1, Math.floor(leaseMs / 3))),
    createdAt: task.at,
  };
}

function previousAttempt(context: Context, grant: LeaseGranted, row: number): PreviousAttempt {
  const last = context.state.histories.get(row)?.leases.at(-1);
  invariant(last !== undefined, 'attempt', grant.attempt, 'of', grant.taskId, 'has none before it');
  const before = recordAt(context, last.leaseId, 'LeaseGranted');
  const end = context.read(last.endRecord);
  invariant(end !== undefined, 'record', last.endRecord, 'is missing');
  return {
    attempt: before.attempt,
    leaseId: last.leaseId,
    workerId: before.workerId,
    // No other end is possible here: a task that completed or was killed is not granted again.
    ended:
      end.type === 'TaskFailed' ? (last.ended === 'released' ? 'released' : 'failed') : 'expired',
    at: end.at,
    reason: end.type === 'TaskFailed' ? end.failureReason : undefined,
  };
}
