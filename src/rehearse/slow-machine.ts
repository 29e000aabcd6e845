// Owns the measure of how slow the machine was during a run: the longest time for which the
// rehearsal itself was kept waiting, for a timer of its own or for an answer of its coordinator.
// What keeps the rehearsal waiting keeps the worker waiting too. A worker that starts processes, as
// a shell does, waits for more than that: so the load of the machine counts as well.

import { availableParallelism, loadavg } from 'node:os';

/** So many processes a processor that want to run, in the last minute, make a machine busy. */
const BUSY_LOAD = 2;

export const isMachineBusy = (load = loadavg()[0] ?? 0, processors = availableParallelism()) =>
  load > processors * BUSY_LOAD;

const TICK_MS = 20;

export class Stalls {
  private longest = 0;
  private expected = performance.now() + TICK_MS;
  private readonly timer: NodeJS.Timeout;

  constructor() {
    this.timer = setInterval(() => {
      const now = performance.now();
      this.note(now - this.expected);
      this.expected = now + TICK_MS;
    }, TICK_MS).unref();
  }

  /** In milliseconds. */
  get longestMs(): number {
    return Math.round(this.longest);
  }

  note(waitedMs: number): void {
    this.longest = Math.max(this.longest, waitedMs);
  }

  end(): void {
    clearInterval(this.timer);
  }
}
