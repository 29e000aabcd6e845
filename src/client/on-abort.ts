// Owns listening for the abort of a signal. Any number of waiters share one listener on the
// signal, because Node warns of a leak when a signal has more than ten listeners.

interface Shared {
  readonly acts: Set<() => void>;
  end(): void;
}

const waiting = new WeakMap<AbortSignal, Shared>();

/** Calls `act` when the signal aborts, at once when it has; undo with the returned function. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    act();
    return () => {};
  }
  const shared = waiting.get(signal) ?? begin(signal);
  // A function of its own for each call: the same `act` may be given twice.
  const one = (): void => act();
  shared.acts.add(one);
  return () => {
    shared.acts.delete(one);
    // A signal that is made of others lives as long as it has a listener.
    if (shared.acts.size === 0) shared.end();
  };
}

function begin(signal: AbortSignal): Shared {
  const acts = new Set<() => void>();
  const abort = (): void => {
    for (const act of acts) act();
    acts.clear();
  };
  const end = (): void => {
    signal.removeEventListener('abort', abort);
    waiting.delete(signal);
  };
  signal.addEventListener('abort', abort, { once: true });
  const shared = { acts, end };
  waiting.set(signal, shared);
  return shared;
}

/** Never rejects. */
export const untilAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    onAbort(signal, resolve);
  });
