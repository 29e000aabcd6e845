// Owns the shapes of the reference model: tasks and leases as the requirements describe them, as
// plain objects that are never changed, only replaced. Nothing of the product but types is used.

import type { FailureKind, ReportVerb, RetryPolicy } from '../../../src/model/records.ts';
import type { TaskStateName } from '../../../src/model/request.ts';

export interface ModelLease {
  readonly id: number;
  readonly workerId: string;
  readonly attempt: number;
  readonly grantedAt: number;
  readonly deadline: number;
  readonly expiry: number;
  readonly extensions: number;
  readonly lastExtension: number;
  readonly end: 'expired' | 'completed' | 'failed' | 'released' | 'killed' | undefined;
  readonly endAt: number;
  readonly reason: string | undefined;
  readonly outcome: 'COMMITTED' | 'CANCELLED' | undefined;
  readonly report: ReportVerb | undefined;
  readonly reportRecord: number;
}

export interface ModelTask {
  readonly id: number;
  readonly queue: string;
  readonly payload: Uint8Array;
  readonly windowMs: number;
  readonly policy: RetryPolicy;
  readonly requestId: string | undefined;
  readonly contentHash: Uint8Array | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly createdAt: number;
  readonly origin: number | undefined;
  readonly redrivenAs: number | undefined;
  readonly state: TaskStateName;
  readonly attempt: number;
  readonly eligibleAt: number;
  /** The record that made it WAITING. */
  readonly place: number;
  readonly leases: readonly ModelLease[];
  readonly last: number;
  readonly records: number;
  readonly expirations: number;
  readonly expirationsInRow: number;
  readonly failures: number;
  readonly released: number;
  readonly releasedInRow: number;
  readonly lastFailure: Failure | undefined;
  readonly deadReason: string | undefined;
  readonly endRecord: number;
  readonly endAt: number;
  readonly result: Uint8Array | undefined;
}

export interface Failure {
  readonly record: number;
  readonly reason: string;
  readonly kind: FailureKind;
  readonly retryAt: number | undefined;
}

export const isOver = (task: ModelTask): boolean =>
  task.state !== 'WAITING' && task.state !== 'LEASED';

export const newestLease = (task: ModelTask): ModelLease | undefined => task.leases.at(-1);

/** @returns the lease that owns the task now. */
export const heldLease = (task: ModelTask): ModelLease | undefined =>
  task.state === 'LEASED' ? task.leases.at(-1) : undefined;

/** A copy in the making, which nobody else knows yet. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** Field by field: spreading costs a multiple, and this is done for every record. */
export const copyOf = (task: ModelTask): Draft<ModelTask> => ({
  id: task.id,
  queue: task.queue,
  payload: task.payload,
  windowMs: task.windowMs,
  policy: task.policy,
  requestId: task.requestId,
  contentHash: task.contentHash,
  metadata: task.metadata,
  createdAt: task.createdAt,
  origin: task.origin,
  redrivenAs: task.redrivenAs,
  state: task.state,
  attempt: task.attempt,
  eligibleAt: task.eligibleAt,
  place: task.place,
  leases: task.leases,
  last: task.last,
  records: task.records,
  expirations: task.expirations,
  expirationsInRow: task.expirationsInRow,
  failures: task.failures,
  released: task.released,
  releasedInRow: task.releasedInRow,
  lastFailure: task.lastFailure,
  deadReason: task.deadReason,
  endRecord: task.endRecord,
  endAt: task.endAt,
  result: task.result,
});

/** Gives a draft a newest lease of its own, which may be written to. */
export function draftNewestLease(draft: Draft<ModelTask>): Draft<ModelLease> {
  const leases = draft.leases.slice();
  const lease = copyOfLease(leases[leases.length - 1] as ModelLease);
  leases[leases.length - 1] = lease;
  draft.leases = leases;
  return lease;
}

export const copyOfLease = (lease: ModelLease): Draft<ModelLease> => ({
  id: lease.id,
  workerId: lease.workerId,
  attempt: lease.attempt,
  grantedAt: lease.grantedAt,
  deadline: lease.deadline,
  expiry: lease.expiry,
  extensions: lease.extensions,
  lastExtension: lease.lastExtension,
  end: lease.end,
  endAt: lease.endAt,
  reason: lease.reason,
  outcome: lease.outcome,
  report: lease.report,
  reportRecord: lease.reportRecord,
});

/** What follows a failed attempt (R13, R13a, R14): the counts, and when it may run again. */
export function afterFailure(
  task: ModelTask,
  kind: FailureKind,
  at: number,
): { failures: number; released: number; releasedInRow: number; retryAt: number | undefined } {
  const isReleased = kind === 'released';
  const releasedInRow = isReleased ? task.releasedInRow + 1 : 0;
  const isFree = isReleased && releasedInRow <= 100;
  const failures = task.failures + (isReleased ? 0 : 1);
  const released = task.released + (isFree ? 1 : 0);
  const counts = { failures, released, releasedInRow };
  const { maxRetries, backoffMs, backoffFactor, backoffMaxMs } = task.policy;
  // R13a: given back unharmed is WAITING, whatever expiries have used of the budget.
  const isOver = !isFree && task.attempt - released > maxRetries;
  if (kind === 'permanent' || isOver) return { ...counts, retryAt: undefined };
  if (isReleased) return { ...counts, retryAt: at + Math.min(backoffMs, 1_000) };
  const hundredYears = 3_153_600_000_000;
  let wait = 0;
  if (backoffMs > 0) {
    wait = Math.floor(backoffMs * backoffFactor ** (failures - 1));
    wait = Math.min(wait, hundredYears, backoffMaxMs ?? hundredYears);
  }
  return { ...counts, retryAt: at + wait };
}
