// Owns the shape of the time that a node of a cluster lives by; tests hand in one of their own.

export interface Time {
  /** A clock that never runs backward, in ms. */
  monotonic(): number;
  /** Calls `act` once, after so many ms. @returns a function that takes the call back. */
  after(ms: number, act: () => void): () => void;
}

/** Resolves after so many ms, or at once when the signal aborts. Never rejects. */
export function pause(time: Time, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      takeBack();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const takeBack = time.after(ms, done);
    signal?.addEventListener('abort', done);
  });
}
