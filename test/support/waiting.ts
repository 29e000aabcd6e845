// Owns waiting for something that a process outside will do: bounded, and said in words.

import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../src/index.ts';

const LOOK_FIRST_MS = 5;
const LOOK_LAST_MS = 50;

/**
 * Between two looks at a process outside, after so many of them: what is not so at once takes
 * longer, and each look costs both processes something.
 */
export const untilNextLook = (looks: number): Promise<void> =>
  pause(Math.min(LOOK_FIRST_MS * 1.3 ** looks, LOOK_LAST_MS));

/** @throws Error saying what was waited for. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 90_000,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (let looks = 0; !(await condition()); looks += 1) {
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await untilNextLook(looks);
  }
}

/** @returns the task as it is when nothing more becomes of it, however long that takes. */
export async function ended(client: Client, taskId: string): ReturnType<Client['task']> {
  for (;;) {
    const task = await client.task(taskId, { waitMs: 15_000 });
    if (task.state !== 'WAITING' && task.state !== 'LEASED') return task;
  }
}
