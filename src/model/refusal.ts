// Owns the shapes of every no that is an answer: cancelled, rejected, unavailable, each with its
// reason. A refusal is a value; nothing throws it.

import type { ReportVerb } from './records.ts';
import type { TaskStateName } from './request.ts';

/** Number of the record that the request caused; null: none. */
export type Caused = number | null;

export type CancelledReason = 'lease_expired' | 'lease_superseded' | 'task_dead';
export type RejectedReason =
  | 'malformed'
  | 'unknown_task'
  | 'unknown_lease'
  | 'duplicate_report'
  | 'task_terminal'
  | 'not_redrivable'
  | 'request_id_conflict'
  | 'too_large'
  | 'lease_expired'
  | 'lease_superseded'
  | 'already_reported'
  | 'task_dead'
  | 'forbidden'
  | 'unauthorized'
  | 'unknown_route'
  | 'method_not_allowed';
export type UnavailableReason = 'mailbox_full' | 'recovering' | 'log_unavailable' | 'shutting_down';

interface RefusalDetails {
  readonly kind: 'refusal';
  readonly record: Caused;
  /** A sentence for people; never a path, a stack or a payload. */
  readonly detail?: string | undefined;
  readonly field?: string | undefined;
  readonly taskState?: TaskStateName | undefined;
  readonly firstOutcome?: 'COMMITTED' | 'CANCELLED' | undefined;
  readonly firstReport?: ReportVerb | undefined;
  readonly firstRecord?: number | undefined;
  readonly leaseExpiry?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}
export interface Cancelled extends RefusalDetails {
  readonly outcome: 'CANCELLED';
  readonly reason: CancelledReason;
}
export interface Rejected extends RefusalDetails {
  readonly outcome: 'REJECTED';
  readonly reason: RejectedReason;
}
export interface Unavailable extends RefusalDetails {
  readonly outcome: 'UNAVAILABLE';
  readonly reason: UnavailableReason;
}
export type Refusal = Cancelled | Rejected | Unavailable;

/** @returns a REJECTED answer that appended nothing. */
export const rejected = (
  reason: RejectedReason,
  detail: string,
  more: Partial<Omit<Rejected, 'kind' | 'outcome' | 'reason'>> = {},
): Rejected => ({ kind: 'refusal', outcome: 'REJECTED', reason, detail, record: null, ...more });

/** @returns an UNAVAILABLE answer: transport-class trouble that the caller may retry. */
export const unavailable = (
  reason: UnavailableReason,
  detail: string,
  retryAfterMs = 1_000,
): Unavailable => ({
  kind: 'refusal',
  outcome: 'UNAVAILABLE',
  reason,
  detail,
  record: null,
  retryAfterMs,
});
