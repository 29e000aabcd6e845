// Owns the state machine as data: which record may happen to a task in which state, to which state
// it leads, on which condition, and by which rule. A record without a row is refused. check.ts
// decides from this table, and docs/STATES.md is made from it.

import { invariant } from './assert.ts';
import type { LogRecord, RecordType } from './records.ts';
import type { TaskStateName } from './request.ts';

export type From = TaskStateName | 'NONE';

export interface Transition {
  readonly from: From;
  readonly record: RecordType;
  readonly to: TaskStateName;
  readonly when: string;
  /** What the row follows from, in words that need no other document. */
  readonly rule: string;
  /** Of a record with two ways out of the state, whether it goes this one. Absent: it has one. */
  readonly takes?: (record: LogRecord) => boolean;
}

const row = (
  from: From,
  record: RecordType,
  to: TaskStateName,
  when: string,
  rule: string,
  takes?: (record: LogRecord) => boolean,
): Transition => ({ from, record, to, when, rule, ...(takes && { takes }) });

const isRetried = (record: LogRecord): boolean =>
  record.type === 'TaskFailed' && record.retryAt !== undefined;

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
    'only a grant raises the attempt; no task is granted before its delay or backoff is over',
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
    'when the time of a lease is over, this is written before anything else about its task',
  ),
  row(
    'LEASED',
    'TaskCompleted',
    'COMPLETED',
    owned,
    'only the holder of a valid lease completes a task',
  ),
  row(
    'LEASED',
    'TaskFailed',
    'WAITING',
    `${owned}; retries are left, or it is given back`,
    'a failure uses one retry and waits for the backoff; an attempt that is given back uses none',
    isRetried,
  ),
  row(
    'LEASED',
    'TaskFailed',
    'FAILED',
    `${owned}; none left, or permanent`,
    'only the report of a worker fails a task; the end of a lease never does',
    (record) => !isRetried(record),
  ),
  row('LEASED', 'TaskCancelled', 'LEASED', late, lateRule),
  // From LEASED, too: else a poison task that is leased again at once could not be killed (R22).
  row(
    'LEASED',
    'TaskDead',
    'DEAD',
    'killed',
    'a kill ends the task and not the worker; a later report of that worker is CANCELLED',
  ),
  // No record leads out of a final state: a redrive makes a new task instead (R24).
  row('COMPLETED', 'TaskCancelled', 'COMPLETED', late, lateRule),
  row('FAILED', 'TaskCancelled', 'FAILED', late, lateRule),
  row('DEAD', 'TaskCancelled', 'DEAD', late, lateRule),
];

/** A transition's place in the table as a letter, so that it is the same wherever it is shown. */
export const letterOf = (transition: Transition): string =>
  String.fromCharCode('a'.charCodeAt(0) + TRANSITIONS.indexOf(transition));

// A map of maps, not one map with joined keys: each record is looked up here, and joining the key
// would be the costliest part of the look-up.
const TABLE = new Map<From, Map<RecordType, readonly Transition[]>>();
for (const transition of TRANSITIONS) {
  const cells = TABLE.get(transition.from) ?? new Map<RecordType, readonly Transition[]>();
  TABLE.set(transition.from, cells);
  cells.set(transition.record, [...(cells.get(transition.record) ?? []), transition]);
}

/** @returns what the record makes of a task in this state; undefined: it cannot happen there. */
export function transitionOf(from: From, record: LogRecord): Transition | undefined {
  const cell = TABLE.get(from)?.get(record.type);
  return cell?.length === 1 ? cell[0] : cell?.find((one) => takes(one, record));
}

/**
 * The transition of a record whose task's earlier records may be missing. Most records tell by
 * themselves in which state their task was.
 * @param tracked the state after those earlier records that are there
 * @param record one about a task
 */
export function transitionAfter(tracked: From, record: LogRecord): Transition {
  const ways = TRANSITIONS.filter((one) => one.record === record.type && takes(one, record));
  const [way] = ways;
  invariant(way !== undefined, 'a', record.type, 'is about no task');
  return ways.find(({ from }) => from === tracked) ?? way;
}

const takes = (transition: Transition, record: LogRecord): boolean =>
  transition.takes === undefined || transition.takes(record);
