// THE LOOP. Owns the order of things, for every request the same:
//
//   validate → choose one record → check → append → apply → respond
//
// The ordering contract (R27): a record is checked by the function with which replay checks, gets
// its number and its place in the open group, and is applied at once, so that the next request is
// decided on it. The state is therefore ahead of the disk by the group in flight and the group that
// gathers, and NOTHING that was decided on it leaves before the flush of the last record that
// existed at its decision: answers, refusals and reads go out through `answer` alone, which asks
// GroupCommit to hold them. Before a request that names a task or lease is decided, that lease is
// expired if its time has come; before anything else, whatever is due (R7).
//
// No I/O but the log's, no clock but the one handed in: actors, tests, simulator run this file.

import { applyChecked } from '../core/apply.ts';
import { check } from '../core/check.ts';
import { type Changing, choose, isChanging } from '../core/choose.ts';
import type { Context } from '../core/context.ts';
import { forgetPauseMs, forgotten } from '../core/forgetting.ts';
import { expired, isOver } from '../core/lease-manager.ts';
import type { ActiveLease } from '../core/leases.ts';
import { respond } from '../core/respond.ts';
import type { State } from '../core/state.ts';
import { NONE } from '../core/task-table.ts';
import { validate } from '../core/validate.ts';
import { invariant } from '../model/assert.ts';
import type { HistoryForgotten, LogRecord } from '../model/records.ts';
import { unavailable } from '../model/refusal.ts';
import type { LeaseRequest, Request } from '../model/request.ts';
import type { Response } from '../model/response.ts';
import { Granting } from './granting.ts';
import { GroupCommit, type Ticket } from './group-commit.ts';
import type { CoordinatorEvents, CoordinatorOptions } from './loop-options.ts';
import { Reading } from './reading.ts';
import { Recovery } from './recovery.ts';
import { Removal } from './removal.ts';

/** Expiries written with one group at most: other requests get into each, and wait for two. */
const EXPIRED_A_GROUP = 500;

export class Coordinator {
  readonly commits: GroupCommit;
  readonly recovery: Recovery;
  readonly granting: Granting;
  readonly reading: Reading;
  readonly removal: Removal;
  /** What a decision looks at. Made once: the state in it is always the present one. */
  readonly context: Context;
  private readonly events: CoordinatorEvents;
  private expiredInGroup = 0;
  private forgetAt = Number.NEGATIVE_INFINITY;
  /** Nothing is parked any more. */
  isStopping = false;

  constructor(options: CoordinatorOptions) {
    this.events = options.events;
    this.commits = new GroupCommit(options.log, {
      durable: (commit) => {
        for (const { ticket, response } of commit.answers) this.events.answer(ticket, response);
        this.removal.durable(commit.lastSeq);
        this.events.durable(commit.lastSeq, commit.records);
        this.expireMore();
      },
      lost: (result, tickets) => {
        const down = unavailable('log_unavailable', 'the log did not take the record; repeat it');
        for (const ticket of [...tickets, ...this.granting.withdrawAll()]) {
          this.events.answer(ticket, down);
        }
        this.recovery.lost(result);
      },
    });
    this.recovery = new Recovery(options, this.commits, {
      expireDue: (now) => this.expireDue(now),
      entered: (mode) => {
        this.events.mode(mode);
        this.reading.resume(mode);
        if (mode === 'serving') {
          this.removal.begin(this.state.completedThrough, this.state.failedThrough);
        }
      },
    });
    const { recovery, commits } = this;
    this.context = {
      get state() {
        return recovery.state;
      },
      knobs: options.knobs,
      read: (seq) => commits.read(seq),
    };
    this.granting = new Granting(this);
    this.reading = new Reading(this);
    this.removal = new Removal(options, () => this.state);
  }

  get state(): State {
    return this.recovery.state;
  }

  now(): number {
    // A record is never earlier than the one before it, whatever the clock handed in does.
    return Math.max(this.recovery.time.now(), this.state.lastAt);
  }

  /** Replays the log and makes this writer the writer; requests may come when it resolves. */
  start(): Promise<void> {
    return this.recovery.start();
  }

  /** Decides one request. Its answer comes by `events.answer`, at once or after a flush. */
  take(ticket: Ticket, request: Request): void {
    if (this.recovery.mode === 'rebuilding' && this.reading.defer(ticket, request)) return;
    const down = this.recovery.refuses(request);
    if (down !== undefined) {
      this.events.answer(ticket, down);
      return;
    }
    const now = this.now();
    if (this.recovery.serving) {
      this.expireDue(now);
      this.expireNamed(request, now);
    }
    const refused = validate(this.state, request);
    if (refused !== undefined) this.answer(ticket, refused);
    else if (request.op === 'lease') this.takeLease(ticket, request, now);
    else if (isChanging(request)) this.change(ticket, request, now);
    else this.reading.take(ticket, request, now);
    this.granting.serve(now);
  }

  /** Time has passed: expire, wake, forget. */
  tick(): void {
    const now = this.now();
    this.recovery.tick(now);
    if (!this.recovery.serving) return;
    this.expireDue(now);
    this.granting.tick(now);
    this.forget(now);
    this.flush();
  }

  /** Sends what was decided to the disk; call it when everything at hand has been taken. */
  flush(): void {
    this.commits.flush();
  }

  /** The connection of a parked request is gone: it grants nothing. */
  withdraw(ticket: Ticket): void {
    this.granting.withdraw(ticket);
    this.reading.withdraw(ticket);
  }

  /** The connection will send nothing more, or we stop: a parked request is answered now. */
  hurry(ticket: Ticket): void {
    this.granting.hurry(ticket, this.now());
  }

  /** Answers what is parked, flushes what was decided; resolves when all of it is settled. */
  async stop(): Promise<void> {
    this.isStopping = true;
    if (this.recovery.serving) this.granting.hurryAll(this.now());
    this.flush();
    await this.commits.settled();
    await this.removal.stop();
  }

  /** The only way out for an answer. */
  answer(ticket: Ticket, response: Response): void {
    if (!this.commits.hold(ticket, response)) this.events.answer(ticket, response);
  }

  /** check → append → apply: the only way for a record to happen. */
  decide(record: LogRecord): void {
    record.seq = this.state.lastSeq + 1;
    const refused = check(this.state, record);
    invariant(refused === undefined, `chose a ${record.type} that cannot be: ${refused}`);
    const holder = this.granting.holderOf(record);
    this.commits.append(record);
    applyChecked(this.state, record);
    this.granting.noticed(record, holder);
    this.removal.noticed(record);
  }

  private change(ticket: Ticket, request: Changing, now: number): void {
    if (request.op === 'heartbeat') {
      const lease = this.state.leases.get(request.leaseId);
      if (lease !== undefined) this.granting.registry.seen(lease.workerId, now);
    }
    const choice = choose(this.context, request, now);
    if (choice.append === undefined) {
      this.answer(ticket, choice.answer);
      return;
    }
    this.decide(choice.append);
    this.answer(ticket, respond(this.state, choice.append, now));
  }

  private takeLease(ticket: Ticket, request: LeaseRequest, now: number): void {
    // Older parked requests come first: what became eligible by time alone is theirs.
    this.granting.wakeDue(request.queues, now);
    this.granting.take(ticket, request, now);
  }

  private expireNamed(request: Request, now: number): void {
    if (!('taskId' in request)) return;
    const { state } = this;
    const row = state.tasks.find(request.taskId);
    const named =
      row !== NONE && state.tasks.state(row) === 'LEASED' ? state.tasks.leaseId(row) : 0;
    this.expireIfOver(state.leases.get(named), now);
    if ('leaseId' in request) this.expireIfOver(state.leases.get(request.leaseId), now);
  }

  private expireIfOver(lease: ActiveLease | undefined, now: number): void {
    if (lease !== undefined && isOver(lease, now)) this.decide(expired(this.context, lease, now));
  }

  /** In the order (lease_expiry, lease id). @returns whether none is due any more. */
  private expireDue(now: number): boolean {
    if (this.commits.gathered === 0) this.expiredInGroup = 0;
    for (;;) {
      const lease = this.state.leases.firstToExpire();
      if (lease === undefined || !isOver(lease, now)) return true;
      if (this.expiredInGroup >= EXPIRED_A_GROUP) return false;
      this.expiredInGroup += 1;
      this.decide(expired(this.context, lease, now));
    }
  }

  private expireMore(): void {
    if (!this.recovery.serving) return;
    const now = this.now();
    const first = this.state.leases.firstToExpire();
    if (first === undefined || !isOver(first, now)) return;
    this.expireDue(now);
    this.granting.serve(now);
    this.flush();
  }

  private forget(now: number): void {
    if (now < this.forgetAt || this.removal.busy) return;
    if (!this.recovery.time.mayForget(now)) return;
    const atOf = (seq: number): number => this.commits.read(seq)?.at ?? now;
    const due = (): HistoryForgotten | undefined =>
      forgotten(this.state, this.context.knobs, now, atOf);
    const record = due();
    if (record === undefined) return;
    this.decide(record);
    this.forgetAt = now + forgetPauseMs(this.context.knobs, due() !== undefined);
  }
}
