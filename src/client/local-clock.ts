// Owns the client's only clock: monotonic, and the same in every thread of the process. A wall
// clock that is set, wrong or drifting can therefore neither lengthen nor shorten a lease here.

/** Milliseconds since an arbitrary moment; only differences mean something. Unlike
 * performance.now() it has one origin for all threads, so a lease's end may cross between them. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

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
