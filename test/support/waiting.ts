// Owns waiting for something that a process outside will do: bounded, and said in words.

import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../src/index.ts';

/** @throws Error saying what was waited for. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 90_000,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await pause(5);
  }
}

/** @returns the task as it is when nothing more becomes of it, however long that takes. */
export async function ended(client: Client, taskId: string): ReturnType<Client['task']> {
  for (;;) {
    const task = await client.task(taskId, { waitMs: 15_000 });
    if (task.state !== 'WAITING' && task.state !== 'LEASED') return task;
  }
}
