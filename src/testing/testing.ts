// Owns `leasehold/testing`: a coordinator within the process of a test. It decides as the product
// does, because it runs the same loop behind the same HTTP server. Its log is in memory, and its
// clock stands still until the test moves it. After `stop()` no file, port or process is left.

import type { HttpIngressData } from '../../actors/ingress/start-data.ts';
import { Progress } from '../../actors/shared/progress.ts';
import { planSystem } from '../../actors/supervisor/plan.ts';
import { Client, type ClientOptions, type Handler, type LeaseRef } from '../index.ts';
import { DECIDING } from '../model/knobs.ts';
import { type KnobName } from '../settings/knob-table.ts';
import { readSettings } from '../settings/settings.ts';
import { MemoryLoop, type Operation } from './memory-loop.ts';
import { type Ran, type RunNextOptions, type RunOnceOptions, runNext } from './run-once.ts';
import { TestClock } from './test-clock.ts';
import { TestFront } from './test-front.ts';

export type { Operation } from './memory-loop.ts';
export type { Ran, RunNextOptions, RunOnceOptions } from './run-once.ts';
export type { TestClock, TestDuration } from './test-clock.ts';

/** Durations in ms. What is left out is as in the product, but for the two that are named here. */
export interface TestCoordinatorOptions {
  readonly leaseDurationMs?: number;
  /**
   * Real milliseconds between the heartbeats of a worker; 50 by default, or a third of a shorter
   * lease. So a worker soon notices a lost lease.
   */
  readonly heartbeatIntervalMs?: number;
  readonly executionWindowMs?: number;
  readonly maxRetries?: number;
  readonly backoffMs?: number;
  readonly backoffFactor?: number;
  /** Leases in a row that may run out before the task is DEAD; 0: any number. */
  readonly poisonThreshold?: number;
  readonly retentionMs?: number;
  readonly retentionFailedMs?: number;
  readonly payloadMaxBytes?: number;
}

const OPTIONS: ReadonlySet<string> = new Set<KnobName>([...DECIDING, 'payloadMaxBytes']);
const HEARTBEAT_MS = 50;

/**
 * Starts a coordinator; `stop()` ends it.
 * @throws TypeError for an unknown option, KnobError for a value that is out of range
 */
export async function startCoordinator(
  options: TestCoordinatorOptions = {},
): Promise<TestCoordinator> {
  const coordinator = new TestCoordinator(options);
  await coordinator[START]();
  return coordinator;
}

const START = Symbol('start');

export class TestCoordinator {
  readonly clock: TestClock;
  readonly #loop: MemoryLoop;
  readonly #front: TestFront;
  readonly #clients = new Set<Client>();
  /** Answers to lose, one each; undefined: to whatever is asked next. */
  readonly #losses: (Operation | undefined)[] = [];
  #own: Client | undefined;
  #runs = 0;

  /** @internal */
  constructor(options: TestCoordinatorOptions) {
    const progress = Progress.share();
    const plan = planSystem(settingsOf(options), progress, 'testing');
    this.clock = new TestClock((toMs) => this.#loop.passTo(toMs));
    this.#loop = new MemoryLoop({
      plan: plan.coordinator,
      progress,
      clock: this.clock,
      losesAnswer: (op) => this.#losesAnswer(op),
      durable: (seq) => this.#front.durable(seq),
    });
    const http = plan.ingresses.find(({ name }) => name === 'http');
    this.#front = new TestFront(this.#loop, http?.data as unknown as HttpIngressData);
  }

  async [START](): Promise<void> {
    await this.#loop.start();
    await this.#front.start();
  }

  /** For a `Client` or `Worker`, or for any program: http://127.0.0.1:PORT. */
  get url(): string {
    return this.#front.url;
  }

  /** A client of this coordinator, which `stop()` closes. */
  client(options: Omit<ClientOptions, 'url'> = {}): Client {
    const client = new Client({ ...options, url: this.url });
    this.#clients.add(client);
    return client;
  }

  /**
   * Runs one attempt: submits a task with this payload, leases it, calls the handler, and reports.
   * The task gets a queue of its own unless the options name one.
   * @returns how the attempt ended, and the task after the attempt
   */
  async runOnce(handler: Handler, payload: unknown, options: RunOnceOptions = {}): Promise<Ran> {
    const { workerId, ...submit } = options;
    this.#own ??= this.client();
    this.#runs += 1;
    const queue = options.queue ?? `run-once-${this.#runs}`;
    await this.#own.submit({ ...submit, payload, queue });
    return this.runNext(handler, { queue, ...(workerId === undefined ? {} : { workerId }) });
  }

  /**
   * Runs one attempt at the next task of a queue, as `runOnce` does.
   * @throws Error when no task of the queue can be leased now; move the clock to the task's time
   *   first
   */
  async runNext(handler: Handler, options: RunNextOptions): Promise<Ran> {
    this.#own ??= this.client();
    return runNext(this.#own, this.url, this.clock.now(), handler, options);
  }

  /**
   * Moves the clock to the end of this lease, so that the lease expires now, and with it every
   * lease that ends earlier. Does nothing when the lease is over already.
   */
  async expire({ leaseId }: Pick<LeaseRef, 'leaseId'>): Promise<void> {
    const endMs = this.#loop.endOf(Number(/^L(\d+)$/.exec(leaseId)?.[1]));
    if (endMs !== undefined) await this.#loop.passTo(endMs);
  }

  /**
   * Loses one answer: the coordinator decides and records the next request of this kind (or of any
   * kind) as usual, and then all connections are cut before the answer is sent.
   */
  loseNextAnswer(op?: Operation): void {
    this.#losses.push(op);
  }

  /** As `kill -9` of the coordinator. Until `restart()` every request is answered UNAVAILABLE. */
  async crash(): Promise<void> {
    await this.#loop.crash();
  }

  /** Starts the coordinator again on the log that the crash left, at the same address. */
  async restart(): Promise<void> {
    if (this.#loop.isUp) await this.crash();
    await this.#loop.restart();
    this.#front.connect();
  }

  /** Why the task is as it is, as text. */
  async explain(taskId: string): Promise<string> {
    const headers = { accept: 'text/plain' };
    return (await fetch(`${this.url}/v1/tasks/${taskId}/explain`, { headers })).text();
  }

  /** Ends everything; what waits is answered. Workers should be stopped before. */
  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.#loop.stop();
    await this.#front.stop();
  }

  #losesAnswer(op: Operation): boolean {
    const [wanted] = this.#losses;
    if (this.#losses.length === 0 || (wanted !== undefined && wanted !== op)) return false;
    this.#losses.shift();
    // Not before the decision has been carried out to its end.
    setImmediate(() => this.#front.cut());
    return true;
  }
}

function settingsOf(options: TestCoordinatorOptions): ReturnType<typeof readSettings> {
  const unknown = Object.keys(options).find((name) => !OPTIONS.has(name));
  if (unknown !== undefined) throw new TypeError(`startCoordinator: there is no option ${unknown}`);
  const { leaseDurationMs = 3 * HEARTBEAT_MS } = options;
  const often = Math.max(1, Math.min(HEARTBEAT_MS, Math.floor(leaseDurationMs / 3)));
  const { heartbeatIntervalMs = often } = options;
  const given = Object.entries({ ...options, heartbeatIntervalMs }).filter(
    ([, value]) => value !== undefined,
  );
  const flags = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  return readSettings({ flags, env: {}, readFile: () => '' });
}
