// Owns the options of a Worker with their defaults, and nothing else.

import type { ClientOptions } from './exchanger.ts';
import type { Handler } from './handler.ts';
import type { Schema } from './payload-schema.ts';

export interface WorkerOptions<Payload = unknown> extends Omit<ClientOptions, 'onProtocol'> {
  /**
   * An async function, or the URL of a module whose default export is one (see `threads`). `run()`
   * rejects with INVALID_OPTION when the module cannot be loaded or has no such export.
   */
  readonly handler: Handler<Payload> | URL;
  /**
   * Checks each payload, read as JSON, before the handler is called. `task.json()` returns the
   * value that the schema made. A payload that does not fit is a permanent failure that names the
   * fields.
   */
  readonly schema?: Schema<unknown, Payload> | undefined;
  readonly queues?: readonly string[];
  /** Tasks in hand at a time, in this thread, when `handler` is a function; 1. */
  readonly concurrency?: number;
  /** Runs a module URL in so many threads, one task each; 1. For work that keeps a CPU busy. */
  readonly threads?: number;
  /** Advisory; `host:pid:random` by default. */
  readonly workerId?: string;
  /**
   * Who sends the heartbeats. `thread` (the default): a thread of its own, so leases are kept even
   * while a handler blocks. `handler`: only calls of `heartbeat()`, so a handler that hangs loses
   * its lease.
   */
  readonly heartbeat?: 'thread' | 'handler';
  /** How long one lease request waits at the coordinator; 20 s. */
  readonly waitMs?: number;
  /**
   * By default each `failed`, `lost` and `rejected` event that has no listener is written as a
   * line on the standard error. true: these lines are not written.
   */
  readonly quiet?: boolean;
}

export interface RunOptions {
  /** Ends when nothing can be leased and nothing is in hand. */
  readonly untilEmpty?: boolean;
  /**
   * INT, TERM, HUP and QUIT stop the worker as `stop({ graceMs: 5_000 })` does, which gives back
   * the tasks in hand. A second signal ends the grace.
   */
  readonly signals?: boolean;
}

export interface StopOptions {
  /** How long handlers may go on before they are aborted; 10 s. Infinity: until they end. */
  readonly graceMs?: number;
  /** How long aborted handlers may take to end before they are left alone; 2 s. */
  readonly abortMs?: number;
}

/** The options that a Client takes, of those of a Worker. */
export function connectionOf(options: WorkerOptions): Omit<ClientOptions, 'onProtocol'> {
  const { url, token, timeoutMs, retries, backoffMs, backoffMaxMs } = options;
  const given = { url, token, timeoutMs, retries, backoffMs, backoffMaxMs };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
