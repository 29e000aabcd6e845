// Owns the course of reads: answered from the state at once (and held until what they saw is
// durable), or parked until the task ends.

import { queuesBody, statsBody, workersBody } from '../core/overview.ts';
import { queueFigures } from '../core/queue-figures.ts';
import { listTasks, showTask, standing } from '../core/views.ts';
import type { Request, TaskRequest } from '../model/request.ts';
import type { Response } from '../model/response.ts';
import type { Coordinator } from './coordinator.ts';
import type { Ticket } from './group-commit.ts';
import type { Mode } from './recovery.ts';

export type ReadRequest = Exclude<
  Request,
  { op: 'submit' | 'lease' | 'heartbeat' | 'complete' | 'fail' | 'kill' | 'redrive' }
>;

const READS = new Set(['task', 'tasks', 'standing', 'stats', 'queues', 'workers', 'metrics']);
export const isRead = (request: Request): request is ReadRequest => READS.has(request.op);

/** Reads that wait for a rebuild at most; more are refused like writes. */
const DEFERRED_MAX = 4_096;

/** Adds to an overview what only the surroundings know: clocks, log sizes, histograms. */
export type Surroundings = () => Record<string, unknown>;

export class Reading {
  surroundings: Surroundings = () => ({});
  /** Reads that came while the state was being made equal to the log: they wait for it. */
  private readonly deferred = new Map<Ticket, ReadRequest>();
  private readonly loop: Coordinator;

  constructor(loop: Coordinator) {
    this.loop = loop;
  }

  take(ticket: Ticket, request: ReadRequest, now: number): void {
    if (request.op === 'task' && this.mustWait(request)) {
      this.loop.granting.parked.add(ticket, request, now);
    } else {
      this.loop.answer(ticket, this.read(request, now));
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

  /** The rebuild is over, or will never be: what waited for it is decided now. */
  resume(mode: Mode): void {
    if (mode === 'rebuilding') return;
    const waiting = [...this.deferred];
    this.deferred.clear();
    for (const [ticket, request] of waiting) this.loop.take(ticket, request);
  }

  private mustWait(request: TaskRequest): boolean {
    if (request.waitMs === 0 || this.loop.isStopping || !this.loop.recovery.serving) return false;
    const { tasks } = this.loop.state;
    const name = tasks.state(tasks.find(request.taskId));
    return name === 'WAITING' || name === 'LEASED';
  }

  private read(request: ReadRequest, now: number): Response {
    const { context, granting } = this.loop;
    const { state } = context;
    switch (request.op) {
      case 'task':
        return showTask(context, request, state.tasks.find(request.taskId));
      case 'tasks':
        return listTasks(context, request);
      case 'standing': {
        const queue = state.queueOf(state.tasks.find(request.taskId)).name;
        return standing(context, request, now, granting.askingFor(queue));
      }
      default:
        return { kind: 'overview', body: this.overview(request.op, now) };
    }
  }

  private overview(op: 'stats' | 'queues' | 'workers' | 'metrics', now: number) {
    const { state, granting } = this.loop;
    const askedAt = (queue: string): number | undefined => granting.askedAt.get(queue);
    if (op === 'queues') return queuesBody(state, now, askedAt);
    if (op === 'workers') return workersBody(state, granting.registry);
    const stats = statsBody(state, granting.registry, now);
    const parked = { parked_requests: granting.parked.size };
    const { histograms, ...around } = this.surroundings();
    if (op === 'stats') return { ...stats, ...parked, ...around };
    return { ...stats, ...parked, ...around, histograms, queues: queueFigures(state, now) };
  }
}
