// Owns waiting for something that a process outside will do: bounded, and said in words.

import { setTimeout as pause } from 'node:timers/promises';

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
