// THE LOOP. Owns the order of the steps, which is the same for every request:
//
//   validate → choose one record → check → append → apply → respond
//
// The ordering contract (R27): a record passes the check that replay makes too, is appended to the
// open group and is applied at once, so the next request is decided on it. The state is therefore
// ahead of the disk. An answer that left early could tell of a record that a crash then loses. So
// answers, refusals and reads all go out through `answer`, and GroupCommit holds each until the
// last record that existed at its decision is flushed. Before each decision, due leases are
// expired, and then the lease that the request names (R7).
//
// The only I/O is the log's; the clock is handed in. Actors, tests and simulator run this file.

import { applyChecked } from '../core/apply.ts';
import { check } from '../core/check.ts';
import { type Changing, choose, isChanging } from '../core/choose.ts';
import { respond } from '../core/respond.ts';
import type { State } from '../core/state.ts';
import { type Subject, subjectOfRequest } from '../core/subject.ts';
import { validate } from '../core/validate.ts';
import { invariant } from '../model/assert.ts';
import type { CoreKnobs } from '../model/knobs.ts';
import type { LogRecord } from '../model/records.ts';
import { unavailable } from '../model/refusal.ts';
import type { Request } from '../model/request.ts';
import type { Response } from '../model/response.ts';
import { Expiry } from './expiry.ts';
import { Granting } from './granting.ts';
import { type Answer, type Commit, GroupCommit, type Ticket } from './group-commit.ts';
import type { CoordinatorEvents, CoordinatorOptions } from './loop-options.ts';
import { LoopView } from './loop-view.ts';
import { Reading } from './reading.ts';
import { Recovery } from './recovery.ts';
import { Removal } from './removal.ts';
import { Retention } from './retention.ts';
import { tick } from './tick.ts';
import { type Mode, type Turn, turnOf } from './turn.ts';
import { whyLost } from './why-lost.ts';

export class Coordinator {
  /** What the thread around the loop, metrics and tests may see of it. */
  readonly view: LoopView;
  private readonly turn: Turn;
  private readonly events: CoordinatorEvents;
  private readonly noRoom: () => string | undefined;
  private readonly commits: GroupCommit;
  private readonly recovery: Recovery;
  private readonly expiry: Expiry;
  private readonly granting: Granting;
  private readonly reading: Reading;
  private readonly removal: Removal;
  private readonly retention: Retention;
  private stopping = false;

  constructor(options: CoordinatorOptions) {
    const { log, clock, events } = options;
    this.events = events;
    this.noRoom = options.noRoom ?? (() => undefined);
    this.commits = new GroupCommit(log, () => clock.monotonic(), {
      durable: (commit) => this.durable(commit),
      unconfirmed: (tickets) => this.unavailable(tickets, 'it is not known who leads now'),
      lost: (result, answers) => this.lost(result, answers),
      ended: () => events.groupEnded?.(),
    });
    this.recovery = new Recovery(options, this.commits, {
      expireDue: (now) => this.expiry.expireDue(now),
      entered: (mode) => this.entered(mode),
    });
    this.turn = this.turnOver(options.knobs);
    this.expiry = new Expiry(this.turn, this.commits);
    this.granting = new Granting(this.turn);
    this.removal = new Removal(options, () => this.state);
    const { commits, granting, recovery, removal } = this;
    this.retention = new Retention(this.turn, () => !removal.busy);
    this.view = new LoopView({ commits, granting, recovery, removal });
    const surroundings = options.surroundings ?? (() => ({}));
    this.reading = new Reading(this.turn, granting, this.view, surroundings);
  }

  private get state(): State {
    return this.recovery.state;
  }

  private now(): number {
    // A record is never earlier than the one before it, whatever the clock handed in does.
    return Math.max(this.recovery.time.now(), this.state.lastAt);
  }

  /** Replays the log and makes this writer the writer; requests may come when it resolves. */
  start(): Promise<void> {
    return this.recovery.start();
  }

  /** Decides one request. `events.answer` delivers its answer, at once or after a flush. */
  take(ticket: Ticket, request: Request): void {
    const now = this.now();
    if (this.reading.defer(ticket, request, now)) return;
    const down = this.recovery.refuses(request);
    if (down !== undefined) return this.events.answer(ticket, down);
    const subject = this.located(request, now);
    const refused = validate(this.state, request, subject);
    if (refused !== undefined) this.answer(ticket, refused);
    else if (request.op === 'lease') this.granting.take(ticket, request, now);
    else if (isChanging(request)) this.change(ticket, request, subject, now);
    else this.reading.take(ticket, request, subject.row, now);
    this.granting.serve(now);
  }

  /** Time has passed: tick.ts has the order in which each part is told. */
  tick(): void {
    const { recovery, reading, expiry, granting, retention } = this;
    const refuse = (late: readonly Ticket[]) =>
      this.unavailable(late, 'the log is not readable yet');
    const parts = { recovery, reading, expiry, granting, retention };
    if (!tick(parts, this.now(), refuse)) return;
    this.proceed();
    this.flush();
  }

  /** Looks at one slice of a long list that was asked for. @returns whether more are to follow. */
  proceed(): boolean {
    if (this.reading.isListing) this.reading.proceed();
    return this.reading.isListing;
  }

  /** Sends what was decided to the disk; call it when everything at hand has been taken. */
  flush(): void {
    this.commits.flush();
  }

  /** The client of a waiting request is gone: the request grants nothing. */
  withdraw(ticket: Ticket): void {
    this.granting.withdraw(ticket);
    this.reading.withdraw(ticket);
  }

  /** Withdraws every waiting request whose ticket satisfies the condition. */
  withdrawWhere(isGone: (ticket: Ticket) => boolean): void {
    this.granting.withdrawWhere(isGone);
  }

  /** The client will send nothing more, or we stop: its waiting request is answered now. */
  hurry(ticket: Ticket): void {
    this.granting.hurry(ticket, this.now());
  }

  /** Resolves when nothing is on its way to the device any more. */
  settled(): Promise<void> {
    return this.commits.settled();
  }

  /** Answers the waiting requests and flushes all decisions; resolves when all is settled. */
  async stop(): Promise<void> {
    this.stopping = true;
    while (this.proceed());
    if (this.recovery.serving) this.granting.hurryAll(this.now());
    this.flush();
    await this.settled();
    await this.removal.stop();
  }

  private turnOver(knobs: CoreKnobs): Turn {
    return turnOf({
      knobs,
      read: (seq) => this.commits.read(seq),
      present: this.recovery,
      isStopping: () => this.stopping,
      decide: (record, subject) => this.decide(record, subject),
      answer: (...given) => this.answer(...given),
    });
  }

  private answer(ticket: Ticket, response: Response, needsProof = true): void {
    if (!this.commits.hold(ticket, response, needsProof)) this.events.answer(ticket, response);
  }

  /** check → append → apply: the only way for a record to happen. */
  private decide(record: LogRecord, subject: Subject): void {
    record.seq = this.state.lastSeq + 1;
    const refused = check(this.state, record, subject);
    invariant(refused === undefined, 'chose a', record.type, 'that cannot be:', refused);
    this.commits.append(record);
    applyChecked(this.state, record, subject);
    this.granting.noticed(record, subject);
    this.removal.noticed(record);
  }

  /** Expires all due leases before the look-up, and after it the lease that the request names. */
  private located(request: Request, now: number): Subject {
    const { recovery, expiry } = this;
    if (recovery.serving) expiry.expireDue(now);
    const subject = subjectOfRequest(this.state, request);
    const isOver = recovery.serving && expiry.expireNamed(request, subject, now);
    return isOver ? subjectOfRequest(this.state, request) : subject;
  }

  private change(ticket: Ticket, request: Changing, subject: Subject, now: number): void {
    if (request.op === 'heartbeat' && subject.lease !== undefined) {
      this.granting.registry.seen(subject.lease.workerId, now);
    }
    const choice = choose(this.turn.context, request, subject, now);
    if (choice.append === undefined) return this.answer(ticket, choice.answer);
    // What ends a task is taken as long as the log takes anything; a new task can wait.
    const noRoom = choice.append.type === 'TaskCreated' ? this.noRoom() : undefined;
    if (noRoom) return this.events.answer(ticket, unavailable('log_unavailable', noRoom));
    this.decide(choice.append, subject);
    this.answer(ticket, respond(this.state, choice.append, subject, now));
  }

  private durable({ answers, lastSeq, records }: Commit): void {
    for (const { ticket, response } of answers) this.events.answer(ticket, response);
    this.removal.durable(lastSeq);
    // Before the caller is told, who then takes what has come meanwhile.
    this.expireMore();
    this.events.durable(lastSeq, records);
  }

  private lost(result: 'fenced' | 'failed', answers: readonly Answer[]): void {
    for (const { ticket, response } of answers) this.unavailable([ticket], whyLost(response));
    this.unavailable(this.granting.withdrawAll(), 'the log takes no records now');
    this.reading.restart(this.now());
    this.recovery.lost(result);
  }

  private unavailable(tickets: readonly Ticket[], why: string): void {
    const down = unavailable('log_unavailable', `${why}; repeat it`);
    for (const ticket of tickets) this.events.answer(ticket, down);
  }

  private entered(mode: Mode): void {
    if (mode === 'serving') this.granting.sightings.begin(this.now());
    this.events.mode(mode);
    for (const [ticket, request] of this.reading.takeDeferred(mode)) this.take(ticket, request);
    this.flush();
    if (mode === 'serving') this.removal.begin(this.state);
  }

  /** More leases were due than the group that is now durable had room for. */
  private expireMore(): void {
    if (!this.recovery.serving) return;
    const now = this.now();
    if (!this.expiry.isDue(now)) return;
    this.expiry.expireDue(now);
    this.granting.serve(now);
  }
}
