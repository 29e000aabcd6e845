// Owns what a Worker can be told, with its defaults, and nothing else.

import type { ClientOptions } from './exchanger.ts';
import type { Handler } from './handler.ts';
import type { Schema } from './payload-schema.ts';

export interface WorkerOptions<Payload = unknown> extends Omit<ClientOptions, 'onProtocol'> {
  /** An async function, or the URL of a module whose default export is one (see `threads`). A
   * module that cannot be loaded, or has no such export, makes `run()` reject with INVALID_OPTION.
   * */
  readonly handler: Handler<Payload> | URL;
  /** Judges each payload, read as JSON, before the handler is called: `task.json()` gives what it
   * makes of it, and a payload that does not fit is a permanent failure that names the fields. */
  readonly schema?: Schema<unknown, Payload> | undefined;
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
  /** Without a listener of its own, each `failed`, `lost` and `rejected` is a line on the standard
   * error. true: not so. */
  readonly quiet?: boolean;
}

export interface RunOptions {
  /** Ends when nothing can be leased and nothing is in hand. */
  readonly untilEmpty?: boolean;
  /** INT, TERM, HUP and QUIT stop the worker as `stop({ graceMs: 5_000 })` does, which gives back
   * what is in hand; a second one ends the grace. */
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
