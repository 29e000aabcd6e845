// Owns what a Worker can be told, with its defaults, and nothing else.

import type { ClientOptions } from './exchanger.ts';
import type { Handler } from './handler.ts';

export interface WorkerOptions extends Omit<ClientOptions, 'onProtocol'> {
  /** An async function, or the URL of a module whose default export is one (see `threads`). */
  readonly handler: Handler | URL;
  readonly queues?: readonly string[];
  /** Tasks in hand at a time, in this thread; 1. */
  readonly concurrency?: number;
  /** Runs a module URL in so many threads, one task each; 1. For work that keeps a CPU busy. */
  readonly threads?: number;
  /** Advisory; `host:pid:random` by default. */
  readonly workerId?: string;
  /** Who keeps the leases. `thread` (the default): a thread of their own, whatever the handler
   * does. `handler`: only calls of `heartbeat()`, so that a handler that hangs loses its lease. */
  readonly heartbeat?: 'thread' | 'handler';
  /** How long one lease request waits at the coordinator; 20 s. */
  readonly waitMs?: number;
}

export interface StopOptions {
  /** How long handlers may go on before they are aborted; 10 s. */
  readonly graceMs?: number;
  /** How long aborted handlers may take to end before they are left alone; 2 s. */
  readonly abortMs?: number;
}
