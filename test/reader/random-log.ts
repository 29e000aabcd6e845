// Owns logs of several tasks whose records lie between each other, made from a list of choices:
// links and numbers are right, times are not what these tests are about.

import type { LogRecord } from '../../src/model/records.ts';
import type { TaskChain } from '../../src/reader/log-query.ts';
import { ArrayLog } from './array-log.ts';

export const QUEUES = ['a', 'b'] as const;
interface Task {
  readonly id: number;
  readonly queue: string;
  last: number;
  attempt: number;
  lease: number;
  extensions: number;
  lastExtension: number;
  /** Leases that may still be reported late. */
  readonly lost: number[];
  over: boolean;
}

export class RandomLog {
  readonly log = new ArrayLog();
  readonly tasks: Task[] = [];

  /** @param choices each a small number: which task, and what happens to it. */
  constructor(choices: readonly (readonly [task: number, what: number])[]) {
    for (const [task, what] of choices) this.step(task, what);
  }

  step(task: number, what: number): void {
    const chosen = this.tasks[task % (this.tasks.length + 1)];
    if (chosen === undefined) return this.create(what);
    if (what % 11 === 0) return this.start();
    if (chosen.lost.length > 0 && what % 7 === 0) return this.late(chosen);
    if (chosen.over) return this.create(what);
    if (chosen.lease === 0) return this.grant(chosen);
    if (what % 3 !== 0) return this.extend(chosen);
    this.end(chosen, what);
  }

  chainOf(task: Task): TaskChain {
    return {
      lastRecord: task.last,
      lastExtension: task.lease === 0 ? 0 : task.lastExtension,
      asOf: this.log.lastNumber,
    };
  }

  private create(what: number): void {
    const queue = QUEUES[what % QUEUES.length] as string;
    const id = this.log.lastNumber + 1;
    this.add({
      type: 'TaskCreated',
      queue,
      payload: new Uint8Array(what * 40),
      executionWindowMs: 60_000,
      retryPolicy: { maxRetries: 3, backoffMs: 0, backoffFactor: 1 },
      prev: 0,
    });
    const fresh = { attempt: 0, lease: 0, extensions: 0, lastExtension: 0, over: false };
    this.tasks.push({ id, queue, last: id, lost: [], ...fresh });
  }

  private start(): void {
    this.add({ type: 'CoordinatorStarted', formatVersion: 1, startedAt: 0, prev: 0 });
  }

  private grant(task: Task): void {
    task.attempt += 1;
    this.addTo(task, {
      type: 'LeaseGranted',
      workerId: 'w',
      attempt: task.attempt,
      leaseExpiry: 10_000,
      grantedAt: 0,
    });
    Object.assign(task, { lease: task.last, extensions: 0, lastExtension: 0 });
  }

  private extend(task: Task): void {
    const prev = task.lastExtension || task.lease;
    const taskId = task.id;
    this.add({ type: 'LeaseExtended', taskId, leaseId: task.lease, newLeaseExpiry: 1, prev });
    task.extensions += 1;
    task.lastExtension = this.log.lastNumber;
  }

  private late(task: Task): void {
    this.addTo(task, { type: 'TaskCancelled', leaseId: task.lost.pop(), report: 'complete' });
  }

  private end(task: Task, what: number): void {
    const { lease: leaseId, extensions, lastExtension } = task;
    const ending = { leaseId, extensions, lastExtension };
    if (what % 2 === 0) {
      this.addTo(task, { type: 'LeaseExpired', ...ending });
      task.lost.push(leaseId);
    } else {
      this.addTo(task, { type: 'TaskCompleted', ...ending });
      task.over = true;
    }
    task.lease = 0;
  }

  private addTo(task: Task, fields: object): void {
    this.add({ ...fields, taskId: task.id, prev: task.last });
    task.last = this.log.lastNumber;
  }

  private add(fields: object): void {
    this.log.add({ at: this.log.lastNumber, seq: 0, ...fields } as LogRecord);
  }
}
