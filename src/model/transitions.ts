// Owns the state machine as data: which record may happen to a task in which state, where it leads,
// on which condition, and which requirement says so. A missing row is a refusal. check.ts decides
// from this table and docs/STATES.md is made from it.

import type { RecordType } from './records.ts';
import type { TaskStateName } from './request.ts';

export type From = TaskStateName | 'NONE';

export interface Transition {
  readonly from: From;
  readonly record: RecordType;
  readonly to: TaskStateName;
  readonly when: string;
  /** Where it comes from: S1 state & authority, S2 loop, S3 product, S4 records; R: rulings. */
  readonly requirement: string;
}

const row = (
  from: From,
  record: RecordType,
  to: TaskStateName,
  when: string,
  requirement: string,
): Transition => ({ from, record, to, when, requirement });

const late = 'the lease was granted for this task, is not current and has no outcome yet';
const owned = 'the lease is the current one and now < lease_expiry';

export const TRANSITIONS: readonly Transition[] = [
  row('NONE', 'TaskCreated', 'WAITING', 'the task did not exist', 'S4 1'),
  row(
    'WAITING',
    'LeaseGranted',
    'LEASED',
    'attempt = attempt before + 1 and now >= eligible_at',
    'S1 4.2, S4 2, R13, R14',
  ),
  row('WAITING', 'TaskCancelled', 'WAITING', late, 'S1 4.6, S4 4, R10, R11'),
  row('WAITING', 'TaskDead', 'DEAD', 'killed, or too many expiries in a row', 'S4 6, R22, R23'),
  row(
    'LEASED',
    'LeaseExtended',
    'LEASED',
    `${owned}; the new expiry is later and not beyond granted_at + execution_window`,
    'S1 4.3, S4 3, R8, R15',
  ),
  row(
    'LEASED',
    'LeaseExpired',
    'WAITING',
    'the lease is the current one and now >= lease_expiry',
    'S1 4.4, S4 5, R4, R7',
  ),
  row('LEASED', 'TaskCompleted', 'COMPLETED', owned, 'S1 4.5, S4 2'),
  row(
    'LEASED',
    'TaskFailed',
    'WAITING',
    `${owned}; retries are left, or it is given back`,
    'S4 3, R12, R13, R14',
  ),
  row('LEASED', 'TaskFailed', 'FAILED', `${owned}; none left, or permanent`, 'S4 3, R12, R13a'),
  row('LEASED', 'TaskCancelled', 'LEASED', late, 'S1 4.6, S4 4, R10, R11'),
  row('LEASED', 'TaskDead', 'DEAD', 'killed', 'S4 6, R22'),
  row('COMPLETED', 'TaskCancelled', 'COMPLETED', late, 'S1 4.6, R10, R11'),
  row('FAILED', 'TaskCancelled', 'FAILED', late, 'S1 4.6, R10, R11'),
  row('DEAD', 'TaskCancelled', 'DEAD', late, 'S1 4.6, R10, R11, R22'),
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
