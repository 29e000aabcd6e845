// Owns the course of reads. A read is answered from the state at once, and the answer is held
// until the records that it shows are durable; or it waits until its task ends.

import { statsBody } from '../core/overview.ts';
import { queueFigures } from '../core/queue-figures.ts';
import { type QueuesSeen, queueList, type Slices } from '../core/queue-list.ts';
import { listTasks } from '../core/task-list.ts';
import { isRead, type ReadRequest, showTask, standing } from '../core/views.ts';
import { workerList } from '../core/worker-list.ts';
import { unavailable } from '../model/refusal.ts';
import type { Request, TaskRequest } from '../model/request.ts';
import type { Response } from '../model/response.ts';
import type { Granting } from './granting.ts';
import type { Ticket } from './group-commit.ts';
import { Listings } from './listings.ts';
import type { Surroundings } from './loop-options.ts';
import type { LoopView } from './loop-view.ts';
import type { Mode, Turn } from './turn.ts';

/** Reads that wait for a rebuild at most; more are refused like writes. */
const DEFERRED_MAX = 4_096;
/** A store that other machines hold may be away for long; then a read is refused like a write. */
const DEFERRED_MAX_MS = 10_000;

interface Deferred {
  readonly request: ReadRequest;
  /** Coordinator time. */
  readonly since: number;
}

type QueuesOrWorkers = Extract<ReadRequest, { op: 'queues' | 'workers' }>;

export class Reading {
  /** Reads that came while the state was being made equal to the log: they wait for it. */
  private readonly deferred = new Map<Ticket, Deferred>();
  private readonly listings = new Listings();
  private readonly turn: Turn;
  private readonly granting: Granting;
  private readonly view: LoopView;
  private readonly surroundings: Surroundings;

  constructor(turn: Turn, granting: Granting, view: LoopView, surroundings: Surroundings) {
    this.turn = turn;
    this.granting = granting;
    this.view = view;
    this.surroundings = surroundings;
  }

  /** @param row that of the task that is named. */
  take(ticket: Ticket, request: ReadRequest, row: number, now: number): void {
    if (request.op === 'task' && this.mustWait(request, row)) {
      this.granting.parked.add(ticket, request, now);
    } else if (request.op === 'queues' || request.op === 'workers') {
      this.list(ticket, request, now);
    } else {
      this.turn.answer(ticket, this.read(request, row, now), request.op !== 'metrics');
    }
  }

  /** @returns true when the request is a read that will be answered when the rebuild is over. */
  defer(ticket: Ticket, request: Request, now: number): boolean {
    if (this.turn.mode !== 'rebuilding' || !isRead(request)) return false;
    if (this.deferred.size >= DEFERRED_MAX) return false;
    this.deferred.set(ticket, { request, since: now });
    return true;
  }

  withdraw(ticket: Ticket): void {
    this.deferred.delete(ticket);
    this.listings.withdraw(ticket);
  }

  /** @returns the tickets of reads that have waited for the rebuild long enough. */
  takeLate(now: number): Ticket[] {
    const late: Ticket[] = [];
    for (const [ticket, { since }] of this.deferred) {
      if (now - since < DEFERRED_MAX_MS) break;
      late.push(ticket);
    }
    for (const ticket of late) this.deferred.delete(ticket);
    return late;
  }

  /** Whether a long list is being looked at: `proceed` goes on with it. */
  get isListing(): boolean {
    return this.listings.size > 0;
  }

  /** Looks at one bounded slice of a long list, and answers when it was the last one. */
  proceed(): void {
    const done = this.listings.next();
    if (done !== undefined) this.turn.answer(done.ticket, done.answer);
  }

  /** The state is being made anew: the lists of the old one are begun again with the new one. */
  restart(now: number): void {
    for (const [ticket, request] of this.listings.takeAll()) {
      this.deferred.set(ticket, { request, since: now });
    }
  }

  /** @returns the reads that waited for the rebuild, once it is over or will never be. */
  takeDeferred(mode: Mode): [Ticket, ReadRequest][] {
    if (mode === 'rebuilding') return [];
    const waiting = [...this.deferred].map(([ticket, { request }]): [Ticket, ReadRequest] => [
      ticket,
      request,
    ]);
    this.deferred.clear();
    return waiting;
  }

  private list(ticket: Ticket, request: QueuesOrWorkers, now: number): void {
    if (this.listings.isFull) {
      const why = 'Too many lists are being looked at; nothing happened.';
      this.turn.answer(ticket, unavailable('mailbox_full', why));
      return;
    }
    const answer = this.listings.begin(ticket, request, this.slicesOf(request, now));
    if (answer !== undefined) this.turn.answer(ticket, answer);
  }

  private slicesOf(request: QueuesOrWorkers, now: number): Slices {
    const { context } = this.turn;
    const { registry, sightings, parked } = this.granting;
    const since = sightings.sinceOr(now);
    if (request.op === 'workers') return workerList(context, request, registry, since, now);
    const seen: QueuesSeen = {
      since,
      lastAsked: (queue) => sightings.lastAsked(queue),
      parked: (queue) => parked.countOf(queue),
      rates: (queue, asOf) => sightings.rates(queue, now, asOf),
    };
    return queueList(context, request, seen, now);
  }

  private mustWait(request: TaskRequest, row: number): boolean {
    const { mode, stopping, context } = this.turn;
    // While the log takes no records, no task can end, and to wait for one would be in vain.
    if (request.waitMs === 0 || stopping || mode !== 'serving') return false;
    const name = context.state.tasks.state(row);
    return name === 'WAITING' || name === 'LEASED';
  }

  private read(request: Exclude<ReadRequest, QueuesOrWorkers>, row: number, now: number): Response {
    const { context } = this.turn;
    const { state } = context;
    switch (request.op) {
      case 'task':
        return showTask(context, request, row);
      case 'tasks':
        return listTasks(context, request, now);
      case 'standing': {
        const queue = state.queueOf(row).name;
        return standing(context, row, now, this.granting.askingFor(queue));
      }
      default:
        return { kind: 'overview', body: this.overview(request.op, now) };
    }
  }

  private overview(op: 'stats' | 'metrics', now: number) {
    const { state } = this.turn.context;
    const { registry } = this.granting;
    const stats = {
      ...statsBody(state, registry, now),
      ...loopBody(this.view),
      ...this.surroundings(),
    };
    if (op === 'stats') return stats;
    return { ...stats, histograms: this.view.histograms(), queues: queueFigures(state, now) };
  }
}

function loopBody(view: LoopView): Record<string, unknown> {
  const bytes = view.logBytes();
  return {
    parked_requests: view.parkedRequests,
    mode: view.mode,
    log_bytes: bytes.total,
    log_forgotten_bytes: bytes.forgotten,
    log_replay_ms: view.replayMs,
    log_replay_records: view.replayRecords,
    clock_offset_ms: view.clockOffsetMs,
  };
}
