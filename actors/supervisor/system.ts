// Owns the life of the process: the order of the start, what happens when the coordinator dies, and
// the order of the stop. It decides nothing about tasks and sees no request.

import path from 'node:path';
import type { Settings } from '../../src/settings/settings.ts';
import { shownSettings } from '../../src/settings/settings.ts';
import { monotonicMs } from '../shared/clock.ts';
import type { FromCoordinator, StartResult } from '../shared/control.ts';
import { Progress } from '../shared/progress.ts';
import { type CoordinatorEnd, CoordinatorThread } from './coordinator-life.ts';
import { Crew } from './crew.ts';
import { STATUS, statusOf, why, withOwner } from './endings.ts';
import { createLogger, type Logger, type LogSettings, openedText } from './logger.ts';
import { planSystem, type SystemPlan } from './plan.ts';
import { forgetNote, skipOf } from './restored.ts';
import { Watchdog } from './watchdog.ts';

export interface SystemOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly logging: LogSettings;
  /** Which actors there are; from the settings unless a test says otherwise. */
  readonly plan?: (progress: SharedArrayBuffer) => SystemPlan;
  /** For what the operator must read: one sentence that says why the process ends. */
  complain(message: string): void;
  /** Whether a process serves a data directory, for the words of a start that fails. */
  isLocked?(dataDir: string): Promise<boolean>;
  /** Requests are decided from now on; called once. */
  ready?(): void;
}

export interface RunningSystem {
  /** The exit status; resolves when everything is closed, or given up. */
  readonly over: Promise<number>;
  /** A thread was given up that cannot end: leaving the process in order would wait for it. */
  readonly stuck: boolean;
  /** Answers what was accepted, closes, and resolves `over`. */
  stop(signal?: string): void;
  /** Notes that a signal of the system came and changes nothing. */
  ignored(signal: string): void;
}

/** Deaths of the coordinator's thread that are mended in a row, and when a row is over. */
const RESTARTS_MAX = 5;
const CALM_MS = 60_000;
/** A stop is given up after this; supervisors of processes commonly kill after 5 s or more. */
const STOP_MAX_MS = 4_500;

export function startSystem(options: SystemOptions): RunningSystem {
  const system = new System(options);
  const over = system.run();
  return {
    over,
    stop: (signal) => system.stop(signal),
    ignored: (signal) => system.ignored(signal),
    get stuck() {
      return system.stuck;
    },
  };
}

class System {
  readonly #options: SystemOptions;
  readonly #logger: Logger;
  readonly #coordinatorLogger: Logger;
  readonly #progress: Progress;
  readonly #plan: SystemPlan;
  readonly #crew: Crew;
  readonly #watchdog: Watchdog;
  #coordinator: CoordinatorThread | undefined;
  #restarts: number[] = [];
  #addresses: string[] = [];
  #stopping = false;
  #wasReady = false;
  #failedStarts = 0;
  #finish: (status: number) => void = () => {};

  constructor(options: SystemOptions) {
    const shared = Progress.share();
    this.#options = options;
    this.#progress = new Progress(shared);
    this.#logger = createLogger('supervisor', options.logging);
    this.#coordinatorLogger = createLogger('coordinator', options.logging);
    const { settings, version } = options;
    // Written before anybody can ask: without it a node would answer as a server without a cluster.
    if (settings.cluster) this.#progress.cluster.begin(settings.cluster);
    this.#plan = options.plan?.(shared) ?? planSystem(settings, shared, version);
    this.#crew = new Crew(this.#plan, this.#logger);
    this.#watchdog = new Watchdog({
      progress: this.#progress,
      monotonicMs,
      stalled: (isStalled) => this.#tellStall(isStalled),
      hangs: () => {
        const log = path.join(this.#plan.dataDir, 'log');
        const message = `LOG_IO: the device does not answer: a write to ${log} hangs`;
        this.#finish(this.#refuse(message));
      },
    });
  }

  async run(): Promise<number> {
    const finished = new Promise<number>((resolve) => {
      this.#finish = resolve;
    });
    try {
      for (const result of await this.#crew.listen()) {
        if (!result.ok) return this.#refuse(await this.#whyDeaf(result));
        if (result.address !== undefined) this.#addresses.push(result.address);
      }
      this.#watchdog.start();
      if (!this.#stopping) this.#launch();
      return await finished;
    } catch (error) {
      return this.#refuse((error as Error).message);
    } finally {
      this.#watchdog.stop();
      await this.#crew.destroy();
    }
  }

  get stuck(): boolean {
    return this.#coordinator?.gone === false;
  }

  ignored(signal: string): void {
    this.#logger.info(`${signal} is ignored`);
  }

  stop(signal?: string): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#progress.stopping();
    this.#logger.info(signal === undefined ? {} : { signal }, 'stopping');
    // Not cleared: the process ends before, or because of it.
    setTimeout(() => {
      this.#finish(this.#refuse(`not stopped after ${STOP_MAX_MS} ms`));
    }, STOP_MAX_MS).unref();
    void this.#wind().then(
      (status) => this.#finish(status),
      (error: Error) => this.#finish(this.#refuse(error.message)),
    );
  }

  /** Why an ingress does not listen. */
  #whyDeaf(result: Extract<StartResult, { ok: false }>): Promise<string> {
    const { isLocked = () => Promise.resolve(false) } = this.#options;
    return withOwner(result, this.#plan.dataDir, isLocked);
  }

  /** Ingresses first stop taking, the coordinator answers and closes, they write out and close. */
  async #wind(): Promise<number> {
    await this.#crew.quiesce();
    this.#coordinator?.stop();
    const end = await this.#coordinator?.over;
    await this.#crew.stop();
    if (end !== undefined && end.kind !== 'stopped') return this.#refuse(why(end), statusOf(end));
    this.#logger.info('stopped');
    return 0;
  }

  #launch(): void {
    const { coordinator: plan, dataDir } = this.#plan;
    const data = { ...plan.data, skip: skipOf(dataDir), failedStarts: this.#failedStarts };
    const coordinator = new CoordinatorThread({ ...plan, data }, (message) => this.#hear(message));
    this.#coordinator = coordinator;
    this.#crew.connect((name, options) => coordinator.connect(name, options));
    void coordinator.over.then((end) => this.#coordinatorOver(end));
  }

  #hear(message: FromCoordinator): void {
    switch (message.kind) {
      case 'opened':
        return this.#tellStart(message);
      case 'ready': {
        const { replayMs, replayRecords, epoch } = message;
        this.#crew.ready();
        this.#tellReady();
        this.#failedStarts = 0;
        forgetNote(this.#plan.dataDir);
        return this.#logger.info(
          { replay_ms: replayMs, replay_records: replayRecords, epoch },
          'ready',
        );
      }
      case 'following':
        return this.#tellReady();
      case 'durable':
        return this.#crew.durable(message.seq);
      case 'log': {
        const { kind: _, level, msg, ...fields } = message;
        return this.#coordinatorLogger[level](fields, msg);
      }
      case 'stopped':
      case 'fatal':
        return; // Both come again as the thread's end.
    }
  }

  /** Whoever started the process need not wait any longer. */
  #tellReady(): void {
    if (!this.#wasReady) this.#options.ready?.();
    this.#wasReady = true;
  }

  #tellStart(log: { created: boolean; records: number }): void {
    const { settings, version } = this.#options;
    const knobs: Record<string, unknown> = {};
    const given: Record<string, string> = {};
    for (const [key, { value, source }] of Object.entries(shownSettings(settings))) {
      if (value !== undefined) knobs[key] = value;
      if (source !== 'default') given[key] = source;
    }
    this.#logger.info(
      { version, pid: process.pid, addresses: this.#addresses, knobs, given },
      `${openedText(log)}, in ${this.#plan.dataDir}`,
    );
  }

  #tellStall(isStalled: boolean): void {
    if (isStalled) this.#logger.warn('a commit hangs: requests are refused until it is over');
    else this.#logger.info('the commit that hung is over');
  }

  #coordinatorOver(end: CoordinatorEnd): void {
    if (this.#stopping) return;
    this.#progress.phase = 'down';
    this.#progress.committingSince = 0;
    const now = performance.now();
    this.#restarts = this.#restarts.filter((at) => now - at < CALM_MS);
    if (end.kind === 'fatal' && end.followsAgain !== undefined) {
      this.#failedStarts = end.followsAgain.failedStarts;
      this.#logger.warn({ why: why(end) }, 'this node could not begin to lead and follows again');
      return this.#launch();
    }
    if (end.kind !== 'died') return this.#finish(this.#refuse(why(end), statusOf(end)));
    this.#logger.error({ why: end.error.stack ?? end.error.message }, 'the coordinator died');
    if (this.#restarts.length === RESTARTS_MAX) {
      const sentence = `the coordinator died ${RESTARTS_MAX + 1} times within a minute`;
      return this.#finish(this.#refuse(`${sentence}: ${end.error.message}`));
    }
    this.#restarts.push(now);
    this.#launch();
  }

  #refuse(message: string, status: number = STATUS.failed): number {
    this.#options.complain(message);
    return status;
  }
}
