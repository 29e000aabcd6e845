// Owns the requests that wait: lease requests for a task to become eligible, reads for a task to
// end. They wait in order of arrival and hold nothing. This file only keeps them and takes them
// out: it never answers one.

import { Heap, type Placed } from '../core/heap.ts';
import type { LeaseRequest, TaskRequest } from '../model/request.ts';
import type { Ticket } from './group-commit.ts';

export interface Parked extends Placed {
  readonly ticket: Ticket;
  readonly request: LeaseRequest | TaskRequest;
  readonly parkedAt: number;
  readonly until: number;
  /** Rises with each that is parked: their order, also where times are equal. */
  readonly arrival: number;
}

export class ParkedRequests {
  private readonly byTicket = new Map<Ticket, Parked>();
  private readonly byEnd = new Heap<Parked>((a, b) =>
    a.until === b.until ? a.parkedAt < b.parkedAt : a.until < b.until,
  );
  /** Queue → lease requests for it, in order of arrival. */
  private readonly askers = new Map<string, Set<Parked>>();
  private readonly ofWorkers = new Map<string, Set<Parked>>();
  private readonly watchers = new Map<number, Set<Parked>>();
  private arrivals = 0;

  get size(): number {
    return this.byTicket.size;
  }

  add(ticket: Ticket, request: LeaseRequest | TaskRequest, now: number): void {
    const until = now + request.waitMs;
    this.arrivals += 1;
    const arrival = this.arrivals;
    const parked: Parked = { ticket, request, parkedAt: now, until, arrival, place: 0 };
    this.byTicket.set(ticket, parked);
    this.byEnd.add(parked);
    if (request.op === 'task') {
      addTo(this.watchers, request.taskId, parked);
      return;
    }
    addTo(this.ofWorkers, request.workerId, parked);
    for (const queue of request.queues) addTo(this.askers, queue, parked);
  }

  has(parked: Parked): boolean {
    return this.byTicket.get(parked.ticket) === parked;
  }

  /** @returns the request that was parked under the ticket, which is parked no more. */
  take(ticket: Ticket): Parked | undefined {
    const parked = this.byTicket.get(ticket);
    if (parked === undefined) return undefined;
    this.byTicket.delete(ticket);
    this.byEnd.remove(parked);
    const { request } = parked;
    if (request.op === 'task') {
      removeFrom(this.watchers, request.taskId, parked);
      return parked;
    }
    removeFrom(this.ofWorkers, request.workerId, parked);
    for (const queue of request.queues) removeFrom(this.askers, queue, parked);
    return parked;
  }

  /** @returns the next request whose time is over, taken out. */
  takeDue(now: number): Parked | undefined {
    const first = this.byEnd.first;
    return first !== undefined && first.until <= now ? this.take(first.ticket) : undefined;
  }

  tickets(): Ticket[] {
    return [...this.byTicket.keys()];
  }

  takeAll(): Parked[] {
    return [...this.byTicket.keys()].map((ticket) => this.take(ticket) as Parked);
  }

  /** Lease requests for a queue, in order of arrival; safe against taking while walking. */
  askersOf(queue: string): Iterable<Parked> {
    return this.askers.get(queue) ?? [];
  }

  countOf(queue: string): number {
    return this.askers.get(queue)?.size ?? 0;
  }

  /** Queues that are asked for and among these: the shorter list of the two is walked. */
  queuesAskedFor(among: ReadonlyMap<string, unknown>): Iterable<string> {
    const { askers } = this;
    const [fewer, others] = askers.size < among.size ? [askers, among] : [among, askers];
    return [...fewer.keys()].filter((queue) => others.has(queue));
  }

  /** Queues that a worker's parked requests ask for: it may have room again. */
  queuesOf(workerId: string): string[] {
    const queues: string[] = [];
    for (const { request } of this.ofWorkers.get(workerId) ?? []) {
      if (request.op === 'lease') queues.push(...request.queues);
    }
    return queues;
  }

  watchersOf(taskId: number): Parked[] {
    return [...(this.watchers.get(taskId) ?? [])];
  }
}

function addTo<K>(index: Map<K, Set<Parked>>, key: K, parked: Parked): void {
  const set = index.get(key);
  if (set === undefined) index.set(key, new Set([parked]));
  else set.add(parked);
}

function removeFrom<K>(index: Map<K, Set<Parked>>, key: K, parked: Parked): void {
  const set = index.get(key);
  if (set === undefined) return;
  set.delete(parked);
  if (set.size === 0) index.delete(key);
}
