// Owns the world around the coordinator: its clocks, its disk, its crashes and the processes that
// follow one another. After every step of the loop the model is told what was decided, and the
// checkers look at what was answered.

import { stateDigest } from '../../src/core/digest.ts';
import { brokenInvariants } from '../../src/core/invariants.ts';
import { isRead } from '../../src/core/views.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { replay } from '../../src/loop/replay.ts';
import type { CoordinatorStarted, LeaseGranted, LogRecord } from '../../src/model/records.ts';
import type { Request } from '../../src/model/request.ts';
import type { Response } from '../../src/model/response.ts';
import { checkAgreement, checkRemoved } from './checkers/agreement.ts';
import { checkAnswer } from './checkers/answers.ts';
import { FactsChecker } from './checkers/facts.ts';
import { difference } from './checkers/same.ts';
import { Violation } from './checkers/violation.ts';
import { DecodedStore } from './decoded.ts';
import { type CommitEnd, Disk } from './disk.ts';
import { Events } from './events.ts';
import { Model } from './model/model.ts';
import { digestText, Node } from './node.ts';
import { Random } from './random.ts';
import type { Settings, Troubles } from './settings.ts';
import type { Stage } from './stage.ts';
import { Transcript } from './transcript.ts';
import { turn, until } from './turn.ts';

const START = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TICK_MS = 50;
/** Full scans cost as much as the state is large: they are made now and then. */
const SCAN_EVERY = 2_000;
const REPLAY_EVERY = 10_000;

export class World implements Stage {
  readonly events = new Events();
  readonly store = new DecodedStore();
  readonly transcript = new Transcript();
  readonly model: Model;
  readonly settings: Settings;
  troubles: Troubles;
  /** The one clock of the machine is that of the world. */
  readonly driftMs = (): number => 0;
  node: Node;
  onAnswer: (ticket: number, response: Response) => void = () => {};
  onGrant: (record: LeaseGranted) => void = () => {};
  /** Everything that waited for an answer of a process that is gone. */
  onCrash: () => void = () => {};
  readonly disk: Disk;
  private readonly dice: Random;
  private readonly facts = new FactsChecker();
  /** How often coordinator time jumped ahead of true time, by a start with a later wall clock. */
  timeJumps = 0;
  private skip = 0;
  private written = 0;
  private wallOffset = 0;
  private timeBase = 0;
  private bootedAt = 0;
  private tickets = 0;
  private seen = 0;
  private undurable: LogRecord[] = [];
  /** By the step that is judged. */
  private decided: readonly LogRecord[] = [];
  private deferred: { readonly ticket: number; readonly request: Request }[] = [];
  private settling = false;
  private starting: CoordinatorStarted | undefined;
  private scanAt = SCAN_EVERY;
  private replayAt = REPLAY_EVERY;

  constructor(settings: Settings) {
    this.settings = settings;
    this.troubles = settings.troubles;
    this.dice = new Random(settings.seed, 'world');
    this.disk = new Disk(this.dice);
    this.model = new Model(settings.knobs);
    this.node = this.boot(0);
    this.events.after(TICK_MS, this.tick);
  }

  get records(): number {
    return this.written;
  }

  private readonly clock = {
    wall: () => START + this.events.now + this.wallOffset,
    monotonic: () => this.events.now,
  };

  /** Coordinator time as the ruling says it (R6). */
  now(): number {
    return Math.max(this.timeBase + this.events.now - this.bootedAt, this.model.book.lastAt);
  }

  newTicket(): number {
    this.tickets += 1;
    return this.tickets;
  }

  take(ticket: number, request: Request): void {
    this.transcript.add(this.now(), 'request', ticket, request);
    const now = this.now();
    const { mode } = this.node.loop.view;
    this.stepBegins();
    this.node.loop.take(ticket, request);
    this.judging();
    if (mode === 'rebuilding' && isRead(request)) this.deferred.push({ ticket, request });
    else if (mode === 'serving' || (mode === 'read-only' && isRead(request))) {
      this.model.take(ticket, request, now);
    } else this.model.refuse(ticket, mode === 'starting' ? 'recovering' : 'log_unavailable');
    this.judged();
  }

  hurry(ticket: number): void {
    const now = this.now();
    this.transcript.add(now, `hurry ${ticket}`);
    this.stepBegins();
    this.node.loop.hurry(ticket);
    this.judging();
    this.model.hurry(ticket, now);
    this.judged();
  }

  withdraw(ticket: number): void {
    this.transcript.add(this.now(), `withdraw ${ticket}`);
    this.node.loop.withdraw(ticket);
    this.model.withdraw(ticket);
  }

  flush(): void {
    this.stepBegins();
    this.node.loop.flush();
    this.judging();
    this.judged();
    this.plan();
  }

  /** Time passes and nothing else: a pause of the machine. */
  pass(ms: number): void {
    this.transcript.add(this.now(), `${ms} ms pass`);
    this.events.now += ms;
  }

  stepWall(ms: number): void {
    this.wallOffset = Math.max(-3 * DAY_MS, Math.min(3 * DAY_MS, this.wallOffset + ms));
    this.transcript.add(this.now(), `wall clock stepped by ${ms} ms`);
  }

  /** The process is gone, and with it all that was not durable; its clients hear nothing. */
  bury(): void {
    this.landed();
    this.advanceTo(this.store.last);
    this.model.crashed(this.store.last);
    this.undurable = [];
    this.deferred = [];
    this.onCrash();
  }

  /** A new process on what the log holds. */
  async reboot(skip = 0): Promise<void> {
    this.node = this.boot(skip);
    await turn();
    if (this.node.broken !== undefined) throw this.node.broken;
    checkAgreement(this.node.loop.view.state, this.model.book);
    this.plan();
  }

  /** Lets the loop stop as on SIGTERM: everybody is answered first. */
  stop(): void {
    const now = this.now();
    this.transcript.add(now, 'stop');
    const isServing = this.node.loop.view.mode === 'serving';
    this.stepBegins();
    void this.node.loop.stop();
    this.judging();
    if (isServing) this.model.hurryAll(now);
    this.judged();
    this.plan();
  }

  /** Everything at hand is over: what live state, log and model say must be the same. */
  audit(): void {
    const { state } = this.node.loop.view;
    this.scan();
    if (!this.node.loop.view.isIdle || this.store.last !== state.lastSeq) return;
    const replayed = replay(this.node.log, { digestText }).state;
    // From the bytes again, whatever was read from them before.
    const again = replay(new MemoryLog({ store: this.store }), { digestText }).state;
    const digests = [state, replayed, again].map(stateDigest);
    if (new Set(digests).size > 1) throw new Violation('digest', `differ: ${digests.join(' ')}`);
  }

  /** Looks at everything that the state holds. */
  private scan(): void {
    const { state } = this.node.loop.view;
    const broken = brokenInvariants(state);
    if (broken.length > 0) throw new Violation('invariants', broken.join('; '));
    const wrong = this.model.broken(this.now());
    if (wrong !== undefined) throw new Violation('bookkeeping', `the model lost count of ${wrong}`);
    if (state.lastSeq === this.model.book.lastSeq) checkAgreement(state, this.model.book);
  }

  /** A process on the same log that is not the one we look at. */
  other(skip = 0): Node {
    return new Node({
      store: this.store,
      knobs: this.settings.knobs,
      segmentRecords: this.settings.segmentRecords,
      clock: this.clock,
      skip,
      removalFails: () => this.dice.chance(this.troubles.removal),
    });
  }

  private boot(skip: number): Node {
    const node = this.other(skip);
    const { book } = this.model;
    const wall = Math.floor(this.clock.wall());
    const before = this.now();
    this.timeBase = Math.max(wall, book.lastAt);
    this.bootedAt = this.events.now;
    this.model.forgetting.isGone = (seq) => node.log.dropped.has(seq);
    if (this.timeBase > before) this.timeJumps += 1;
    this.skip = skip;
    node.log.onStart = (record) => this.checkStart(node, record);
    node.start();
    return node;
  }

  /** A node starts at once, before it is the one of this world. */
  private checkStart(node: Node, record: CoordinatorStarted): void {
    const startedAt = Math.floor(this.clock.wall());
    const { book } = this.model;
    const base = { type: 'CoordinatorStarted', prev: 0, formatVersion: 1, startedAt } as const;
    const expected = { ...base, at: this.now(), seq: book.lastSeq + 1 + this.skip };
    const different = difference(expected, record);
    if (different !== undefined) node.broken = new Violation('model', `start: ${different}`);
    this.starting = record;
  }

  /** A CoordinatorStarted that the disk has, whatever it said, has happened. */
  private landed(): void {
    const { starting, model } = this;
    this.starting = undefined;
    if (starting === undefined || this.store.last !== starting.seq) return;
    if (model.book.lastSeq >= starting.seq) return;
    this.undurable.push(starting);
    model.begin([starting]);
    model.started(starting);
    model.end();
  }

  private readonly tick = (): void => {
    const now = this.now();
    this.transcript.add(now, 'tick');
    this.stepBegins();
    this.node.loop.tick();
    this.judging();
    this.model.tick(now);
    this.judged();
    this.plan();
    this.events.after(TICK_MS, this.tick);
  };

  private stepBegins(): void {
    if (this.node.loop.view.gatheredRecords === 0) this.model.expiredInGroup = 0;
  }

  /** The loop has made its step; what the model says between this and `judged` must fit it. */
  private judging(): void {
    const { node } = this;
    if (node.broken !== undefined) throw node.broken;
    if (node.fatal !== undefined) throw new Violation('fatal', node.fatal.message);
    const { decided } = node;
    if (decided.length > 0) node.decided = [];
    this.decided = decided;
    for (const record of decided) {
      this.transcript.add(record.at, '  record', record);
      this.undurable.push(record);
      if (record.type === 'CoordinatorStarted') this.skip = 0;
    }
    this.model.begin(decided);
  }

  private judged(): void {
    this.model.end();
    for (const record of this.decided) if (record.type === 'LeaseGranted') this.onGrant(record);
    this.model.isServing = this.node.loop.view.mode === 'serving';
    this.checkGiven();
  }

  private checkGiven(): void {
    const { given } = this.node;
    if (given.length === 0) return;
    this.node.given = [];
    for (const { ticket, response, durable } of given) {
      this.transcript.add(this.now(), '  answer', ticket, response);
      checkAnswer(this.model.expected, ticket, response, durable);
      this.onAnswer(ticket, response);
    }
  }

  /** A commit is on its way: when and how it ends is the disk's. */
  plan(): void {
    const { node } = this;
    if (!node.log.pending || this.settling) return;
    this.settling = true;
    const { delayMs, end } = this.disk.next(this.events.now, this.troubles);
    this.events.after(delayMs, () => {
      this.settling = false;
      if (this.node !== node) return this.plan();
      if (node.log.pending) return this.settle(end);
    });
  }

  private async settle(outcome: CommitEnd): Promise<void> {
    const { node } = this;
    if (outcome !== 'durable') this.transcript.add(this.now(), `the commit is ${outcome}`);
    const wasServing = node.loop.view.mode === 'serving';
    this.stepBegins();
    node.log.settle(outcome);
    if (outcome !== 'durable') {
      this.landed();
      this.advanceTo(this.store.last);
      this.model.lost(this.store.last);
      this.undurable = [];
    }
    if (outcome === 'durable' && wasServing) {
      await until(() => !node.loop.view.isCommitting || node.log.pending);
    } else {
      await turn();
    }
    if (node.loop.view.isRemoving) await until(() => !node.loop.view.isRemoving);
    this.afterCommit();
    this.plan();
  }

  afterCommit(): void {
    const now = this.now();
    this.advanceTo(this.store.last);
    this.judging();
    this.model.flushed(now);
    this.resume(now);
    this.judged();
    this.advanceTo(this.store.last);
  }

  /** Reads that waited for a rebuild are decided when it is over. */
  private resume(now: number): void {
    const { mode } = this.node.loop.view;
    if (mode === 'rebuilding' || this.deferred.length === 0) return;
    const waiting = this.deferred;
    this.deferred = [];
    this.model.isServing = mode === 'serving';
    for (const { ticket, request } of waiting) {
      if (mode === 'ended') this.model.refuse(ticket, 'log_unavailable');
      else this.model.take(ticket, request, now);
    }
  }

  /** Durable records, one by one, as the disk has them. */
  private advanceTo(last: number): void {
    let count = 0;
    for (const record of this.undurable) {
      if (record.seq > last) break;
      count += 1;
      const stored = this.store.record(record.seq);
      if (stored === undefined) {
        checkRemoved(this.store, this.model.book, record);
        this.facts.see(record);
        continue;
      }
      const different = difference(record, stored);
      if (different !== undefined) {
        throw new Violation('durability', `record ${record.seq} is stored as ${different}`);
      }
      this.facts.see(stored);
    }
    this.written += count;
    if (count > 0) this.undurable.splice(0, count);
    if (last < this.seen)
      throw new Violation('durability', `the log went from ${this.seen} to ${last}`);
    this.seen = last;
    this.model.book.settled(last);
    if (last >= this.scanAt) {
      this.scanAt = last + SCAN_EVERY;
      this.scan();
    }
    if (last >= this.replayAt && this.node.loop.view.isIdle) {
      // As often as the log doubles, at most: a long run is not all replay.
      this.replayAt = last + Math.max(REPLAY_EVERY, this.store.entries.size);
      this.audit();
    }
  }
}
