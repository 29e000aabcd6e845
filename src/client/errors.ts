// Owns the errors that the client library throws. The outcome of complete, fail or heartbeat is
// never an error here, because outcomes are values. Every error has a `code` that programs may
// compare; the list of codes stands here alone.

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
  /**
   * This machine can start no handler (no shell, no memory, no file descriptors). The task is not
   * at fault, so the worker gives it back. A handler throws an error with this code to say so.
   */
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

/**
 * The reason of a handler's `signal`, by its `code`.
 * `lease_lost`: the attempt has no authority any more; the handler must stop and cause no effect.
 * `deadline`: the execution window is about to end, and the failure is reported already.
 * `shutdown`: the worker stops; if the handler throws now, its task is released.
 */
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
