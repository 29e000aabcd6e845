// Owns the reference model: it decides every request from the requirements and rulings alone, and
// is told what the product really decided. Where the documents leave the product a choice (when a
// parked request is served, when history is forgotten) it takes the product's, if it is allowed.

import type { LogRecord } from '../../../src/model/records.ts';
import type { LeaseRequest, Request, TaskRequest } from '../../../src/model/request.ts';
import type { Lease, Response } from '../../../src/model/response.ts';
import { difference, text } from '../checkers/same.ts';
import { Violation } from '../checkers/violation.ts';
import { Book } from './book.ts';
import {
  type ChangingRequest,
  decide,
  grantRecord,
  leaseAnswer,
  type ModelKnobs,
  roomFor,
  whyEmpty,
} from './decide.ts';
import { Forgetting } from './forget.ts';
import { answerRead, type Expectation, showTask } from './reads.ts';
import { heldLease, isOver, type ModelLease, type ModelTask, newestLease } from './tasks.ts';

/** R7: at most so many expiries a group … */
const EXPIRED_A_GROUP = 2_000;
/** … and no fewer while more are due, or the sweep would never catch up. */
const EXPIRED_AT_LEAST = 500;

const NO_QUEUE: readonly string[] = [];

interface Parked {
  readonly ticket: number;
  readonly request: LeaseRequest | TaskRequest;
  readonly parkedAt: number;
}

export interface Expected {
  readonly answer: Expectation;
  /** The newest record at the decision: the answer may not leave before it is durable. */
  readonly mark: number;
}

export class Model {
  readonly book = new Book();
  readonly forgetting: Forgetting;
  readonly parked: Parked[] = [];
  readonly expected = new Map<number, Expected>();
  isServing = false;
  /** Expiries since the group that gathers was begun; the rest that is due goes with the next. */
  expiredInGroup = 0;
  private readonly knobs: ModelKnobs;
  private actual: readonly LogRecord[] = [];
  private taken = 0;
  /** Queues in which a task came to wait, and workers whose lease ended, in this step. */
  private readonly woken = new Set<string>();
  private readonly freed = new Set<string>();

  constructor(knobs: ModelKnobs) {
    this.knobs = knobs;
    this.forgetting = new Forgetting(this.book, knobs);
  }

  /** The coordinator has made a step and decided these records in it: now say what they must be. */
  begin(actual: readonly LogRecord[]): void {
    this.actual = actual;
    this.taken = 0;
    if (this.woken.size > 0) this.woken.clear();
    if (this.freed.size > 0) this.freed.clear();
  }

  /** All was said about the step: each of its records must have had a reason. */
  end(): void {
    const extra = this.actual[this.taken];
    if (extra !== undefined) throw new Violation('model', `no reason for ${text(extra)}`);
  }

  take(ticket: number, request: Request, now: number): void {
    if (this.isServing) {
      this.expireDue(now);
      const named = 'taskId' in request ? this.book.find(request.taskId) : undefined;
      if (named !== undefined) this.expireIfOver(named, now);
    }
    if (request.op === 'lease') {
      this.serve(now, request.queues);
      this.takeLease(ticket, request, now);
    } else if (isRead(request)) {
      const answer = answerRead(this.book, request, now, this.isServing);
      if (answer === 'park')
        this.parked.push({ ticket, request: request as TaskRequest, parkedAt: now });
      else this.answer(ticket, answer);
    } else {
      const decision = decide(this.book, this.knobs, request as ChangingRequest, now);
      if (decision.record !== undefined) this.happen(decision.record);
      this.answer(ticket, decision.answer(this.book.lastSeq));
    }
    this.serve(now);
  }

  /** The process takes no such request now. */
  refuse(ticket: number, reason: 'recovering' | 'log_unavailable'): void {
    const answer = { kind: 'refusal', outcome: 'UNAVAILABLE', reason, record: null } as const;
    this.expected.set(ticket, { answer, mark: 0 });
  }

  tick(now: number): void {
    if (!this.isServing) return;
    this.expireDue(now);
    this.serve(now, 'all');
    for (const parked of this.parked.slice()) {
      if (parked.parkedAt + parked.request.waitMs <= now) this.conclude(parked, now);
    }
    const record = this.forgetting.next(this.actual[this.taken], now);
    if (record !== undefined) this.happen(record);
  }

  /** After a flush the coordinator may go on expiring; anything else has no reason. */
  flushed(now: number): void {
    const first = this.actual[0];
    if (first === undefined) return;
    if (first.type === 'CoordinatorStarted') this.started(first);
    this.expireDue(now);
    this.serve(now);
  }

  /** Its number may leave others free, on a restored log (R35); the world has looked at it. */
  started(record: LogRecord): void {
    this.book.lastSeq = record.seq - 1;
    this.happen({ ...record });
  }

  hurryAll(now: number): void {
    for (const parked of [...this.parked]) this.conclude(parked, now);
  }

  hurry(ticket: number, now: number): void {
    const parked = this.parked.find((one) => one.ticket === ticket);
    if (parked !== undefined) this.conclude(parked, now);
  }

  withdraw(ticket: number): void {
    const at = this.parked.findIndex((one) => one.ticket === ticket);
    if (at !== -1) this.parked.splice(at, 1);
  }

  /** The log lost what it did not hold: everybody who waits is told so (R28). */
  lost(lastSeq: number): void {
    this.book.backTo(lastSeq);
    this.forgetting.takenBack();
    const answer: Response = {
      kind: 'refusal',
      outcome: 'UNAVAILABLE',
      reason: 'log_unavailable',
      record: null,
    };
    for (const ticket of this.expected.keys()) this.expected.set(ticket, { answer, mark: 0 });
    for (const { ticket } of this.parked) this.expected.set(ticket, { answer, mark: 0 });
    this.parked.length = 0;
  }

  /** A new process: it knows what the log holds and nobody's requests. */
  crashed(lastSeq: number): void {
    this.book.backTo(lastSeq);
    this.forgetting.takenBack();
    this.expected.clear();
    this.parked.length = 0;
    this.isServing = false;
  }

  /** @returns what is not as a look at everything says, or undefined. */
  broken(now: number): string | undefined {
    return this.forgetting.broken(now) ? 'what is due to be forgotten' : this.book.broken();
  }

  happen(record: LogRecord): void {
    record.seq = this.book.lastSeq + 1;
    const actual = this.actual[this.taken];
    if (actual === undefined) throw new Violation('model', `missing: ${text(record)}`);
    const different = difference(record, actual);
    if (different !== undefined) {
      const both = `expected ${text(record)}\n     got ${text(actual)}`;
      throw new Violation('model', `record ${record.seq}: ${different}\n${both}`);
    }
    this.taken += 1;
    const holder = this.holderOf(record);
    this.book.apply(record);
    if (this.parked.length === 0) return;
    this.note(record, holder);
    this.tellWatchers(record);
  }

  private answer(ticket: number, answer: Expectation): void {
    this.expected.set(ticket, { answer, mark: this.book.lastSeq });
  }

  private expireDue(now: number): void {
    while (now >= this.book.soonestExpiry && this.expiredInGroup < EXPIRED_A_GROUP) {
      const isNext = this.actual[this.taken]?.type === 'LeaseExpired';
      if (this.expiredInGroup >= EXPIRED_AT_LEAST && !isNext) return;
      let first: ModelTask | undefined;
      let soonest = Number.POSITIVE_INFINITY;
      for (const task of this.book.leased.values()) {
        const { expiry, id } = newestLease(task) as ModelLease;
        if (expiry > soonest) continue;
        if (first !== undefined && expiry === soonest && id > (newestLease(first)?.id ?? 0))
          continue;
        first = task;
        soonest = expiry;
      }
      this.book.soonestExpiry = soonest;
      if (first === undefined || soonest > now) return;
      this.expiredInGroup += 1;
      this.expireIfOver(first, now);
    }
  }

  private expireIfOver(task: ModelTask, now: number): void {
    const lease = heldLease(task);
    if (lease === undefined || now < lease.expiry) return;
    this.happen({
      type: 'LeaseExpired',
      seq: 0,
      at: now,
      prev: task.last,
      taskId: task.id,
      leaseId: lease.id,
      extensions: lease.extensions,
      lastExtension: lease.lastExtension,
    });
  }

  private takeLease(ticket: number, request: LeaseRequest, now: number): void {
    const { leases, gaveUp } = this.grant(request, now);
    if (leases.length === 0 && request.waitMs > 0 && !gaveUp) {
      this.parked.push({ ticket, request, parkedAt: now });
    } else {
      this.answerLease(ticket, request, { leases, gaveUp }, now, now);
    }
  }

  private answerLease(
    ticket: number,
    request: LeaseRequest,
    { leases, gaveUp }: { readonly leases: readonly Lease[]; readonly gaveUp: boolean },
    askedAt: number,
    now: number,
  ): void {
    const waitedMs = now - askedAt;
    const why = gaveUp ? ({ reason: 'no_task' } as const) : whyEmpty(this.book, request, now);
    const empty = leases.length === 0 ? why : undefined;
    this.answer(ticket, { kind: 'leased', leases, waitedMs, empty, base64: request.base64 });
  }

  private grant(request: LeaseRequest, now: number): { leases: Lease[]; gaveUp: boolean } {
    const wanted = Math.min(request.max, roomFor(this.book, request));
    const leases: Lease[] = [];
    let bytes = 0;
    let poisoned = 0;
    while (leases.length < wanted && bytes < this.knobs.answerMaxBytes) {
      if (poisoned === 100) return { leases, gaveUp: true };
      const task = this.book.order.firstEligible(request.queues, now);
      if (task === undefined) break;
      const record = grantRecord(this.knobs, task, request, now);
      this.happen(record);
      if (record.type === 'TaskDead') {
        poisoned += 1;
        continue;
      }
      leases.push(leaseAnswer(this.knobs, this.book.find(task.id) as ModelTask, now));
      bytes += task.payload.length;
    }
    return { leases, gaveUp: false };
  }

  /**
   * Serves parked requests. One that could be served must be when something that it waits for came
   * in this step, or when it asks for a queue that `must` be served; else it may. Never before an
   * older one that asks for the queue of the task that it gets (R20).
   */
  private serve(now: number, must: readonly string[] | 'all' = NO_QUEUE): void {
    if (!this.isAnyReady(now)) return;
    const passed = new Set<Parked>();
    for (;;) {
      const ready = this.parked.filter((one) => !passed.has(one) && this.isReady(one, now));
      if (ready.length === 0) return;
      const next = ready.find((one) => this.isNext(this.firstGrant(one, now)));
      const due = ready.find(({ request }) => {
        const { queues, capacity, workerId } = request as LeaseRequest;
        const hasRoomNow = capacity !== undefined && this.freed.has(workerId);
        const isNamed = (name: string): boolean => must === 'all' || must.includes(name);
        const named = queues.filter((name) => hasRoomNow || isNamed(name) || this.woken.has(name));
        return this.book.order.firstEligible(named, now) !== undefined;
      });
      const served = next ?? due;
      if (served === undefined) return;
      const queue = this.firstTask(served, now)?.queue ?? '';
      const first = ready.find(({ request }) => (request as LeaseRequest).queues.includes(queue));
      if (first !== served) {
        const what = `ticket ${served.ticket} is served before ${first?.ticket}, which is older`;
        throw new Violation('model', `${what} and asks for ${queue} too`);
      }
      const request = served.request as LeaseRequest;
      const { leases, gaveUp } = this.grant(request, now);
      passed.add(served);
      if (leases.length === 0 && !gaveUp) continue;
      this.parked.splice(this.parked.indexOf(served), 1);
      this.answerLease(served.ticket, request, { leases, gaveUp }, served.parkedAt, now);
    }
  }

  private isAnyReady(now: number): boolean {
    for (const one of this.parked) if (this.isReady(one, now)) return true;
    return false;
  }

  private isReady(parked: Parked, now: number): boolean {
    const { request } = parked;
    if (
      request.op !== 'lease' ||
      this.book.order.firstEligible(request.queues, now) === undefined
    ) {
      return false;
    }
    return roomFor(this.book, request) > 0;
  }

  private firstTask(parked: Parked, now: number): ModelTask | undefined {
    return this.book.order.firstEligible((parked.request as LeaseRequest).queues, now);
  }

  private firstGrant(parked: Parked, now: number): LogRecord {
    const request = parked.request as LeaseRequest;
    return grantRecord(this.knobs, this.firstTask(parked, now) as ModelTask, request, now);
  }

  private isNext(record: LogRecord): boolean {
    const actual = this.actual[this.taken];
    return actual !== undefined && difference({ ...record, seq: actual.seq }, actual) === undefined;
  }

  private conclude(parked: Parked, now: number): void {
    this.parked.splice(this.parked.indexOf(parked), 1);
    const { request, ticket } = parked;
    if (request.op === 'lease') {
      this.answerLease(ticket, request, { leases: [], gaveUp: false }, parked.parkedAt, now);
      return;
    }
    const task = this.book.find(request.taskId);
    if (task !== undefined) this.answer(ticket, showTask(task, request));
  }

  /** The worker whose lease a record ends. */
  private holderOf(record: LogRecord): string | undefined {
    if (this.parked.length === 0 || !('extensions' in record)) return undefined;
    const task = this.book.find(record.taskId);
    return task && heldLease(task)?.workerId;
  }

  /** What a record wakes: askers of a queue in which a task waits now, and a worker with room. */
  private note(record: LogRecord, holder: string | undefined): void {
    if (record.type === 'TaskCreated') this.woken.add(record.queue);
    if (!('extensions' in record)) return;
    const task = this.book.find(record.taskId);
    if (task?.state === 'WAITING') this.woken.add(task.queue);
    if (holder !== undefined) this.freed.add(holder);
  }

  private tellWatchers(record: LogRecord): void {
    if (!('taskId' in record)) return;
    const task = this.book.find(record.taskId);
    if (task === undefined || !isOver(task)) return;
    for (const parked of [...this.parked]) {
      if (parked.request.op === 'task' && parked.request.taskId === task.id) {
        this.conclude(parked, 0);
      }
    }
  }
}

const READS = new Set(['task', 'tasks', 'standing', 'stats', 'queues', 'workers', 'metrics']);
const isRead = (request: Request): boolean => READS.has(request.op);
