// Owns the life of a worker: it takes leases, has its handler called, reports, and stops without
// losing or doubling work. Two files keep the rules that a worker must never break: execution.ts
// says who may report, and heartbeat-decision.ts when a lease is over.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { askForWork, Machine } from './ask-for-work.ts';
import { type AttemptSpan, attemptSpan } from './attempt-span.ts';
import { Client } from './client.ts';
import { LeaseholdError } from './errors.ts';
import type { ClientOptions } from './exchanger.ts';
import { Execution, type ExecutionParts } from './execution.ts';
import type { HandlerHost } from './handler.ts';
import { handling, hostFor } from './handler-host.ts';
import { HeartbeatHost, type HeartbeatNews } from './heartbeat-host.ts';
import { InHand } from './in-hand.ts';
import type { Lease } from './lease.ts';
import { pause } from './local-clock.ts';
import { untilAbort } from './on-abort.ts';
import { outsideSpans } from './open-telemetry.ts';
import { assertOptions } from './option-checks.ts';
import { RUN, STOP, WORKER } from './option-tables.ts';
import { ResultLimit } from './result-limit.ts';
import { onStopSignals } from './stop-signals.ts';
import {
  connectionOf,
  type RunOptions,
  type StopOptions,
  type WorkerOptions,
} from './worker-options.ts';
import { WorkerVoice } from './worker-voice.ts';

const RELEASE_REASON = 'the worker was stopped';
/** After a signal: with what follows the grace, within the ten seconds that containers give. */
const SIGNAL_GRACE_MS = 5_000;
/** A handler that waits for its own worker's stop waits so long for itself. */
const OWN_HANDLER_MS = 2_000;

export class Worker<Payload = unknown> extends WorkerVoice {
  readonly workerId: string;
  readonly #options: WorkerOptions;
  readonly #slots: number;
  readonly #client: Client;
  /** Asks for leases; it retries nothing, because it is asked again anyway. */
  readonly #asker: Client;
  readonly #resultLimit: ResultLimit;
  readonly #machine = new Machine();
  readonly #inHand = new InHand(() => this.#wake?.());
  readonly #stopping = new AbortController();
  /** No more time for handlers to end by themselves. */
  readonly #hurry = new AbortController();
  readonly #aborted = new AbortController();
  readonly #host: HandlerHost;
  #heartbeats: HeartbeatHost | undefined;
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #stopped: Promise<void> | undefined;
  #fatal: Error | undefined;

  /**
   * @throws LeaseholdError INVALID_OPTION for an option that is unknown or has a value that is not
   *   allowed, and for a handler that is neither a function nor a URL
   */
  constructor(options: WorkerOptions<Payload>) {
    assertOptions('Worker', options, WORKER);
    super(options.quiet ?? false);
    this.#options = options;
    const { handler, concurrency = 1, threads = 1, schema } = this.#options;
    this.#host = hostFor(handler, { concurrency, threads }, schema);
    this.#slots = handler instanceof URL ? threads : concurrency;
    const random = randomBytes(4).toString('hex');
    this.workerId = options.workerId ?? `${hostname()}:${process.pid}:${random}`;
    const client: ClientOptions = {
      ...connectionOf(this.#options),
      onProtocol: (event) => this.emit('protocol', event),
    };
    this.#client = new Client(client);
    this.#asker = new Client({ ...client, retries: 0 });
    this.#resultLimit = new ResultLimit(this.#client);
    (this as unknown as NodeJS.EventEmitter).on('newListener', (name) => {
      if (name === 'protocol') this.#heartbeats?.trace(true);
    });
  }

  /**
   * Works until `stop()`. With `untilEmpty`, works until no task can be leased and none is in
   * hand.
   * @throws LeaseholdError INVALID_OPTION when the handler module cannot be loaded (no lease was
   *   requested then); the refusal when the coordinator refuses the token or a parameter
   */
  async run(options: RunOptions = {}): Promise<void> {
    assertOptions('run', options, RUN);
    if (this.#loop !== undefined) throw new LeaseholdError('INVALID_ARGUMENT', 'it runs already');
    if (this.#stopping.signal.aborted) return;
    const stopAt = (wish: 'first' | 'again'): void =>
      void this.stop({ graceMs: wish === 'first' ? SIGNAL_GRACE_MS : 0 });
    const endSignals = options.signals === true ? onStopSignals(stopAt) : () => {};
    try {
      this.#loop = outsideSpans(() => this.#work(options.untilEmpty ?? false));
      await this.#loop;
      await this.stop();
    } finally {
      endSignals();
    }
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  /**
   * Requests no more leases, keeps the leases in hand until their handlers end, and reports. After
   * `graceMs`, or at once on a second call with `graceMs` 0, the signals abort. Then a handler that
   * throws is released, one that returns is completed, and one that does not end loses its lease.
   * Within a handler, waits for the other tasks, and two seconds at most for the handler's own.
   * @throws LeaseholdError INVALID_OPTION
   */
  async stop(options: StopOptions = {}): Promise<void> {
    assertOptions('stop', options, STOP);
    if (options.graceMs === 0) this.#hurry.abort();
    this.#stopped ??= this.#stop(options);
    const own = handling.getStore();
    const isOurs = own !== undefined && this.#inHand.has(own);
    return isOurs ? this.#stoppedButFor(own.leaseId, this.#stopped) : this.#stopped;
  }

  async #stop({ graceMs = 10_000, abortMs = 2_000 }: StopOptions): Promise<void> {
    this.#stopping.abort(new LeaseholdError('CLOSED', 'the worker stops'));
    this.#wake?.();
    await this.#loop?.catch(() => {});
    await this.#inHand.allEnded(graceMs, this.#hurry);
    this.#inHand.abort('shutdown');
    this.#aborted.abort();
    await this.#inHand.allEnded(abortMs);
    this.#inHand.abandon();
    await this.#heartbeats?.close();
    await this.#host.close();
    this.#asker.close();
    this.#client.close();
  }

  /** A handler cannot end while it waits for this, so this must end without it. */
  async #stoppedButFor(leaseId: string, stopped: Promise<void>): Promise<void> {
    const { signal } = this.#aborted;
    const others = this.#inHand.othersEnded(leaseId).then(() => pause(OWN_HANDLER_MS, signal));
    await Promise.race([stopped, others, untilAbort(signal)]);
  }

  async #work(untilEmpty: boolean): Promise<void> {
    const { queues, waitMs = 20_000, backoffMs = 100, backoffMaxMs = 5_000 } = this.#options;
    const request = { workerId: this.workerId, waitMs: untilEmpty ? 0 : waitMs };
    const { signal } = this.#stopping;
    try {
      // A handler that cannot be called must not cost a single task.
      await Promise.race([this.#host.prepare(), untilAbort(signal)]);
      const heartbeats = this.#startHeartbeats();
      await heartbeats.ready;
      await askForWork({
        client: this.#asker,
        request: queues === undefined ? request : { ...request, queues },
        slots: this.#slots,
        untilEmpty,
        signal,
        knobs: { retries: Number.POSITIVE_INFINITY, backoffMs, backoffMaxMs },
        machine: this.#machine,
        inHand: () => this.#inHand.size,
        somethingEnded: () =>
          new Promise((resolve) => {
            this.#wake = resolve;
            if (signal.aborted) resolve();
          }),
        take: (leases) => this.#take(leases, heartbeats),
        tell: (error) => this.emit('error', error),
      });
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #startHeartbeats(): HeartbeatHost {
    const isTraced = this.listenerCount('protocol') > 0;
    this.#heartbeats = new HeartbeatHost(
      { client: connectionOf(this.#options), isTraced },
      (news) => this.#hear(news),
      (error) => this.#loseAll(error),
    );
    return this.#heartbeats;
  }

  /** A lease counts as executing from its arrival: all are kept before the first handler runs. */
  #take(leases: readonly Lease[], heartbeats: HeartbeatHost): void {
    const parts: ExecutionParts = {
      client: this.#client,
      heartbeats,
      mode: this.#options.heartbeat ?? 'thread',
      tell: (name, ...args) => this.emit(name, ...(args as never)),
      machine: this.#machine,
      resultLimit: this.#resultLimit,
    };
    const executions = leases.map((lease) => {
      const span = attemptSpan(lease, this.workerId);
      return { execution: new Execution(lease, span?.hearing(parts) ?? parts), span };
    });
    for (const { execution, span } of executions) {
      this.#inHand.add(execution, span, this.#execute(execution, span));
    }
  }

  async #execute(execution: Execution, span: AttemptSpan | undefined): Promise<void> {
    // After this turn: a handler that blocks must not begin before all are in hand.
    await Promise.resolve();
    if (this.#stopping.signal.aborted) return execution.release(RELEASE_REASON);
    this.emit('leased', { task: execution.lease });
    await execution.run(span?.begin(this.#host) ?? this.#host);
  }

  #hear(news: HeartbeatNews): void {
    if (news.kind === 'protocol') return void this.emit('protocol', news.event);
    if (news.kind === 'trouble') {
      this.emit('error', new LeaseholdError('UNREACHABLE', news.message));
      return;
    }
    const execution = this.#inHand.executionOf(news.leaseId);
    if (news.kind === 'lost') execution?.loseLease(news.reason);
    else if (news.kind === 'deadline') execution?.abort('deadline');
    else execution?.settleDeadline(news.outcome, news.error);
  }

  /** The heartbeat thread has died: nobody keeps the leases any more. */
  #loseAll(error: Error): void {
    this.#inHand.loseAll(error.message);
    this.#fail(error);
  }

  #fail(error: Error): void {
    this.#fatal ??= error;
    this.#stopping.abort(error);
    this.#wake?.();
  }
}
