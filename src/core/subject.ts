// Owns the look-up of the task and the lease that a request or a record names. It is done once,
// and the result is handed to validate, choose, check, apply and respond. A subject is true until
// the next record is applied; after that it still names the earlier row and lease.

import type { LogRecord } from '../model/records.ts';
import type { Request } from '../model/request.ts';
import type { Digest } from './digest-index.ts';
import type { EndedLease } from './history.ts';
import type { ActiveLease } from './leases.ts';
import type { State } from './state.ts';
import { NONE } from './task-table.ts';

export interface Subject {
  /** Row of the task, or of the origin of a redriven one; NONE: no such task is remembered. */
  readonly row: number;
  /** The task's current lease, whether it is the one that is named or not. */
  readonly lease: ActiveLease | undefined;
  /** The lease that is named, when it was granted for this task and is over. */
  readonly ended: EndedLease | undefined;
  /** Digest of the request id of a submit. */
  readonly digest: Digest | undefined;
  /** Row of the task that was submitted under that request id before, or NONE. */
  readonly submitted: number;
}

/** The subject of what names no task. */
export const NO_SUBJECT: Subject = {
  row: NONE,
  lease: undefined,
  ended: undefined,
  digest: undefined,
  submitted: NONE,
};

/** @returns what a request names; everything it does not name is absent. */
export function subjectOfRequest(state: State, request: Request): Subject {
  switch (request.op) {
    case 'submit':
      return ofNewTask(state, request.requestId, undefined);
    case 'heartbeat':
    case 'complete':
    case 'fail':
      return ofTask(state, request.taskId, request.leaseId);
    case 'kill':
    case 'redrive':
    case 'task':
    case 'standing':
      return ofTask(state, request.taskId);
    default:
      return NO_SUBJECT;
  }
}

/** @returns what a record names, in the state before it. */
export function subjectOfRecord(state: State, record: LogRecord): Subject {
  switch (record.type) {
    case 'TaskCreated':
      return ofNewTask(state, record.requestId, record.originTaskId);
    case 'LeaseGranted':
    case 'TaskDead':
      return ofTask(state, record.taskId);
    case 'CoordinatorStarted':
    case 'HistoryForgotten':
      return NO_SUBJECT;
    default:
      return ofTask(state, record.taskId, record.leaseId);
  }
}

/** @returns the subject of a record about this row, which has this current lease or none. */
export const subjectAt = (row: number, lease?: ActiveLease): Subject => ({
  row,
  lease,
  ended: undefined,
  digest: undefined,
  submitted: NONE,
});

function ofTask(state: State, taskId: number, leaseId?: number): Subject {
  const row = state.tasks.find(taskId);
  if (row === NONE) return NO_SUBJECT;
  const isLeased = state.tasks.state(row) === 'LEASED';
  const lease = isLeased ? state.leases.get(state.tasks.leaseId(row)) : undefined;
  const isOver = leaseId !== undefined && leaseId !== lease?.leaseId;
  const ended = isOver ? state.endedLease(row, leaseId) : undefined;
  return { row, lease, ended, digest: undefined, submitted: NONE };
}

function ofNewTask(state: State, requestId?: string, originTaskId?: number): Subject {
  if (requestId === undefined && originTaskId === undefined) return NO_SUBJECT;
  const digest = requestId === undefined ? undefined : state.digestText(requestId);
  return {
    row: originTaskId === undefined ? NONE : state.tasks.find(originTaskId),
    lease: undefined,
    ended: undefined,
    digest,
    submitted: digest === undefined ? NONE : state.submittedUnder(digest),
  };
}
