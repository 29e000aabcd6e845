// Owns the course of lease requests: grant after grant until there is enough, or park until a task,
// a place in the worker's capacity, or the end of its time comes. Each step is one record, decided
// by the loop; parked requests are served in order of arrival (R20).

import { nextGrant, whyEmpty } from '../core/lease-manager.ts';
import { leaseOf } from '../core/respond.ts';
import type { State } from '../core/state.ts';
import type { Subject } from '../core/subject.ts';
import { NONE } from '../core/task-table.ts';
import { type Asker, type Asking, showTask } from '../core/views.ts';
import { WorkerRegistry } from '../core/worker-registry.ts';
import { Histogram, type HistogramData, LONG_SECONDS } from '../metrics/histogram.ts';
import { isEnd, type LogRecord } from '../model/records.ts';
import type { LeaseRequest } from '../model/request.ts';
import type { EmptyReason, Lease } from '../model/response.ts';
import type { Ticket } from './group-commit.ts';
import { type Parked, ParkedRequests } from './parked.ts';
import { QueueSightings } from './queue-sightings.ts';
import type { Turn } from './turn.ts';
import { Askers } from './waiting-order.ts';

/** Poison tasks that one request may end before it answers with what it has. */
const POISON_A_REQUEST = 100;
const ELSEWHERE_MAX = 5;
const ASKERS_NAMED = 4;

/** `gaveUp`: there were too many poison tasks. */
type Granted = { readonly leases: readonly Lease[]; readonly gaveUp: boolean };

export class Granting {
  readonly registry = new WorkerRegistry();
  readonly sightings = new QueueSightings();
  readonly parked = new ParkedRequests();
  /** Queues in which something may have become eligible since they were last looked at. */
  private readonly woken = new Set<string>();
  private readonly eligibleToLease = new Histogram(LONG_SECONDS);
  private readonly turn: Turn;

  constructor(turn: Turn) {
    this.turn = turn;
  }

  private get state(): State {
    return this.turn.context.state;
  }

  figures(): { readonly eligible_to_lease_seconds: HistogramData } {
    return { eligible_to_lease_seconds: this.eligibleToLease.data() };
  }

  take(ticket: Ticket, request: LeaseRequest, now: number): void {
    // Older parked requests come first: what became eligible by time alone is theirs.
    this.wakeDue(request.queues, now);
    this.registry.seen(request.workerId, now, request.capacity);
    for (const queue of request.queues) this.sightings.asked(queue, request.workerId, now);
    const granted = this.grant(request, now);
    const mayWait = request.waitMs > 0 && !this.turn.stopping && !granted.gaveUp;
    if (granted.leases.length === 0 && mayWait) this.parked.add(ticket, request, now);
    else this.answerLease(ticket, request, granted, now, now);
  }

  /** A record happened: note whom it may wake, and tell those who wait for a task's end. */
  noticed(record: LogRecord, subject: Subject): void {
    this.observe(record, subject.row);
    if (this.parked.size === 0) return;
    switch (record.type) {
      case 'TaskCreated':
        this.woken.add(record.queue);
        break;
      case 'LeaseExpired':
      case 'TaskCompleted':
      case 'TaskFailed':
      case 'TaskDead':
        this.noticedEnd(record.taskId, subject);
        break;
      default:
    }
  }

  private observe(record: LogRecord, row: number): void {
    if (record.type === 'TaskCreated') this.sightings.submitted(record.queue, record.at);
    else if (isEnd(record)) this.sightings.finished(this.state.queueOf(row).name, record.at);
  }

  /** Serves those who ask for the queues that were woken, in order of arrival over all of them. */
  serve(now: number): void {
    if (this.woken.size === 0) return;
    const askers = new Askers(this.parked);
    for (const queue of this.woken) askers.add(queue);
    this.woken.clear();
    const isWorthIt = (queue: string): boolean => this.hasEligible(queue, now);
    for (;;) {
      const parked = askers.oldest(isWorthIt);
      if (parked === undefined) return;
      const request = parked.request as LeaseRequest;
      if (this.roomFor(request) <= 0) {
        askers.pass(parked);
        continue;
      }
      // A due queue that is not in the order yet joins it first: an older request may wait for it.
      const due = request.queues.filter((queue) => !askers.has(queue) && isWorthIt(queue));
      if (due.length > 0) for (const queue of due) askers.add(queue);
      else if (!this.serveOne(parked, now)) askers.pass(parked);
    }
  }

  /** Serves the waiting lease requests for queues where a task became eligible by time alone. */
  private wakeDue(queues: Iterable<string>, now: number): void {
    if (this.parked.size === 0) return;
    for (const queue of queues) if (this.hasEligible(queue, now)) this.woken.add(queue);
    this.serve(now);
  }

  tick(now: number): void {
    // Only a queue that has tasks can have one whose time has come.
    this.wakeDue(this.parked.queuesAskedFor(this.state.contracts.queues), now);
    for (;;) {
      const parked = this.parked.takeDue(now);
      if (parked === undefined) break;
      this.conclude(parked, now);
    }
    this.registry.sweep(now, this.state.leases);
  }

  withdraw(ticket: Ticket): void {
    this.parked.take(ticket);
  }

  withdrawAll(): Ticket[] {
    return this.parked.takeAll().map((parked) => parked.ticket);
  }

  withdrawWhere(gone: (ticket: Ticket) => boolean): void {
    for (const ticket of this.parked.tickets()) if (gone(ticket)) this.parked.take(ticket);
  }

  hurry(ticket: Ticket, now: number): void {
    const parked = this.parked.take(ticket);
    if (parked !== undefined) this.conclude(parked, now);
  }

  hurryAll(now: number): void {
    for (const parked of this.parked.takeAll()) this.conclude(parked, now);
  }

  /**
   * @returns false when every eligible task was poison: nothing was granted, the request waits on.
   */
  private serveOne(parked: Parked, now: number): boolean {
    const { ticket, parkedAt } = parked;
    const request = parked.request as LeaseRequest;
    const granted = this.grant(request, now);
    if (granted.leases.length === 0 && !granted.gaveUp) return false;
    this.parked.take(ticket);
    this.answerLease(ticket, request, granted, parkedAt, now);
    return true;
  }

  /** An attempt, or the task, is over; its worker may have room for another one. */
  private noticedEnd(taskId: number, { row, lease }: Subject): void {
    const { state } = this;
    const name = state.tasks.state(row);
    if (name === 'WAITING') this.woken.add(state.queueOf(row).name);
    else for (const watcher of this.parked.watchersOf(taskId)) this.hurry(watcher.ticket, 0);
    if (lease === undefined) return;
    for (const queue of this.parked.queuesOf(lease.workerId)) this.woken.add(queue);
  }

  /** The time of a waiting request is over, or the task that it waited for has ended. */
  private conclude(parked: Parked, now: number): void {
    const { ticket, request } = parked;
    if (request.op === 'lease') {
      this.answerLease(ticket, request, { leases: [], gaveUp: false }, parked.parkedAt, now);
      return;
    }
    const { context } = this.turn;
    const row = context.state.tasks.find(request.taskId);
    if (row !== NONE) this.turn.answer(ticket, showTask(context, request, row));
  }

  private grant(request: LeaseRequest, now: number): Granted {
    const { context } = this.turn;
    const wanted = Math.min(request.max, this.roomFor(request));
    const leases: Lease[] = [];
    let bytes = 0;
    let poisoned = 0;
    while (leases.length < wanted && bytes < context.knobs.answerMaxBytes) {
      if (poisoned === POISON_A_REQUEST) return { leases, gaveUp: true };
      const next = nextGrant(context, request, now);
      if (next === undefined) break;
      const { record, subject } = next;
      const eligibleAt = context.state.tasks.eligibleAt(subject.row);
      this.turn.decide(record, subject);
      if (record.type === 'TaskDead') {
        poisoned += 1;
        continue;
      }
      const lease = leaseOf(context, record, subject.row, now);
      bytes += lease.payload.length;
      this.eligibleToLease.observe((now - eligibleAt) / 1_000);
      leases.push(lease);
    }
    return { leases, gaveUp: false };
  }

  private answerLease(
    ticket: Ticket,
    request: LeaseRequest,
    { leases, gaveUp }: Granted,
    askedAt: number,
    now: number,
  ): void {
    const why = (): EmptyReason => (gaveUp ? { reason: 'no_task' } : this.whyEmpty(request, now));
    this.turn.answer(ticket, {
      kind: 'leased',
      leases,
      waitedMs: now - askedAt,
      empty: leases.length === 0 ? why() : undefined,
      base64: request.base64,
    });
  }

  private whyEmpty(request: LeaseRequest, now: number): EmptyReason {
    if (this.roomFor(request) <= 0) return { reason: 'at_capacity' };
    return whyEmpty(this.turn.context, request.queues, now);
  }

  private roomFor(request: LeaseRequest): number {
    return this.registry.roomFor(request.workerId, request.capacity, this.state.leases);
  }

  private hasEligible(queue: string, now: number): boolean {
    const { contracts, tasks } = this.state;
    return (contracts.queues.get(queue)?.firstEligible(tasks, now) ?? NONE) !== NONE;
  }

  /** Who asks for a queue (advisory); where nobody does, some queues that are asked for. */
  askingFor(queue: string): Asking {
    const lastAt = this.sightings.lastAsked(queue)?.at;
    const elsewhere = lastAt === undefined ? this.sightings.newestAsked(ELSEWHERE_MAX) : [];
    const askers: Asker[] = [];
    for (const { request } of this.parked.askersOf(queue)) {
      if (askers.length === ASKERS_NAMED) break;
      if (request.op === 'lease') askers.push(request);
    }
    return { lastAt, parked: this.parked.countOf(queue), elsewhere, askers };
  }
}
