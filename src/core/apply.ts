// Owns every change of the state: no other file writes it. Applying is deterministic and
// sequential: the meaning of a record depends only on the records before it. Callers check()
// first. Where records are gone, replay calls replay-gaps.ts instead.

import { assertNever, invariant } from '../model/assert.ts';
import type {
  LeaseExpired,
  LeaseExtended,
  LeaseGranted,
  LogRecord,
  TaskCancelled,
  TaskCompleted,
  TaskCreated,
  TaskDead,
  TaskFailed,
} from '../model/records.ts';
import { check } from './check.ts';
import { countRecord } from './counters.ts';
import { digestOf } from './digest-index.ts';
import { forgetTasks, isJump } from './forgetting.ts';
import {
  type EndedLease,
  endedByReport,
  endedSilently,
  newHistory,
  placeOf,
  type TaskHistory,
} from './history.ts';
import type { ActiveLease } from './leases.ts';
import { weigh } from './log-bytes.ts';
import { countFailure } from './retry-policy.ts';
import type { State } from './state.ts';
import { type Subject, subjectOfRecord } from './subject.ts';

/** Folds a record into the state. @throws InvariantBroken when check() refuses it. */
export function apply(state: State, record: LogRecord): void {
  const subject = subjectOfRecord(state, record);
  const refused = check(state, record, subject);
  invariant(refused === undefined, 'record', record.seq, record.type, 'cannot be:', refused);
  applyChecked(state, record, subject);
}

/** Folds a record that check() has passed on this very state, with this subject. */
export function applyChecked(
  state: State,
  record: LogRecord,
  subject: Subject = subjectOfRecord(state, record),
): void {
  if (isJump(state, record)) state.jumpedAt = record.at;
  state.lastSeq = record.seq;
  state.lastAt = record.at;
  countRecord(state, record, subject);
  if (record.type === 'TaskCreated') {
    weigh(state, record, applyCreated(state, record, subject));
  } else {
    fold(state, record, subject);
    weigh(state, record, subject.row);
  }
}

function fold(state: State, record: Exclude<LogRecord, TaskCreated>, subject: Subject): void {
  switch (record.type) {
    case 'LeaseGranted':
      return applyGranted(state, record, subject);
    case 'LeaseExtended':
      return applyExtended(state, record, subject);
    case 'LeaseExpired':
      return applyExpired(state, record, subject);
    case 'TaskCompleted':
      return applyCompleted(state, record, subject);
    case 'TaskFailed':
      return applyFailed(state, record, subject);
    case 'TaskCancelled':
      return applyCancelled(state, record, subject);
    case 'TaskDead':
      return applyDead(state, record, subject);
    case 'CoordinatorStarted':
      state.starts.push(record.seq);
      return;
    case 'HistoryForgotten':
      return forgetTasks(state, record);
    default:
      assertNever(record);
  }
}

/** @returns the new task's row. */
function applyCreated(state: State, record: TaskCreated, { digest }: Subject): number {
  const row = state.tasks.add(record.seq, state.contracts.join(record).index);
  wait(state, row, Math.max(record.at, record.notBefore ?? 0), record);
  if (record.requestId !== undefined) {
    invariant(digest !== undefined, 'the request id of task', record.seq, 'has no digest');
    const content = record.contentHash ?? new Uint8Array(16);
    state.requestIds.add(digest, row, digestOf(content));
  }
  if (record.originTaskId !== undefined) {
    state.redrivenAs.set(record.originTaskId, record.seq);
    state.originOf.set(record.seq, record.originTaskId);
  }
  return row;
}

function applyGranted(state: State, record: LeaseGranted, { row }: Subject): void {
  const history = state.histories.get(row);
  if (history !== undefined) history.records += 1;
  const contract = state.contracts.at(state.tasks.contract(row));
  contract.queue.remove(state.tasks, row);
  count(state, row, -1);
  state.tasks.setLeased(row, record.seq, record.attempt);
  count(state, row, 1);
  state.tasks.setLast(row, record.seq);
  state.leases.add({
    leaseId: record.seq,
    taskId: record.taskId,
    row,
    workerId: record.workerId,
    attempt: record.attempt,
    grantedAt: record.grantedAt,
    deadline: record.grantedAt + contract.executionWindowMs,
    expiry: record.leaseExpiry,
    extensions: 0,
    lastExtension: 0,
    place: 0,
  });
}

function applyExtended(state: State, record: LeaseExtended, subject: Subject): void {
  const { row } = subject;
  state.leases.extend(leaseOf(subject), record.newLeaseExpiry, record.seq);
  const history = state.histories.get(row);
  if (history !== undefined) history.records += 1;
}

function applyExpired(state: State, record: LeaseExpired, subject: Subject): void {
  const { row } = subject;
  const history = endLease(state, subject, endedSilently(record.leaseId, 'expired', record.seq));
  history.expirations += 1;
  history.expirationsInRow += 1;
  count(state, row, -1);
  wait(state, row, record.at, record);
}

function applyCompleted(state: State, record: TaskCompleted, subject: Subject): void {
  const { row } = subject;
  const history = state.histories.get(row);
  state.leases.remove(leaseOf(subject));
  if (history !== undefined) {
    history.records += 1;
    history.expirationsInRow = 0;
  }
  count(state, row, -1);
  state.tasks.setEnded(row, 'COMPLETED', record.leaseId, record.seq);
  count(state, row, 1);
  state.tasks.setLast(row, record.seq);
  state.ended.completed.push(state.tasks, row);
}

function applyFailed(state: State, record: TaskFailed, subject: Subject): void {
  const { row } = subject;
  const ended = record.kind === 'released' ? 'released' : 'failed';
  const history = endLease(state, subject, endedByReport(record.leaseId, ended, record.seq));
  Object.assign(history, countFailure(history, record.kind));
  history.expirationsInRow = 0;
  history.lastFailure = record.seq;
  const { retryAt } = record;
  if (retryAt === undefined) {
    end(state, row, 'FAILED', record.leaseId, record.seq);
  } else {
    count(state, row, -1);
    wait(state, row, retryAt, record);
  }
}

function applyCancelled(state: State, record: TaskCancelled, { row }: Subject): void {
  const history = state.histories.get(row);
  invariant(history !== undefined, 'task', record.taskId, 'has no ended lease');
  const place = placeOf(history, record.leaseId);
  const lease = history.leases[place] as EndedLease;
  history.leases[place] = {
    ...lease,
    outcome: 'CANCELLED',
    report: record.report,
    reportRecord: record.seq,
  };
  history.records += 1;
  state.tasks.setLast(row, record.seq);
}

function applyDead(state: State, record: TaskDead, subject: Subject): void {
  const { row } = subject;
  const leaseId = state.newestLease(row);
  if (state.tasks.state(row) === 'LEASED') {
    endLease(state, subject, endedSilently(leaseId, 'killed', record.seq));
  } else {
    const history = state.histories.get(row);
    if (history !== undefined) history.records += 1;
    state.queueOf(row).remove(state.tasks, row);
    state.tasks.setLast(row, record.seq);
  }
  end(state, row, 'DEAD', leaseId, record.seq);
}

function end(state: State, row: number, to: 'FAILED' | 'DEAD', lease: number, record: number) {
  count(state, row, -1);
  state.tasks.setEnded(row, to, lease, record);
  count(state, row, 1);
  state.ended.failed.push(state.tasks, row);
}

/** The current lease is over: it moves to the task's history, which begins with it if need be. */
function endLease(state: State, subject: Subject, ended: EndedLease): TaskHistory {
  const { row } = subject;
  const lease = leaseOf(subject);
  state.leases.remove(lease);
  let history = state.histories.get(row);
  if (history === undefined) {
    // TaskCreated, LeaseGranted and the extensions of a first lease.
    history = newHistory(2 + lease.extensions);
    state.histories.set(row, history);
  }
  history.leases.push(ended);
  history.records += 1;
  state.tasks.setLast(row, ended.endRecord);
  return history;
}

/** The task is WAITING now: it gets its place in its queue's order. */
function wait(state: State, row: number, eligibleAt: number, record: LogRecord): void {
  state.tasks.setWaiting(row, eligibleAt, record.seq);
  const queue = state.queueOf(row);
  if (eligibleAt > record.at) queue.delay(state.tasks, row);
  else queue.append(state.tasks, row);
  count(state, row, 1);
}

/** Keeps the counts by state and queue: -1 before a task's state changes, 1 after it. */
function count(state: State, row: number, by: 1 | -1): void {
  const { counts } = state.queueOf(row);
  const index = state.tasks.stateIndex(row);
  counts[index] = (counts[index] as number) + by;
}

function leaseOf({ row, lease }: Subject): ActiveLease {
  invariant(lease !== undefined, 'the task in row', row, 'has no current lease');
  return lease;
}
