// Owns the loop of a worker: lease for free slots only, call the handler, report, and stop without
// losing or doubling work. What a worker must never do is impossible by construction: see
// execution.ts for who may report, and heartbeat.ts for when a lease is over.

import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { Client } from './client.ts';
import { LeaseholdError, RefusedError } from './errors.ts';
import type { ClientOptions } from './exchanger.ts';
import { Execution, type ExecutionParts } from './execution.ts';
import { type HandlerHost, inlineHost } from './handler.ts';
import { HandlerPool } from './handler-pool.ts';
import type { Lease } from './lease.ts';
import { type KeeperNews, LeaseKeeper } from './lease-keeper.ts';
import { pause } from './local-clock.ts';
import { ResultLimit } from './result-limit.ts';
import { nextRetryMs } from './retry.ts';
import type { WorkerEvents } from './worker-events.ts';
import type { StopOptions, WorkerOptions } from './worker-options.ts';

/** Leases of one request; the coordinator takes at least so many. */
const LEASES_MAX = 500;
const RELEASE_REASON = 'the worker was stopped';

export class Worker extends EventEmitter<WorkerEvents> {
  readonly workerId: string;
  readonly #options: WorkerOptions;
  readonly #slots: number;
  readonly #client: Client;
  /** Asks for leases; it retries nothing, because the loop itself asks again. */
  readonly #asker: Client;
  readonly #resultLimit: ResultLimit;
  readonly #running = new Map<string, { execution: Execution; ended: Promise<void> }>();
  readonly #stopping = new AbortController();
  /** No more time for handlers to end by themselves. */
  readonly #hurry = new AbortController();
  #host: HandlerHost | undefined;
  #keeper: LeaseKeeper | undefined;
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #stopped: Promise<void> | undefined;
  #fatal: Error | undefined;

  /** @throws LeaseholdError INVALID_ARGUMENT */
  constructor(options: WorkerOptions) {
    super();
    const { concurrency, threads } = options;
    const slots = (options.handler instanceof URL ? threads : concurrency) ?? 1;
    if (!Number.isSafeInteger(slots) || slots < 1) {
      throw new LeaseholdError('INVALID_ARGUMENT', 'concurrency and threads are at least 1');
    }
    this.#options = options;
    this.#slots = slots;
    const random = randomBytes(4).toString('hex');
    this.workerId = options.workerId ?? `${hostname()}:${process.pid}:${random}`;
    const client: ClientOptions = {
      ...options,
      onProtocol: (event) => this.emit('protocol', event),
    };
    this.#client = new Client(client);
    this.#asker = new Client({ ...client, retries: 0 });
    this.#resultLimit = new ResultLimit(this.#client);
    (this as unknown as EventEmitter).on('newListener', (name) => {
      if (name === 'protocol') this.#keeper?.trace(true);
    });
  }

  /**
   * Works until `stop()`; with `untilEmpty` until nothing can be leased and nothing is in hand.
   * @throws LeaseholdError when going on makes no sense: the token or a parameter was refused.
   */
  async run(options: { readonly untilEmpty?: boolean } = {}): Promise<void> {
    if (this.#loop !== undefined) throw new LeaseholdError('INVALID_ARGUMENT', 'it runs already');
    const { handler, threads = 1 } = this.#options;
    this.#host = handler instanceof URL ? new HandlerPool(handler, threads) : inlineHost(handler);
    const { url, token, timeoutMs, retries, backoffMs, backoffMaxMs } = this.#options;
    const given = { url, token, timeoutMs, retries, backoffMs, backoffMaxMs };
    const known = Object.entries(given).filter(([, value]) => value !== undefined);
    const isTraced = this.listenerCount('protocol') > 0;
    this.#keeper = new LeaseKeeper(
      { client: Object.fromEntries(known), isTraced },
      (news) => this.#hear(news),
      (error) => this.#loseAll(error),
    );
    this.#loop = this.#askForWork(this.#keeper, options.untilEmpty ?? false);
    await this.#loop;
    await this.stop();
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  /** Leases no more, lets handlers end while their leases are kept, and reports. After `graceMs`
   * aborts them; one that then throws is released, one that still returns is completed, and one
   * that does not end is left alone: its lease runs out. Called again with a `graceMs` of 0, it
   * aborts them at once. */
  stop(options: StopOptions = {}): Promise<void> {
    if (options.graceMs === 0) this.#hurry.abort();
    this.#stopped ??= this.#stop(options);
    return this.#stopped;
  }

  async #stop({ graceMs = 10_000, abortMs = 2_000 }: StopOptions): Promise<void> {
    this.#stopping.abort(new LeaseholdError('CLOSED', 'the worker stops'));
    this.#wake?.();
    await this.#loop?.catch(() => {});
    await this.#allEnded(graceMs, this.#hurry);
    for (const { execution } of this.#running.values()) execution.abort('shutdown');
    await this.#allEnded(abortMs);
    for (const { execution } of this.#running.values()) execution.abandon();
    await this.#keeper?.close();
    await this.#host?.close();
    this.#asker.close();
    this.#client.close();
  }

  async #allEnded(withinMs: number, over = new AbortController()): Promise<void> {
    const ended = Promise.all([...this.#running.values()].map((one) => one.ended));
    await Promise.race([ended, pause(withinMs, over.signal)]);
    over.abort();
  }

  async #askForWork(keeper: LeaseKeeper, untilEmpty: boolean): Promise<void> {
    const { queues, waitMs = 20_000 } = this.#options;
    const { signal } = this.#stopping;
    let failures = 0;
    await keeper.ready;
    while (!signal.aborted) {
      const free = this.#slots - this.#running.size;
      if (free === 0) {
        await this.#somethingEnded();
        continue;
      }
      const max = Math.min(free, LEASES_MAX);
      const request = { workerId: this.workerId, max, waitMs: untilEmpty ? 0 : waitMs };
      try {
        const asked = queues === undefined ? request : { ...request, queues };
        const { leases } = await this.#asker.lease(asked, { signal });
        failures = 0;
        this.#take(leases, keeper);
        if (leases.length > 0 || !untilEmpty) continue;
        if (this.#running.size === 0) return;
        await this.#somethingEnded();
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        if (!this.#isPassing(error)) return this.#fail(error as Error);
        this.#tellError(error as LeaseholdError);
        await pause(this.#retryMs(failures), signal);
      }
    }
  }

  /** A lease counts as executing from its arrival: all are kept before the first handler runs. */
  #take(leases: readonly Lease[], keeper: LeaseKeeper): void {
    const parts: ExecutionParts = {
      client: this.#client,
      keeper,
      mode: this.#options.heartbeat ?? 'thread',
      tell: (name, ...args) => {
        if (name === 'error') this.#tellError(args[0] as LeaseholdError);
        else this.emit(name, ...(args as never));
      },
      resultLimit: this.#resultLimit,
    };
    const executions = leases.map((lease) => new Execution(lease, parts));
    for (const execution of executions) {
      const { leaseId } = execution.lease;
      const ended = this.#execute(execution).finally(() => {
        this.#running.delete(leaseId);
        this.#wake?.();
      });
      this.#running.set(leaseId, { execution, ended });
    }
  }

  async #execute(execution: Execution): Promise<void> {
    // After this turn: a handler that blocks must not begin before all are in hand.
    await Promise.resolve();
    if (this.#stopping.signal.aborted) return execution.release(RELEASE_REASON);
    this.emit('leased', { task: execution.lease });
    await execution.run(this.#host as HandlerHost);
  }

  #somethingEnded(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #hear(news: KeeperNews): void {
    if (news.kind === 'protocol') {
      this.emit('protocol', news.event);
      return;
    }
    if (news.kind === 'trouble') {
      this.#tellError(new LeaseholdError('UNREACHABLE', news.message));
      return;
    }
    const execution = this.#running.get(news.leaseId)?.execution;
    if (news.kind === 'lost') execution?.loseLease(news.reason);
    else if (news.kind === 'deadline') execution?.abort('deadline');
    else execution?.settleDeadline(news.outcome, news.error);
  }

  /** Transport trouble passes; a refused token or parameter does not. */
  #isPassing(error: unknown): boolean {
    if (error instanceof RefusedError) return error.refusal.outcome === 'UNAVAILABLE';
    return error instanceof LeaseholdError && error.code === 'UNREACHABLE';
  }

  #retryMs(failures: number): number {
    const { backoffMs = 100, backoffMaxMs = 5_000 } = this.#options;
    const knobs = { retries: Number.POSITIVE_INFINITY, backoffMs, backoffMaxMs };
    const trouble = { kind: 'unanswered', written: false } as const;
    return nextRetryMs(knobs, true, failures, trouble, Math.random()) ?? backoffMaxMs;
  }

  #tellError(error: LeaseholdError): void {
    if (this.listenerCount('error') > 0) this.emit('error', error);
    else process.emitWarning(error.message, 'LeaseholdWarning', error.code);
  }

  /** The heartbeat thread has died: nobody keeps the leases any more. */
  #loseAll(error: Error): void {
    for (const { execution } of this.#running.values()) execution.loseLease(error.message);
    this.#fail(error);
  }

  #fail(error: Error): void {
    this.#fatal ??= error;
    this.#stopping.abort(error);
    this.#wake?.();
  }
}
