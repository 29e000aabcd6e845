// Owns the making of the records about leases: which task is granted next, how long a lease lasts,
// LeaseGranted, LeaseExtended and LeaseExpired. Pure decision logic, not an authority (R27).

import {
  type LeaseExpired,
  type LeaseExtended,
  type LeaseGranted,
  poisonReason,
  type TaskDead,
} from '../model/records.ts';
import type { LeaseRequest } from '../model/request.ts';
import type { EmptyReason } from '../model/response.ts';
import type { Context } from './context.ts';
import type { ActiveLease } from './leases.ts';
import { before } from './queue.ts';
import { type Subject, subjectAt } from './subject.ts';
import { dead } from './task-manager.ts';
import { NONE } from './task-table.ts';

/** A record that is to be decided, and what it is about. */
export interface NextGrant {
  readonly record: LeaseGranted | TaskDead;
  readonly subject: Subject;
}

/**
 * The next step of a lease request: a LeaseGranted, or the TaskDead of a task whose expiries in a
 * row have reached the poison threshold. The TaskDead is the coordinator's own step: the request
 * goes on with the next task.
 * @returns undefined when no task of the queues is eligible.
 */
export function nextGrant(
  context: Context,
  request: LeaseRequest,
  now: number,
): NextGrant | undefined {
  const { state, knobs } = context;
  const row = firstEligible(context, request.queues, now);
  if (row === NONE) return undefined;
  const subject = subjectAt(row);
  // At a grant and not at the last expiry: time alone ends no task (R13, R23).
  if (isPoisoned(context, row, knobs.poisonThreshold)) {
    const inRow = state.histories.get(row)?.expirationsInRow ?? 0;
    return { record: dead(context, subject, poisonReason(inRow), now), subject };
  }
  const window = state.contracts.at(state.tasks.contract(row)).executionWindowMs;
  const record: LeaseGranted = {
    type: 'LeaseGranted',
    seq: 0,
    at: now,
    prev: state.tasks.last(row),
    taskId: state.tasks.id(row),
    workerId: request.workerId,
    // Only here: an attempt begins with its grant, whatever becomes of it (R13).
    attempt: state.tasks.attempt(row) + 1,
    leaseExpiry: now + Math.min(knobs.leaseDurationMs, window),
    grantedAt: now,
  };
  return { record, subject };
}

/** @returns whether the task's expiries in a row have reached the threshold; 0 = off (R23). */
export function isPoisoned({ state }: Context, row: number, threshold: number): boolean {
  return threshold > 0 && (state.histories.get(row)?.expirationsInRow ?? 0) >= threshold;
}

/** The oldest eligible task over all queues asked for, whatever their order in the request. */
function firstEligible({ state }: Context, queues: readonly string[], now: number): number {
  let first = NONE;
  for (const name of queues) {
    const row = state.contracts.queues.get(name)?.firstEligible(state.tasks, now) ?? NONE;
    if (row !== NONE && (first === NONE || before(state.tasks, row, first))) first = row;
  }
  return first;
}

/**
 * @returns why no task was granted to a worker that has room. A task may have become eligible since
 *   the queues were looked at: then the worker may ask again now.
 */
export function whyEmpty({ state }: Context, queues: readonly string[], now: number): EmptyReason {
  let next = Number.POSITIVE_INFINITY;
  for (const name of queues) {
    next = Math.min(next, state.contracts.queues.get(name)?.nextEligibleAt(state.tasks) ?? next);
  }
  if (next === Number.POSITIVE_INFINITY) return { reason: 'no_task' };
  return { reason: 'not_yet_eligible', nextEligibleAt: Math.max(next, now) };
}

/**
 * A valid heartbeat: the lease lasts a full duration from now, but not beyond the execution
 * window.
 * @returns undefined when the lease would not become longer (same millisecond, or at the cap).
 */
export function extended(
  { state, knobs }: Context,
  lease: ActiveLease,
  now: number,
): LeaseExtended | undefined {
  // Counted from now: many heartbeats at once lengthen the lease no more than one (R8).
  const newLeaseExpiry = Math.min(now + knobs.leaseDurationMs, lease.deadline);
  if (newLeaseExpiry <= lease.expiry) return undefined;
  return {
    type: 'LeaseExtended',
    seq: 0,
    at: now,
    prev: lease.lastExtension === 0 ? lease.leaseId : lease.lastExtension,
    taskId: state.tasks.id(lease.row),
    leaseId: lease.leaseId,
    newLeaseExpiry,
  };
}

/** Compared as check.ts compares (R4): two checks must not disagree by a millisecond. */
export const isOver = (lease: ActiveLease, now: number): boolean => now >= lease.expiry;

/**
 * The coordinator's own step, written once for each lease. An expiry that was only implied could
 * turn a CANCELLED report into a COMMITTED one after a restart (R7).
 */
export function expired({ state }: Context, lease: ActiveLease, now: number): LeaseExpired {
  return {
    type: 'LeaseExpired',
    seq: 0,
    at: now,
    prev: state.tasks.last(lease.row),
    taskId: lease.taskId,
    leaseId: lease.leaseId,
    extensions: lease.extensions,
    lastExtension: lease.lastExtension,
  };
}
