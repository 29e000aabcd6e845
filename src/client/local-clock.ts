// Owns the client's only clock: monotonic, and the same in every thread of the process. So a wall
// clock that is set, wrong or drifting cannot lengthen or shorten a lease here. Also owns the
// timers: a timer of Node holds at most 24.8 days, and a longer one would fire after a
// millisecond.

import { onAbort } from './on-abort.ts';

export { monotonicMs } from '../monotonic.ts';

/** What one timer of Node holds. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Calls `act` once the time is over; Infinity: never. @returns what takes it back */
export function after(durationMs: number, act: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, TIMER_MAX_MS);
    timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : act()), stepMs);
  };
  wait(durationMs);
  return () => clearTimeout(timer);
}

type Signals = readonly (AbortSignal | undefined)[];

/** Ends when the time is over or a signal aborts, whichever is first; never rejects. */
export function pause(durationMs: number, ...signals: Signals): Promise<void> {
  return new Promise((resolve) => {
    if (signals.some((signal) => signal?.aborted)) return resolve();
    const done = (): void => {
      for (const undo of undos) undo();
      resolve();
    };
    const undos = [after(durationMs, done), ...signals.map((signal) => onAbort(signal, done))];
  });
}
