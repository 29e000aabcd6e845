// Owns what the client library throws. An outcome of complete, fail or heartbeat is never here:
// outcomes are values. Every error has a `code`, listed once, that programs may compare.

import type { Refused } from './types.ts';

export type ClientErrorCode =
  /** No answer came: refused connection, reset, time-out; the retries are used up. */
  | 'UNREACHABLE'
  /** The server answered, but this request was refused: see `refusal`. */
  | 'REFUSED'
  /** The token is missing or wrong. */
  | 'UNAUTHORIZED'
  /** What came is no answer of this protocol. */
  | 'PROTOCOL'
  /** The client was closed. */
  | 'CLOSED'
  /** The caller's arguments cannot be sent. */
  | 'INVALID_ARGUMENT'
  /** There is no option of that name, or it cannot have that value; or the handler is none. */
  | 'INVALID_OPTION'
  /** A report got no answer within its retries: the task's state says what became of it. */
  | 'REPORT_UNANSWERED'
  /** A listener of an event threw. It changes nothing about the task. */
  | 'LISTENER'
  /** Nothing can be started on this machine (no shell, no memory, no file descriptors): the fault
   * is not the task's, which is given back. A handler throws an error with this code to say so. */
  | 'WRONG_MACHINE';

export class LeaseholdError extends Error {
  override readonly name: string = 'LeaseholdError';
  readonly code: ClientErrorCode;
  constructor(code: ClientErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Thrown where a refusal leaves nothing to return: submit, lease, redrive and the reads. */
export class RefusedError extends LeaseholdError {
  override readonly name = 'RefusedError';
  readonly refusal: Refused;
  constructor(op: string, refusal: Refused) {
    const detail = refusal.detail === undefined ? '' : `: ${refusal.detail}`;
    super('REFUSED', `${op}: ${refusal.outcome} ${refusal.reason}${detail}`);
    this.refusal = refusal;
  }
}

/** Throw it from a handler when no further attempt can help: the task becomes FAILED at once. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
}

export type AbortCode = 'lease_lost' | 'deadline' | 'shutdown';

/** The reason of a handler's `signal`. `lease_lost`: the attempt has no authority any more, stop
 * and leave no effect; `deadline`: the execution window is about to end and the failure is
 * reported already; `shutdown`: the worker stops, and a handler that throws now is released. */
export class TaskAborted extends Error {
  override readonly name = 'TaskAborted';
  readonly code: AbortCode;
  /** For `lease_lost`: the coordinator's reason, or `lease_time_over` by the local clock. */
  readonly reason: string | undefined;
  constructor(code: AbortCode, reason?: string) {
    super(reason === undefined ? code : `${code}: ${reason}`);
    this.code = code;
    this.reason = reason;
  }
}
