// Owns the client's only clock: monotonic, and the same in every thread of the process. A wall
// clock that is set, wrong or drifting can therefore neither lengthen nor shorten a lease here.

export { monotonicMs } from '../monotonic.ts';

/** Ends when the time is over or the signal aborts, whichever is first; never rejects. */
export function pause(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    signal?.addEventListener('abort', done, { once: true });
  });
}
