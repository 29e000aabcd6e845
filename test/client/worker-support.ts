// Owns what the tests of workers share: a worker that notes its events, and waiting for them.

import { once } from 'node:events';
import { Worker, type WorkerEvents, type WorkerOptions } from '../../src/index.ts';

export interface Noted {
  readonly name: keyof WorkerEvents;
  readonly taskId: string | undefined;
  readonly event: WorkerEvents[keyof WorkerEvents][0];
}

const NAMES = ['leased', 'completed', 'failed', 'released', 'lost', 'rejected', 'error'] as const;

/** A worker that runs until its test is over, and what it has told. */
export function startWorker(options: WorkerOptions): {
  readonly worker: Worker;
  readonly noted: Noted[];
  readonly run: Promise<void>;
  names(): string[];
} {
  const worker = new Worker(options);
  const noted: Noted[] = [];
  for (const name of NAMES) {
    worker.on(name, (event: WorkerEvents[typeof name][0]) => {
      const taskId = 'task' in event ? event.task.taskId : undefined;
      noted.push({ name, taskId, event });
    });
  }
  const run = worker.run();
  run.catch(() => {});
  workers.push(worker);
  return { worker, noted, run, names: () => noted.map(({ name }) => name) };
}

const workers: Worker[] = [];

/** To be called after each test. */
export async function stopWorkers(): Promise<void> {
  await Promise.all(workers.splice(0).map((each) => each.stop({ graceMs: 0, abortMs: 100 })));
}

export async function event<Name extends keyof WorkerEvents>(
  worker: Worker,
  name: Name,
): Promise<WorkerEvents[Name][0]> {
  const [value] = await once(worker, name);
  return value;
}

/** Blocks this thread and its event loop. */
export function block(blockMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
}
