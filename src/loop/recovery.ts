// Owns how a coordinator becomes the log's writer, and how it goes on after the log refused a
// record (R28, R29): replay, append CoordinatorStarted, expire overdue leases, serve. While the
// log refuses writes, disk-full.ts says which requests are answered, and when a record tries again.

import { applyChecked } from '../core/apply.ts';
import { check } from '../core/check.ts';
import { State } from '../core/state.ts';
import { LogError } from '../log/log.ts';
import { invariant } from '../model/assert.ts';
import { type CoordinatorStarted, FORMAT_VERSION } from '../model/records.ts';
import { type Unavailable, unavailable } from '../model/refusal.ts';
import type { Request } from '../model/request.ts';
import { CoordinatorTime } from './coordinator-time.ts';
import { DiskFull } from './disk-full.ts';
import type { GroupCommit } from './group-commit.ts';
import type { CoordinatorOptions } from './loop-options.ts';
import { Replayer, replayRest } from './replay.ts';
import type { Mode } from './turn.ts';

/** What recovery needs of the loop around it. */
export interface RecoveringLoop {
  /** Writes one group's worth of expiries. @returns false: more are due. */
  expireDue(now: number): boolean;
  entered(mode: Mode): void;
}

export class Recovery {
  state: State;
  time: CoordinatorTime;
  mode: Mode = 'starting';
  /** Of this start or rebuild. */
  replayMs = 0;
  replayRecords = 0;
  private readonly options: CoordinatorOptions;
  private readonly commits: GroupCommit;
  private readonly loop: RecoveringLoop;
  private readonly diskFull = new DiskFull();
  private skip: number;
  /** Used by the first start only: decisions change its state, so a rebuild reads the log anew. */
  private prepared: Replayer | undefined;
  /**
   * Incremented each time an append fails. An async step compares it before and after its await,
   * and stops if it changed.
   */
  private losses = 0;

  constructor(options: CoordinatorOptions, commits: GroupCommit, loop: RecoveringLoop) {
    this.options = options;
    this.skip = options.skip ?? 0;
    this.prepared = options.prepared;
    this.commits = commits;
    this.loop = loop;
    this.state = new State(options.digestText);
    // Until start() has read the log there is no newest record to hold the clock against.
    this.time = new CoordinatorTime(options.clock, 0, true);
  }

  get serving(): boolean {
    return this.mode === 'serving';
  }

  /** @returns the answer to a request that cannot be decided now, or undefined. */
  refuses(request: Request): Unavailable | undefined {
    if (this.mode === 'serving') return undefined;
    if (this.mode === 'starting') return unavailable('recovering', 'the log is being replayed');
    return this.mode === 'read-only' ? this.diskFull.refuses(request) : this.diskFull.refusal();
  }

  async start(): Promise<void> {
    this.rebuild();
    const acceptClock = this.options.acceptClock ?? false;
    const inherited = this.options.inherited?.(this.state.epoch);
    this.time = new CoordinatorTime(this.options.clock, this.state.lastAt, acceptClock, inherited);
    await this.becomeWriter();
  }

  /** The log refused a group: no decision since then is believed (R28). */
  lost(result: 'fenced' | 'failed'): void {
    this.losses += 1;
    if (result === 'fenced') this.end(fenced());
    else void this.reopen();
  }

  tick(now: number): void {
    if (this.mode !== 'read-only' || !this.diskFull.isDue(now)) return;
    // A CoordinatorStarted is the record that tries. Where the log takes it, a new epoch has begun,
    // and the log tells of the interruption (R28, R30).
    const attempt = this.becomeWriter().catch((error: Error) => this.end(error));
    void this.diskFull.attempted(attempt);
  }

  private async reopen(): Promise<void> {
    if (this.mode === 'ended') return;
    this.enter('rebuilding');
    try {
      await this.options.log.reopen();
      // The state has every record that was decided. If the log has them all, they have happened,
      // although the append was said to have failed, and the state is right as it is (R28).
      if (this.options.log.lastNumber !== this.state.lastSeq) this.rebuild();
      await this.becomeWriter();
    } catch (error) {
      this.end(error as Error);
    }
  }

  private rebuild(): void {
    const began = this.options.clock.monotonic();
    const { log, digestText, onReplay } = this.options;
    const replayer = this.prepared ?? new Replayer(log, digestText);
    this.prepared = undefined;
    const { state, records } = replayRest(replayer, log, onReplay ? { onProgress: onReplay } : {});
    this.state = state;
    this.replayRecords = records;
    this.replayMs = this.options.clock.monotonic() - began;
  }

  /**
   * Appends CoordinatorStarted on the condition that its number is still the next. A writer that
   * started meanwhile has taken that number, so only one of the two goes on (R29).
   */
  private async becomeWriter(): Promise<void> {
    const record = this.started();
    const refused = check(this.state, record);
    invariant(refused === undefined, 'cannot start:', refused);
    const result = await this.options.log.start(record);
    if (result === 'fenced') {
      this.end(fenced());
    } else if (result === 'failed') {
      await this.stayReadOnly();
    } else {
      applyChecked(this.state, record);
      this.skip = 0;
      this.diskFull.over();
      // This record went past GroupCommit, which tells of all others.
      this.options.events.durable(record.seq, 1);
      const losses = this.losses;
      await this.expireOverdue();
      if (losses === this.losses) this.enter('serving');
    }
  }

  private started(): CoordinatorStarted {
    const now = Math.max(this.time.now(), this.state.lastAt);
    return {
      type: 'CoordinatorStarted',
      seq: this.state.lastSeq + 1 + this.skip,
      at: now,
      prev: 0,
      formatVersion: FORMAT_VERSION,
      startedAt: Math.floor(this.options.clock.wall()),
    };
  }

  private async stayReadOnly(): Promise<void> {
    try {
      await this.options.log.reopen();
      if (this.options.log.lastNumber !== this.state.lastSeq) this.rebuild();
    } catch (error) {
      this.end(error as Error);
      return;
    }
    // Reopening the log flushed it, so readers may see all of it.
    this.options.events.durable(this.state.lastSeq, 0);
    this.enter('read-only');
    this.diskFull.goesOn(this.time.now());
  }

  /** Everything that ran out meanwhile is expired before the first request. */
  private async expireOverdue(): Promise<void> {
    const now = Math.max(this.time.now(), this.state.lastAt);
    const losses = this.losses;
    for (let more = true; more && losses === this.losses; ) {
      more = !this.loop.expireDue(now);
      this.commits.flush();
      await this.commits.settled();
    }
  }

  private enter(mode: Mode): void {
    if (this.mode === 'ended') return;
    this.mode = mode;
    this.loop.entered(mode);
  }

  private end(error: Error): void {
    if (this.mode === 'ended') return;
    this.enter('ended');
    this.options.events.fatal(error);
  }
}

const fenced = (): LogError =>
  new LogError('LOG_FENCED', 'another process has written to the log: this one must stop');
