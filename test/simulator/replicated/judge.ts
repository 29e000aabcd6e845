// Owns what is said about each step of each process of a cluster. The process that leads is held to
// the model, step by step, as the one coordinator of the simple world is; the model's book is what
// etcd has agreed on, and what the leader has decided since. A process that was deposed may give
// the answers that it had decided before, and nothing else but UNAVAILABLE.

import { isRead } from '../../../src/core/views.ts';
import type { CoordinatorStarted, LeaseGranted, LogRecord } from '../../../src/model/records.ts';
import type { Request } from '../../../src/model/request.ts';
import type { Response } from '../../../src/model/response.ts';
import { checkAnswer } from '../checkers/answers.ts';
import { FactsChecker } from '../checkers/facts.ts';
import { difference, text } from '../checkers/same.ts';
import { Violation } from '../checkers/violation.ts';
import type { ModelKnobs } from '../model/decide.ts';
import { Model } from '../model/model.ts';
import type { Given } from '../node.ts';
import type { Transcript } from '../transcript.ts';
import type { Agreed } from './agreed.ts';
import type { Deferred, Member } from './member.ts';

const DEFERRED_MAX_MS = 10_000;

export class Judge {
  readonly model: Model;
  leader: Member | undefined;
  /** Records that etcd has agreed on and that were compared with their decisions. */
  written = 0;
  /** How often a leader took its time from a wall clock. */
  timeJumps = 0;
  onAnswer: (ticket: number, response: Response) => void = () => {};
  onGrant: (record: LeaseGranted) => void = () => {};
  private readonly agreed: Agreed;
  private readonly transcript: Transcript;
  private readonly facts = new FactsChecker();
  /** Decided by the leader, and not agreed on yet. */
  private undurable: LogRecord[] = [];
  /** An append of the leader failed: whether etcd has agreed on its records is not known. */
  private inDoubt = false;
  private granted: LeaseGranted[] = [];
  private starting: { readonly member: Member; readonly record: CoordinatorStarted }[] = [];

  constructor(agreed: Agreed, knobs: ModelKnobs, transcript: Transcript) {
    this.agreed = agreed;
    this.transcript = transcript;
    this.model = new Model(knobs);
    agreed.onGroup = (records, sender) => this.groupAgreed(records, sender);
  }

  now(member: Member): number {
    return member.now(this.model.book.lastAt);
  }

  /** A process tries to lead with this record: is it the one that the rulings ask for? */
  starts(member: Member, record: CoordinatorStarted): void {
    const { seq } = record;
    if (member.product !== undefined && !member.hasStarted) this.firstStart(member, record);
    const lastAt = this.agreed.record(seq - 1)?.at ?? 0;
    const startedAt = Math.floor(member.machine.wall());
    const base = { type: 'CoordinatorStarted', prev: 0, formatVersion: 1, startedAt } as const;
    const different = difference({ ...base, at: member.now(lastAt), seq }, record);
    if (different !== undefined) this.agreed.report(new Violation('time', `start: ${different}`));
    this.starting = this.starting.filter((one) => one.record.seq > this.agreed.last);
    this.starting.push({ member, record });
  }

  /**
   * Of a process that follows as the product does: a beat may reach it before the start that it
   * belongs to, and does not count then. So its time may be late, and never ahead.
   */
  private firstStart(member: Member, { seq, at }: CoordinatorStarted): void {
    const { machine } = member;
    const lastAt = this.agreed.record(seq - 1)?.at ?? 0;
    const wall = Math.floor(machine.wall());
    const allowed = machine.inheritedNow(this.agreed.epochOf(seq - 1)) ?? wall;
    if (at < lastAt || at > Math.max(lastAt, allowed)) {
      const what = `the start of ${member.name} is at ${at}, and may be at ${allowed}`;
      this.agreed.report(new Violation('time', what));
    }
    member.hasStarted = true;
    member.base = at;
    member.baseMonotonicMs = machine.monotonic();
  }

  take(member: Member, ticket: number, request: Request): void {
    const loop = member.loop;
    if (loop === undefined) throw new Error('nobody is there to take it');
    const { mode } = loop.view;
    if (request.op === 'metrics') member.unproven.add(ticket);
    if (!this.isJudged(member)) {
      if (this.mayShow(member, request)) member.unproven.add(ticket);
      loop.take(ticket, request);
      this.look(member);
      return;
    }
    const now = this.now(member);
    this.stepBegins(member);
    loop.take(ticket, request);
    this.judging(member);
    if (mode === 'rebuilding' && isRead(request)) {
      member.deferred = [...member.deferred, { ticket, request, since: now }];
    } else if (mode === 'serving' || (mode === 'read-only' && isRead(request))) {
      this.model.take(ticket, request, now);
    } else this.model.refuse(ticket, mode === 'starting' ? 'recovering' : 'log_unavailable');
    this.judged(member);
  }

  /**
   * A process that does not know that it leads may show its state where the log is known to have
   * gone no further; and its start may be agreed on while it does not know.
   */
  private mayShow(member: Member, request: Request): boolean {
    const mode = member.loop?.view.mode;
    if (!isRead(request) || mode === 'starting' || mode === 'serving') return false;
    return member === this.leader || member.log?.lastNumber === this.agreed.last;
  }

  tick(member: Member): void {
    this.step(
      member,
      () => member.loop?.tick(),
      (now) => {
        this.refuseLate(member, now);
        this.model.tick(now);
      },
    );
  }

  flush(member: Member): void {
    this.step(
      member,
      () => member.loop?.flush(),
      () => {},
    );
  }

  hurry(member: Member, ticket: number): void {
    this.step(
      member,
      () => member.loop?.hurry(ticket),
      (now) => this.model.hurry(ticket, now),
    );
  }

  withdraw(member: Member, ticket: number): void {
    member.loop?.withdraw(ticket);
    if (member === this.leader) this.model.withdraw(ticket);
  }

  /** Lets it stop as on SIGTERM: everybody is answered first. */
  stop(member: Member): void {
    const isServing = member.loop?.view.mode === 'serving';
    const hurry = (now: number): void => {
      if (isServing) this.model.hurryAll(now);
    };
    this.step(member, () => void member.loop?.stop(), hurry);
  }

  /** Promises of the process may have gone on: after a commit, a confirmation, a rebuild. */
  wentOn(member: Member): void {
    if (!this.isJudged(member)) return this.look(member);
    const { decided, given, hasLost, deferred, loop } = member;
    const mode = loop?.view.mode;
    const isQuiet = decided.length === 0 && given.length === 0 && !hasLost;
    const resumes = deferred.length > 0 && mode !== 'rebuilding';
    if (isQuiet && !resumes && this.model.isServing === (mode === 'serving'))
      return this.look(member);
    const now = this.now(member);
    if (hasLost) this.lost(member);
    if (mode === 'read-only' && this.inDoubt) this.backToAgreed();
    this.judging(member);
    this.model.flushed(now);
    if (resumes) this.resume(member, now);
    this.judged(member);
  }

  /** The process died: nobody hears what it would have answered. */
  killed(member: Member): void {
    if (member !== this.leader) return;
    this.model.crashed(this.model.book.lastSeq);
    // What it has sent may still arrive: until somebody else leads, etcd may agree on it.
    for (const record of member.decided) this.undurable.push(record);
    member.decided = [];
  }

  private step(member: Member, act: () => void, judge: (now: number) => void): void {
    if (!this.isJudged(member)) {
      act();
      return this.look(member);
    }
    const now = this.now(member);
    this.stepBegins(member);
    act();
    this.judging(member);
    judge(now);
    this.judged(member);
  }

  private isJudged(member: Member): boolean {
    return member === this.leader && member.knowsItLeads;
  }

  private stepBegins(member: Member): void {
    if (member.loop?.view.gatheredRecords === 0) this.model.expiredInGroup = 0;
  }

  private judging(member: Member): void {
    this.assertWhole(member);
    const { decided } = member;
    member.decided = [];
    for (const record of decided) {
      this.transcript.add(record.at, `  ${member.name} record`, record);
      this.undurable.push(record);
    }
    this.model.begin(decided);
    this.granted = decided.filter((record) => record.type === 'LeaseGranted');
  }

  private judged(member: Member): void {
    this.model.end();
    const { granted } = this;
    this.granted = [];
    for (const record of granted) this.onGrant(record);
    this.model.isServing = member.loop?.view.mode === 'serving';
    this.checkGiven(member);
  }

  /** Of a process that does not lead, as far as it knows or in truth. */
  private look(member: Member): void {
    this.assertWhole(member);
    // In vain, unless its start is on its way: then they belong to a lead that nobody knows yet.
    member.decided = [];
    this.checkGiven(member);
  }

  private assertWhole(member: Member): void {
    if (member.broken !== undefined) throw member.broken;
  }

  private checkGiven(member: Member): void {
    const { given, isExcused } = member;
    member.given = [];
    member.isExcused = false;
    for (const one of given) {
      this.transcript.add(0, `  ${member.name} answer`, one.ticket, one.response);
      this.checkOne(member, one, isExcused);
      this.onAnswer(one.ticket, one.response);
    }
  }

  private checkOne(member: Member, { ticket, response, durable }: Given, excused: boolean): void {
    const isUnavailable = response.kind === 'refusal' && response.outcome === 'UNAVAILABLE';
    if (member.unproven.delete(ticket)) {
      this.model.expected.delete(ticket);
      member.leftOver?.delete(ticket);
      return;
    }
    if (member === this.leader && member.leftOver === undefined) {
      if (!member.knowsItLeads && isUnavailable) return;
      if (excused && isUnavailable && this.model.expected.delete(ticket)) return;
      checkAnswer(this.model.expected, ticket, response, durable);
      return;
    }
    if (isUnavailable) {
      member.leftOver?.delete(ticket);
      return;
    }
    const { leftOver } = member;
    if (leftOver?.has(ticket) !== true) {
      const what = `${member.name} was deposed and answers ${ticket} with ${text(response)}`;
      throw new Violation('stale', what);
    }
    checkAnswer(leftOver, ticket, response, durable);
  }

  /** A read does not wait for the log as long as that may be away. */
  private refuseLate(member: Member, now: number): void {
    const isLate = ({ since }: Deferred): boolean => now - since >= DEFERRED_MAX_MS;
    for (const { ticket } of member.deferred.filter(isLate)) {
      this.model.refuse(ticket, 'log_unavailable');
    }
    member.deferred = member.deferred.filter((one) => !isLate(one));
  }

  private resume(member: Member, now: number): void {
    const { mode } = member.loop?.view ?? { mode: 'ended' };
    const waiting = member.deferred;
    member.deferred = [];
    this.model.isServing = mode === 'serving';
    for (const { ticket, request } of waiting) {
      if (mode === 'ended') this.model.refuse(ticket, 'log_unavailable');
      else this.model.take(ticket, request, now);
    }
  }

  /** An append failed: what of it etcd has agreed on is not known before the next start. */
  private lost(member: Member): void {
    member.hasLost = false;
    this.inDoubt = true;
    this.model.lost(this.model.book.lastSeq);
  }

  private backToAgreed(): void {
    this.inDoubt = false;
    this.model.book.backTo(this.agreed.last);
    this.model.forgetting.takenBack();
    this.undurable = this.undurable.filter(({ seq }) => seq <= this.agreed.last);
  }

  /** etcd takes a group: it must be what the leader has decided, or somebody's start. */
  private groupAgreed(records: readonly LogRecord[], sender: string): void {
    const [first] = records;
    this.checkUnderWay(records, sender);
    if (first?.type === 'CoordinatorStarted') this.startAgreed(first, sender);
    else {
      for (const record of records) {
        const decided = this.undurable.shift();
        const different = difference(decided, record);
        if (different === undefined) continue;
        const what = `record ${record.seq} is agreed on otherwise than decided: ${different}`;
        throw new Violation('durability', what);
      }
    }
    for (const record of records) this.facts.see(record);
    this.written += records.length;
    this.model.book.settled(records.at(-1)?.seq ?? 0);
  }

  /** What the leader gave up, and opened its log again after, must not arrive any more. */
  private checkUnderWay(records: readonly LogRecord[], sender: string): void {
    const { leader } = this;
    if (leader?.name !== sender || !leader.runsLoop) return;
    if (leader.underWay?.at(-1)?.seq === records.at(-1)?.seq) return;
    const what = `${sender} gave a group up, and record ${records[0]?.seq} arrives after all`;
    throw new Violation('barrier', what);
  }

  private startAgreed(record: CoordinatorStarted, sender: string): void {
    // It may have asked more than once, and the first time may come to pass after the second.
    const found = this.starting.find(
      (one) => one.member.name === sender && difference(one.record, record) === undefined,
    );
    if (found === undefined) throw new Violation('durability', `${sender} starts with other words`);
    const { member } = found;
    const { leader, model } = this;
    this.transcript.add(record.at, `${sender} leads`, record);
    if (leader !== member) {
      if (leader !== undefined) leader.leftOver = new Map(model.expected);
      model.crashed(this.agreed.last);
    } else {
      model.book.backTo(this.agreed.last);
      model.forgetting.takenBack();
      model.isServing = false;
    }
    this.undurable = [];
    this.inDoubt = false;
    this.leader = member;
    if (member.usesWallClock) this.timeJumps += 1;
    model.forgetting.isGone = (seq) => member.log?.dropped.has(seq) ?? false;
    model.begin([record]);
    model.started(record);
    model.end();
  }
}
