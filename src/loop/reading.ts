// Owns the course of reads. A read is answered from the state at once, and the answer is held
// until the records that it shows are durable; or it waits until its task ends.

import { queuesBody, statsBody, workersBody } from '../core/overview.ts';
import { queueFigures } from '../core/queue-figures.ts';
import { isRead, listTasks, type ReadRequest, showTask, standing } from '../core/views.ts';
import type { Request, TaskRequest } from '../model/request.ts';
import type { Response } from '../model/response.ts';
import type { Granting } from './granting.ts';
import type { Ticket } from './group-commit.ts';
import type { Surroundings } from './loop-options.ts';
import type { LoopView } from './loop-view.ts';
import type { Mode, Turn } from './turn.ts';

/** Reads that wait for a rebuild at most; more are refused like writes. */
const DEFERRED_MAX = 4_096;

export class Reading {
  /** Reads that came while the state was being made equal to the log: they wait for it. */
  private readonly deferred = new Map<Ticket, ReadRequest>();
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
    } else {
      this.turn.answer(ticket, this.read(request, row, now), request.op !== 'metrics');
    }
  }

  /** @returns true when the request is a read that will be answered when the rebuild is over. */
  defer(ticket: Ticket, request: Request): boolean {
    if (!isRead(request) || this.deferred.size >= DEFERRED_MAX) return false;
    this.deferred.set(ticket, request);
    return true;
  }

  withdraw(ticket: Ticket): void {
    this.deferred.delete(ticket);
  }

  /** @returns the reads that waited for the rebuild, once it is over or will never be. */
  takeDeferred(mode: Mode): [Ticket, ReadRequest][] {
    if (mode === 'rebuilding') return [];
    const waiting = [...this.deferred];
    this.deferred.clear();
    return waiting;
  }

  private mustWait(request: TaskRequest, row: number): boolean {
    const { mode, stopping, context } = this.turn;
    if (request.waitMs === 0 || stopping || mode !== 'serving') return false;
    const name = context.state.tasks.state(row);
    return name === 'WAITING' || name === 'LEASED';
  }

  private read(request: ReadRequest, row: number, now: number): Response {
    const { context } = this.turn;
    const { state } = context;
    switch (request.op) {
      case 'task':
        return showTask(context, request, row);
      case 'tasks':
        return listTasks(context, request);
      case 'standing': {
        const queue = state.queueOf(row).name;
        return standing(context, row, now, this.granting.askingFor(queue));
      }
      default:
        return { kind: 'overview', body: this.overview(request.op, now) };
    }
  }

  private overview(op: 'stats' | 'queues' | 'workers' | 'metrics', now: number) {
    const { state } = this.turn.context;
    const { registry, askedAt } = this.granting;
    if (op === 'queues') return queuesBody(state, now, (queue) => askedAt.get(queue));
    if (op === 'workers') return workersBody(state, registry);
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
