// Owns one run: a coordinator with short leases on an empty log, proxies and a ledger, the
// worker's processes, and the tasks. A scenario plays on the run; afterwards the run is the
// evidence.

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TASK_STATES } from '../model/task-states.ts';
import { TRANSITIONS } from '../model/transitions.ts';
import { patienceMs, startMs, stopMs } from './allowances.ts';
import type { CleanUp } from './clean-up.ts';
import type { CoordinatorRequests } from './coordinator-requests.ts';
import { httpProxy } from './http-proxy.ts';
import { openLedger } from './ledger.ts';
import { lineProxy } from './line-proxy.ts';
import type { Listening } from './listening.ts';
import { whyNoTaskTaken } from './no-task-taken.ts';
import { type Arrival, type Held, type Point, Points } from './points.ts';
import { bareEnv, type CoordinatorOptions, RehearsedCoordinator } from './rehearsed-coordinator.ts';
import { Stalls } from './slow-machine.ts';
import { Traffic } from './traffic.ts';
import { WorkerProcess } from './worker-process.ts';

export interface RunOptions {
  /** A shell command; it finds the coordinator by LEASEHOLD_URL. */
  readonly command: string;
  readonly queue: string;
  readonly payloads: readonly string[];
  readonly leaseMs: number;
  /** Chooses what the scenarios leave open, always in the same way. */
  readonly seed: number;
  /** undefined: there is no ledger. */
  readonly ledger: { readonly refusesOldTokens: boolean } | undefined;
  readonly cleanUp: CleanUp;
  /** Undefined: each run has a coordinator in a process of its own. */
  readonly openCoordinator?: (options: CoordinatorOptions) => Promise<CoordinatorRequests>;
  /** Called with each new task before any worker is started. */
  readonly onSubmitted?: ((taskId: string) => Promise<void>) | undefined;
}

/** What is given to a task. */
export interface SubmitOptions {
  /** Undefined: the next one of the user's. */
  readonly payload?: string;
  readonly [field: string]: unknown;
}

const LOOK_MS = 40;
/**
 * A worker that ends by itself is started again, as a supervisor would do. The pause before each
 * new start is longer than the one before.
 */
const RESTART_PAUSE_MS = 100;
const RESTART_PAUSE_MAX_MS = 1_000;
/** A command that has ended so often without one request will do so again. */
const VAIN_STARTS = 3;
/** The states that no transition leaves. */
const OVER: ReadonlySet<string> = new Set(
  TASK_STATES.filter((state) => !TRANSITIONS.some(({ from, to }) => from === state && to !== from)),
);

export class Run {
  readonly points = new Points();
  readonly traffic = new Traffic();
  readonly stalls = new Stalls();
  readonly workers: WorkerProcess[] = [];
  readonly tasks: string[] = [];
  /** The payload of each task. */
  readonly payloads = new Map<string, string>();
  readonly options: RunOptions;
  private readonly dir: string;
  readonly coordinator: CoordinatorRequests;
  private readonly proxies: Listening[] = [];
  private ledger: Listening | undefined;
  private restarts = 0;
  private isClosing = false;
  /** Workers that are being started. Their proxies would outlive a run that closed meanwhile. */
  private starting: Promise<unknown> = Promise.resolve();

  private constructor(options: RunOptions, dir: string, coordinator: CoordinatorRequests) {
    this.options = options;
    this.dir = dir;
    this.coordinator = coordinator;
  }

  static async open(options: RunOptions): Promise<Run> {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'leasehold-rehearsal-'));
    options.cleanUp.add('folder', dir);
    const { openCoordinator: openOne = RehearsedCoordinator.open, leaseMs, cleanUp } = options;
    const run = new Run(options, dir, await openOne({ dir, leaseMs, cleanUp }));
    if (options.ledger !== undefined) {
      const { points, traffic } = run;
      const workerOf = (token: number): number => run.workerOf(`L${token}`);
      run.ledger = await openLedger({ points, traffic, workerOf, ...options.ledger });
    }
    return run;
  }

  /** @returns the new task's id. */
  async submit(options: SubmitOptions = {}): Promise<string> {
    const { payloads, queue } = this.options;
    const payload = options.payload ?? payloads[this.tasks.length % payloads.length] ?? '';
    const { task_id: id } = await this.coordinator.submit({ queue, ...options, payload });
    if (!this.tasks.includes(id)) {
      this.tasks.push(id);
      this.payloads.set(id, payload);
      await this.options.onSubmitted?.(id);
    }
    return id;
  }

  /** Starts a worker process. One that ends by itself is started anew until the run is closed. */
  worker(): Promise<WorkerProcess> {
    const starting = this.startWorker();
    this.starting = Promise.allSettled([this.starting, starting]);
    return starting;
  }

  private async startWorker(): Promise<WorkerProcess> {
    const number = this.workers.length + 1;
    const between = { worker: number, points: this.points, traffic: this.traffic };
    const http = await httpProxy({ ...between, toPort: this.coordinator.httpPort });
    const socket = await lineProxy({ ...between, toPort: this.coordinator.socketPort });
    this.proxies.push(http, socket);
    const env: NodeJS.ProcessEnv = {
      ...bareEnv(),
      ...this.options.cleanUp.environment,
      LEASEHOLD_URL: `http://127.0.0.1:${http.port}`,
      LEASEHOLD_SOCKET_URL: `tcp://127.0.0.1:${socket.port}`,
      LEASEHOLD_SOCKET_PORT: String(socket.port),
    };
    if (this.ledger !== undefined) {
      env['LEASEHOLD_EFFECTS_URL'] = `http://127.0.0.1:${this.ledger.port}/effects`;
    }
    const { traffic } = this;
    const { command, cleanUp } = this.options;
    const worker = new WorkerProcess(number, command, env, { traffic, cleanUp });
    this.workers.push(worker);
    void worker.ended.then(() => this.restart(worker));
    return worker;
  }

  /** The next message at this point, which waits there. @throws Error when none comes in time. */
  async hold(point: Point, wanted?: (arrival: Arrival) => boolean): Promise<Held> {
    const ms = patienceMs(this.options.leaseMs);
    return within(this.points.hold(point, wanted), ms, `nothing came to the point: ${point}`);
  }

  /** Waits until every task is over. @returns the tasks that were not, when the time was up. */
  async over(timeoutMs = 10 * this.options.leaseMs): Promise<readonly string[]> {
    const end = performance.now() + timeoutMs;
    let left: readonly string[] = this.tasks;
    while (performance.now() < end) {
      const states = await Promise.all(left.map((id) => this.stateOf(id)));
      left = left.filter((_, index) => !OVER.has(states[index] as string));
      if (left.length === 0 || this.isHopeless()) return left;
      await pause(LOOK_MS);
    }
    return left;
  }

  /** '' while the coordinator is down. */
  private async stateOf(taskId: string): Promise<string> {
    const asked = performance.now();
    try {
      const state = await this.coordinator.stateOf(taskId);
      this.stalls.note(performance.now() - asked);
      return state;
    } catch {
      return '';
    }
  }

  /** Whether no worker will ever take a task, so that there is nothing to wait for. */
  private isHopeless(): boolean {
    const { traffic, options } = this;
    if (whyNoTaskTaken(traffic, options.queue) === undefined) return false;
    const ends = traffic.events.filter(({ what }) => what === 'ended');
    if (traffic.exchanges.length === 0 && ends.length >= VAIN_STARTS) return true;
    const started = traffic.events.find(({ what }) => what === 'started')?.at ?? Infinity;
    return traffic.now() - started > startMs(options.leaseMs) + this.stalls.longestMs * 10;
  }

  /** Waits until the process has ended, as long as a service manager would. */
  async stopped(worker: WorkerProcess): Promise<void> {
    await within(worker.ended, stopMs(this.options.leaseMs), 'late').catch(() => {});
  }

  /** Workers that end from now on are not started anew. */
  closing(): void {
    this.isClosing = true;
    this.points.clear();
  }

  async close(): Promise<void> {
    this.closing();
    this.stalls.end();
    await this.starting;
    await Promise.all(this.workers.map((worker) => worker.destroy()));
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    await this.ledger?.close();
    await this.coordinator.close();
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
    this.options.cleanUp.drop('folder', this.dir);
  }

  private workerOf(leaseId: string): number {
    const granted = this.traffic.exchanges.find(({ granted: leases }) =>
      leases.some((lease) => lease.leaseId === leaseId),
    );
    return granted?.worker ?? 0;
  }

  private async restart(worker: WorkerProcess): Promise<void> {
    await pause(Math.min(RESTART_PAUSE_MS * 1.2 ** this.restarts, RESTART_PAUSE_MAX_MS));
    const last = this.workers.at(-1);
    if (this.isClosing || worker !== last) return;
    this.restarts += 1;
    await this.worker();
  }
}

async function within<T>(promise: Promise<T>, ms: number, otherwise: string): Promise<T> {
  const up = new AbortController();
  const late = pause(ms, undefined, { signal: up.signal }).then(() => {
    throw new Error(otherwise);
  });
  late.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    up.abort();
  }
}
