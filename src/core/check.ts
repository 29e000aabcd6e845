// Owns the question whether a record may happen now. The loop asks it before each append, and
// replay asks it of each record that it reads. Both must ask the same function: a record that was
// appended and that replay refuses would stop every later start. It changes nothing.

import { assertNever } from '../model/assert.ts';
import type { LogRecord, TaskFailed } from '../model/records.ts';
import { FORMAT_VERSION } from '../model/records.ts';
import type { TaskStateName } from '../model/request.ts';
import { transitionOf } from '../model/transitions.ts';
import { newHistory } from './history.ts';
import type { ActiveLease } from './leases.ts';
import { countFailure, retryAt } from './retry-policy.ts';
import type { State } from './state.ts';
import { type Subject, subjectOfRecord } from './subject.ts';
import { NONE } from './task-table.ts';

/**
 * @param subject what the record names in this state
 * @returns why the record cannot be the next one; undefined when it can. `record.seq` must be set.
 */
export function check(
  state: State,
  record: LogRecord,
  subject: Subject = subjectOfRecord(state, record),
): string | undefined {
  // Time never runs back (R6). The order of a queue, the order of ended tasks and every search by
  // time rest on it: a later record is not earlier.
  if (record.at < state.lastAt) return `at ${record.at} is before the previous ${state.lastAt}`;
  if (record.seq <= state.lastSeq) return `number ${record.seq} does not follow ${state.lastSeq}`;
  if (record.type === 'CoordinatorStarted') {
    if (record.formatVersion > FORMAT_VERSION) {
      return `format ${record.formatVersion} is newer than this build's ${FORMAT_VERSION}`;
    }
    return record.prev === 0 ? undefined : 'prev of a record about no task is not 0';
  }
  // Only a start may leave numbers free: a restored log begins with one, behind a gap (R35).
  if (record.seq !== state.lastSeq + 1) return `number does not follow ${state.lastSeq}`;
  if (record.type === 'HistoryForgotten') {
    return record.prev === 0 ? undefined : 'prev of a record about no task is not 0';
  }
  if (record.type === 'TaskCreated') return checkCreated(state, record, subject);
  const { row } = subject;
  if (row === NONE) return `task ${record.taskId} does not exist`;
  if (state.tasks.id(row) !== record.taskId) return `it is about another task, in row ${row}`;
  const from = state.tasks.state(row);
  if (transitionOf(from, record) === undefined) return `the task is ${from}`;
  return checkPrev(state, record, subject) ?? checkCondition(state, record, subject);
}

function checkCreated(
  state: State,
  record: Extract<LogRecord, { type: 'TaskCreated' }>,
  { row, digest, submitted }: Subject,
): string | undefined {
  if (record.prev !== 0) return 'prev of a TaskCreated is not 0';
  if (record.requestId !== undefined && digest === undefined) return 'nobody looked its id up';
  if (submitted !== NONE) return 'its request id is remembered already';
  const origin = record.originTaskId;
  if (origin === undefined) return undefined;
  // One redrive for each origin, so that a repeated one makes no second task (R24).
  if (state.redrivenAs.has(origin)) return `task ${origin} was redriven before`;
  // The origin's records may be gone from the log before those of the task redriven from it.
  if (row === NONE) {
    return state.removed.has(origin) ? undefined : `its origin ${origin} does not exist`;
  }
  if (state.tasks.id(row) !== origin) return `its origin is another task, in row ${row}`;
  const was: TaskStateName = state.tasks.state(row);
  return was === 'FAILED' || was === 'DEAD' ? undefined : `its origin is ${was}`;
}

type TaskRecord = Exclude<
  LogRecord,
  { type: 'TaskCreated' | 'CoordinatorStarted' | 'HistoryForgotten' }
>;

function checkPrev(state: State, record: TaskRecord, subject: Subject): string | undefined {
  // A break in the chain shows that a record of the task is missing (R3). Extensions have a chain
  // of their own, so that a task's history can be read without passing each of them.
  let expected = state.tasks.last(subject.row);
  if (record.type === 'LeaseExtended') {
    const { lease } = subject;
    if (lease?.leaseId !== record.leaseId) return notCurrent(record.leaseId);
    expected = lease.lastExtension === 0 ? lease.leaseId : lease.lastExtension;
  }
  return record.prev === expected ? undefined : `prev is ${record.prev}, expected ${expected}`;
}

function checkCondition(
  state: State,
  record: TaskRecord,
  { row, lease, ended }: Subject,
): string | undefined {
  const { tasks } = state;
  switch (record.type) {
    case 'LeaseGranted': {
      const attempt = tasks.attempt(row) + 1;
      if (record.attempt !== attempt) return `attempt ${record.attempt}, expected ${attempt}`;
      if (record.grantedAt < tasks.eligibleAt(row)) return 'the task is not eligible yet';
      // The lease duration is a knob that no record holds, and the next start may have another one.
      // So a replay can hold the expiry to its bounds only.
      if (record.leaseExpiry <= record.grantedAt) return 'the lease ends before it begins';
      const window = state.contracts.at(tasks.contract(row)).executionWindowMs;
      return record.leaseExpiry <= record.grantedAt + window
        ? undefined
        : 'the lease ends beyond the execution window';
    }
    case 'TaskCancelled': {
      if (record.leaseId === lease?.leaseId) return 'the lease is the current one';
      if (ended === undefined) return `lease ${record.leaseId} was never granted for the task`;
      // A lease has one outcome at most, so a repeated late report leaves no second record (R11).
      return ended.outcome === undefined ? undefined : 'the lease has an outcome already';
    }
    case 'TaskDead':
      return checkEnd(lease, record);
    case 'LeaseExtended':
    case 'LeaseExpired':
    case 'TaskCompleted':
    case 'TaskFailed': {
      if (record.leaseId !== lease?.leaseId) {
        return notCurrent(record.leaseId);
      }
      return checkOwned(state, lease, record);
    }
    default:
      return assertNever(record);
  }
}

type OwnedRecord = Extract<
  TaskRecord,
  { type: 'LeaseExtended' | 'LeaseExpired' | 'TaskCompleted' | 'TaskFailed' }
>;

function checkOwned(state: State, lease: ActiveLease, record: OwnedRecord): string | undefined {
  const over = record.at >= lease.expiry;
  if (record.type === 'LeaseExpired') {
    return over ? checkEnd(lease, record) : `the lease lasts until ${lease.expiry}`;
  }
  if (over) return `the lease expired at ${lease.expiry}`;
  if (record.type === 'LeaseExtended') {
    if (record.newLeaseExpiry <= lease.expiry) return 'the new expiry is not later';
    return record.newLeaseExpiry <= lease.deadline
      ? undefined
      : 'the new expiry is beyond the execution window';
  }
  return (
    checkEnd(lease, record) ??
    (record.type === 'TaskFailed' ? checkRetry(state, lease, record) : undefined)
  );
}

function checkRetry(state: State, lease: ActiveLease, record: TaskFailed): string | undefined {
  const policy = state.contracts.at(state.tasks.contract(lease.row)).retryPolicy;
  const counts = countFailure(state.histories.get(lease.row) ?? newHistory(0), record.kind);
  const expected = retryAt(policy, record.kind, lease.attempt, counts, record.at);
  return record.retryAt === expected
    ? undefined
    : `retry_at is ${record.retryAt}, the retry policy says ${expected}`;
}

/**
 * The record that ends a lease says how often the lease was extended; without a lease it says 0.
 */
function checkEnd(
  lease: ActiveLease | undefined,
  record: { extensions: number; lastExtension: number },
): string | undefined {
  return record.extensions === (lease?.extensions ?? 0) &&
    record.lastExtension === (lease?.lastExtension ?? 0)
    ? undefined
    : `tells of ${record.extensions} extensions, the lease had ${lease?.extensions ?? 0}`;
}

const notCurrent = (leaseId: number): string => `lease ${leaseId} is not the current one`;
