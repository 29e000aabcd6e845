// Owns the contract between a worker and the function that does its tasks, and the plain way to
// call one: in this thread. handler-pool.ts calls it in threads of its own.

import { encodeContent } from '../protocol/client-wire.ts';
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
 * What it throws is the failure's reason; a PermanentFailure rules out further attempts. */
export type Handler = (task: Lease, context: HandlerContext) => unknown;

/** Calls a handler somewhere. @returns the result's bytes; throws what the handler threw. */
export interface HandlerHost {
  run(task: Lease, context: HandlerContext): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

export function inlineHost(handler: Handler): HandlerHost {
  return {
    async run(task, context) {
      const result = await handler(task, context);
      return result === undefined ? undefined : encodeContent(result);
    },
    async close() {},
  };
}
