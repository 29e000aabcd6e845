// Owns the contract between a worker and the function that does its tasks, and nothing else.

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
  /** Heartbeats now. True only when the coordinator has just confirmed the lease: to be awaited
   * right before an effect that cannot be undone. */
  stillMine(): Promise<boolean>;
  /** The same, for workers with `heartbeat: 'handler'`: nobody else keeps the lease there. */
  heartbeat(): Promise<boolean>;
}

/** What it returns is the result (a string or bytes as they are, else as JSON; undefined: none).
 * Whatever it throws is the failure, with its message and causes as the reason; a PermanentFailure
 * rules out further attempts, and an error whose `code` is `WRONG_MACHINE` gives the task back. */
export type Handler<Payload = unknown> = (task: Lease<Payload>, context: HandlerContext) => unknown;
