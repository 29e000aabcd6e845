// Owns the contract between a worker and the function that does its tasks, and between a worker and
// the place in which that function is called.

import type { Lease } from './lease.ts';
import type { PreviousAttempt } from './types.ts';

export interface HandlerContext {
  /** Aborts with a TaskAborted: `lease_lost`, `deadline` or `shutdown`. */
  readonly signal: AbortSignal;
  /** Only ever grows: give it to the stores you write to, so that they can refuse an older one. */
  readonly fencingToken: number;
  readonly attempt: number;
  readonly previous: PreviousAttempt | undefined;
  /** Coordinator time in ms since the epoch. */
  readonly executionDeadline: number;
  /**
   * Sends a heartbeat now. Resolves with true only when the coordinator has just confirmed the
   * lease. Await it right before an effect that cannot be undone.
   */
  stillMine(): Promise<boolean>;
  /** The same, for workers with `heartbeat: 'handler'`: nobody else keeps the lease there. */
  heartbeat(): Promise<boolean>;
}

/**
 * Does one task. The returned value is the result: a string or bytes are stored unchanged,
 * undefined means no result, and any other value is stored as JSON.
 * A thrown value is the failure; its message and causes become the reason. A PermanentFailure
 * rules out further attempts. An error whose `code` is `WRONG_MACHINE` gives the task back.
 */
export type Handler<Payload = unknown> = (task: Lease<Payload>, context: HandlerContext) => unknown;

/** Calls a handler somewhere. */
export interface HandlerHost {
  /**
   * Resolves when the handler can be called.
   * @throws LeaseholdError INVALID_OPTION, WRONG_MACHINE
   */
  prepare(): Promise<void>;
  /** @returns the result's bytes; throws what the handler threw. */
  run(task: Lease, context: HandlerContext): Promise<Buffer | undefined>;
  close(): Promise<void>;
}
