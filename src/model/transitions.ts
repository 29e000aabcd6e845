// Owns the state machine as data: which record may happen to a task in which state, where it leads,
// on which condition, and by which rule. A missing row is a refusal. check.ts decides from this
// table and docs/STATES.md is made from it.

import type { RecordType } from './records.ts';
import type { TaskStateName } from './request.ts';

export type From = TaskStateName | 'NONE';

export interface Transition {
  readonly from: From;
  readonly record: RecordType;
  readonly to: TaskStateName;
  readonly when: string;
  /** What the row follows from, in words that need no other document. */
  readonly rule: string;
}

const row = (
  from: From,
  record: RecordType,
  to: TaskStateName,
  when: string,
  rule: string,
): Transition => ({ from, record, to, when, rule });

const late = 'the lease was granted for this task, is not current and has no outcome yet';
const owned = 'the lease is the current one and now < lease_expiry';
const lateRule = 'a report without authority is recorded, once for each lease, and decides nothing';

export const TRANSITIONS: readonly Transition[] = [
  row(
    'NONE',
    'TaskCreated',
    'WAITING',
    'the task did not exist',
    'a task begins with this record, which holds all that its submitter said',
  ),
  row(
    'WAITING',
    'LeaseGranted',
    'LEASED',
    'attempt = attempt before + 1 and now >= eligible_at',
    'nothing but a grant raises the attempt; a delay and a backoff are waited for',
  ),
  row('WAITING', 'TaskCancelled', 'WAITING', late, lateRule),
  row(
    'WAITING',
    'TaskDead',
    'DEAD',
    'killed, or too many expiries in a row',
    'a kill is for good; a task whose leases ran out too often in a row is not granted again',
  ),
  row(
    'LEASED',
    'LeaseExtended',
    'LEASED',
    `${owned}; the new expiry is later and not beyond granted_at + execution_window`,
    'a heartbeat is recorded when it lengthens the lease, and never beyond the execution window',
  ),
  row(
    'LEASED',
    'LeaseExpired',
    'WAITING',
    'the lease is the current one and now >= lease_expiry',
    'the end of a lease by time is written before anything else is decided about its task',
  ),
  row(
    'LEASED',
    'TaskCompleted',
    'COMPLETED',
    owned,
    'nobody but the holder of a valid lease completes a task',
  ),
  row(
    'LEASED',
    'TaskFailed',
    'WAITING',
    `${owned}; retries are left, or it is given back`,
    'a failure uses one retry and waits for the backoff; an attempt that is given back uses none',
  ),
  row(
    'LEASED',
    'TaskFailed',
    'FAILED',
    `${owned}; none left, or permanent`,
    'time alone never fails a task: the report of a worker does',
  ),
  row('LEASED', 'TaskCancelled', 'LEASED', late, lateRule),
  row(
    'LEASED',
    'TaskDead',
    'DEAD',
    'killed',
    'a kill ends the task, not the worker, whose later report is CANCELLED',
  ),
  row('COMPLETED', 'TaskCancelled', 'COMPLETED', late, lateRule),
  row('FAILED', 'TaskCancelled', 'FAILED', late, lateRule),
  row('DEAD', 'TaskCancelled', 'DEAD', late, lateRule),
];

const NONE_OF_THEM: readonly Transition[] = [];

// Two maps, not one with joined keys: each record is looked up here, and joining would be the
// dearest part of it.
const TABLE = new Map<From, Map<RecordType, readonly Transition[]>>();
for (const transition of TRANSITIONS) {
  const cells = TABLE.get(transition.from) ?? new Map<RecordType, readonly Transition[]>();
  TABLE.set(transition.from, cells);
  cells.set(transition.record, [...(cells.get(transition.record) ?? []), transition]);
}

/** @returns the possible transitions of a cell; empty: the record cannot happen in this state. */
export const transitionsFrom = (from: From, record: RecordType): readonly Transition[] =>
  TABLE.get(from)?.get(record) ?? NONE_OF_THEM;
