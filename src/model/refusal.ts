// Owns the shapes of every no that is an answer: cancelled, rejected, unavailable, each with its
// reason. A refusal is a value; nothing throws it.

import { formatTaskId } from './ids.ts';
import type { ReportVerb } from './records.ts';
import type { TaskStateName } from './request.ts';

/** Number of the record that the request caused; null: none. */
export type Caused = number | null;

type Outcome = 'CANCELLED' | 'REJECTED' | 'UNAVAILABLE';
interface ReasonRow {
  /** The HTTP status; the socket and a batch carry the same number as a field. */
  readonly status: number;
  /** The same for every occurrence; a refusal's `detail` tells about this one. */
  readonly title: string;
  readonly outcomes: readonly Outcome[];
}
const reason = <const O extends Outcome>(status: number, title: string, ...outcomes: O[]) => ({
  status,
  title,
  outcomes,
});

/** Every reason that a refusal can have. */
export const REASONS = {
  malformed: reason(400, 'The request is malformed', 'REJECTED'),
  unauthorized: reason(401, 'The token is missing or wrong', 'REJECTED'),
  forbidden: reason(403, 'Requests from web pages are refused', 'REJECTED'),
  unknown_task: reason(404, 'There is no such task', 'REJECTED'),
  unknown_lease: reason(404, 'This lease was never granted for this task', 'REJECTED'),
  unknown_route: reason(404, 'There is no such route', 'REJECTED'),
  method_not_allowed: reason(405, 'The route does not take this method', 'REJECTED'),
  duplicate_report: reason(409, 'The lease has its outcome already', 'REJECTED'),
  task_terminal: reason(409, 'The task is over', 'REJECTED'),
  not_redrivable: reason(409, 'Only FAILED and DEAD tasks are redriven', 'REJECTED'),
  already_reported: reason(409, 'The lease ended with its own report', 'REJECTED'),
  // A report without permission is CANCELLED, a heartbeat without permission is REJECTED.
  lease_expired: reason(409, 'The lease expired', 'CANCELLED', 'REJECTED'),
  lease_superseded: reason(
    409,
    'The lease expired and a later one was granted',
    'CANCELLED',
    'REJECTED',
  ),
  task_dead: reason(409, 'The task was killed', 'CANCELLED', 'REJECTED'),
  too_large: reason(413, 'The request is too large', 'REJECTED'),
  request_id_conflict: reason(422, 'The request id names another content', 'REJECTED'),
  mailbox_full: reason(503, 'The mailbox is full', 'UNAVAILABLE'),
  recovering: reason(503, 'The log is being replayed', 'UNAVAILABLE'),
  log_unavailable: reason(503, 'The log takes no records now', 'UNAVAILABLE'),
  shutting_down: reason(503, 'The coordinator is stopping', 'UNAVAILABLE'),
  not_leader: reason(503, 'Another node leads', 'UNAVAILABLE'),
} as const satisfies Record<string, ReasonRow>;

export type Reason = keyof typeof REASONS;
type ReasonOf<O extends Outcome> = {
  [R in Reason]: O extends (typeof REASONS)[R]['outcomes'][number] ? R : never;
}[Reason];
export type CancelledReason = ReasonOf<'CANCELLED'>;
export type RejectedReason = ReasonOf<'REJECTED'>;
export type UnavailableReason = ReasonOf<'UNAVAILABLE'>;

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
  /** The URL of the node to ask instead. */
  readonly leader?: string | undefined;
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

/** What is said of a task that never was, and of one that is forgotten: the state has neither. */
export const notRemembered = (taskId: number): string =>
  `no task ${formatTaskId(taskId)} is remembered`;

/** Whether what was read of a request is the refusal of it instead. */
export const isRefusal = (value: unknown): value is Rejected =>
  typeof value === 'object' && value !== null && (value as Rejected).kind === 'refusal';

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

/** @param leader the URL of the node that leads, when it is known. */
export const notLeader = (leader: string | undefined): Unavailable => ({
  ...unavailable(
    'not_leader',
    leader === undefined ? NO_LEADER : `This node follows, and ${leader} leads; nothing happened.`,
  ),
  leader,
});
const NO_LEADER = 'This node follows, and no node is known to lead now; nothing happened.';
