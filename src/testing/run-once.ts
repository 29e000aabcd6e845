// Owns how a test runs one attempt at one task: by the real Worker, under a real lease. The worker
// does not begin a second attempt.

import type { Client, Handler, Lease, SubmitOptions, TaskDetails } from '../index.ts';
import { Worker } from '../index.ts';

export interface RunNextOptions {
  readonly queue: string;
  /** Of the worker; `run-once` by default. */
  readonly workerId?: string;
}

export interface RunOnceOptions extends Omit<SubmitOptions, 'payload'> {
  /** Of the worker; `run-once` by default. */
  readonly workerId?: string;
}

/** How one attempt ended. */
export interface Ran {
  readonly taskId: string;
  readonly leaseId: string;
  /** `lost`: the attempt had no authority any more, and its report, if any, was CANCELLED. */
  readonly ended: 'completed' | 'failed' | 'released' | 'lost' | 'rejected';
  /** Of the failure, or why the lease was lost or the report rejected. */
  readonly reason?: string;
  /** As it was right after the attempt. */
  readonly task: TaskDetails;
}

/**
 * Leases the next task of a queue with a Worker of its own, and waits until the attempt ends.
 * @throws Error when no task of the queue can be leased now
 */
export async function runNext(
  client: Client,
  url: string,
  nowMs: number,
  handler: Handler,
  { queue, workerId = 'run-once' }: RunNextOptions,
): Promise<Ran> {
  await assertEligible(client, queue, nowMs);
  const worker = new Worker({ url, workerId, queues: [queue], handler, quiet: true });
  let told: Omit<Ran, 'task'> | undefined;
  const end = (task: Lease, ended: Ran['ended'], reason?: string): void => {
    const { taskId, leaseId } = task;
    told ??= { taskId, leaseId, ended, ...(reason === undefined ? {} : { reason }) };
    void worker.stop();
  };
  worker.on('completed', ({ task }) => end(task, 'completed'));
  worker.on('failed', ({ task, failure }) => end(task, 'failed', failure.reason));
  worker.on('released', ({ task }) => end(task, 'released'));
  worker.on('lost', ({ task, reason }) => end(task, 'lost', reason));
  worker.on('rejected', ({ task, outcome }) => end(task, 'rejected', outcome.reason));
  // Trouble with the connection is part of what a test plays; the worker goes on by itself.
  worker.on('error', () => {});
  await worker.run();
  if (told === undefined) throw new Error('the worker stopped before its attempt ended');
  return { ...told, task: await client.task(told.taskId) };
}

/** Or the worker would wait until the test is out of time. */
async function assertEligible(client: Client, queue: string, nowMs: number): Promise<void> {
  const { tasks } = await client.tasks({ queue, state: 'WAITING' });
  const isEligible = tasks.some(
    ({ eligibleAt }) => eligibleAt === undefined || eligibleAt <= nowMs,
  );
  if (!isEligible) throw new Error(`no task of queue ${queue} can be leased now`);
}
