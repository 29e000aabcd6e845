// Owns the shapes that users of the library see: those of the interface, in camelCase.
// docs/PROTOCOL.md says what a field means. The comments here say only what is special to the
// client.

import type { Shown } from '../model/answer-fields.ts';
import type * as a from '../model/answer-table.ts';
import type { CancelledReason, RejectedReason, UnavailableReason } from '../model/refusal.ts';
import type { OptionsOf } from '../model/request.ts';

/** A string or bytes travel as they are; anything else as its JSON text. */
export type Content = unknown;

export interface SubmitOptions extends Omit<OptionsOf<'submit'>, 'payload'> {
  readonly payload: Content;
  /**
   * Makes a repeated submit safe: while the task is remembered, a submit with the same request id
   * answers that task. A task is forgotten some days after its end (the knobs `--retention-ms` and
   * `--retention-failed-ms`); from then on the same request id makes a new task. Random when
   * absent, so that a retry after a cut connection cannot make two tasks.
   */
  readonly requestId?: string;
}

export interface LeaseOptions extends OptionsOf<'lease'> {
  /** Long poll: 0 (the default) answers at once. */
  readonly waitMs?: number;
}

export type FailKind = 'error' | 'permanent' | 'released';

export interface FailureOptions {
  /** For people; at most 4 096 bytes. */
  readonly reason: string;
  /** `error` when absent. */
  readonly kind?: FailKind | undefined;
}

export interface TaskReadOptions {
  /** Answers when the task is over, or after so many milliseconds, at most 60 000. */
  readonly waitMs?: number;
}

export interface CallOptions {
  /**
   * When the signal aborts, the call rejects with the signal's reason; a request that was sent may
   * still take effect. A lease request resolves instead, with the leases granted by then.
   */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt, connecting included. The wait of a long poll comes on top. */
  readonly timeoutMs?: number | undefined;
}

/** Names one lease of one task; every granted Lease is one. */
export interface LeaseRef {
  readonly taskId: string;
  readonly leaseId: string;
}

export type PreviousAttempt = Shown<typeof a.previous>;
export interface Submitted extends Shown<typeof a.submitted> {
  readonly requestId: string;
}
export type EmptyLease = Shown<typeof a.empty>;

interface RefusedDetails extends Shown<typeof a.refusal> {
  readonly detail?: string;
}
export interface Rejected extends RefusedDetails {
  readonly outcome: 'REJECTED';
  readonly reason: RejectedReason;
}
/** The request did not take effect, or may have: `reason` says which. The retries are used up. */
export interface Unavailable extends RefusedDetails {
  readonly outcome: 'UNAVAILABLE';
  readonly reason: UnavailableReason;
  readonly retryAfterMs?: number;
}
export type Refused = Rejected | Unavailable;

export interface Committed extends Shown<typeof a.committed> {
  /** The report was sent again after its answer was lost, and the first one had been accepted. */
  readonly resent?: true;
}
/** Permission was lost before the report came; no failure, and nothing more is to be sent. */
export interface Cancelled extends RefusedDetails {
  readonly outcome: 'CANCELLED';
  /** Absent when it is known only from the first of two reports (`resent`). */
  readonly reason?: CancelledReason;
  readonly resent?: true;
}
export type ReportOutcome = Committed | Cancelled | Rejected | Unavailable;

export interface HeartbeatOk extends Shown<typeof a.heartbeat> {
  /** When the lease ends by this process's monotonic clock (`monotonicMs()`), at the latest. */
  readonly endsAtMs: number;
}
export type HeartbeatOutcome = HeartbeatOk | Rejected | Unavailable;

export interface Redriven extends Shown<typeof a.redriven> {
  readonly outcome: 'COMMITTED';
}

/** What a list shows of a task. */
export type TaskInfo = Shown<typeof a.summary>;
/** One task with its bytes; a list shows TaskInfo only. */
export interface TaskDetails extends TaskInfo {
  readonly payload: Buffer;
  /** Absent until the task is COMPLETED, and when its worker gave none. */
  readonly result?: Buffer;
  /** The payload as text. */
  text(): string;
  /** The payload read as JSON. @throws PermanentFailure when it is none. */
  json<T = unknown>(): T;
}

/** One request or its answer, as it stood on the wire (snake_case). */
export interface ProtocolEvent {
  readonly direction: 'request' | 'answer';
  readonly op: string;
  /** 1 for the first attempt; more for what a transport failure made us send again. */
  readonly attempt: number;
  /** Of a request its parameters, of an answer its body, or `{error}` when none came. */
  readonly body: unknown;
  /** Answers only: milliseconds since the request was sent. */
  readonly tookMs?: number;
  /** Who sent it: the caller's thread, or the thread that keeps the leases. */
  readonly thread: 'main' | 'heartbeat';
}
