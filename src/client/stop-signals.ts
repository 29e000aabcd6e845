// Owns which signals of the system ask a worker to stop, and which of them count as one and the
// same wish. The listener decides what to do then.

import { monotonicMs } from './local-clock.ts';

/**
 * A terminal that is closed sends HUP, and Ctrl-\ sends QUIT. Without a listener each would end
 * the process at once, while the worker still holds leases.
 */
const SIGNALS: readonly NodeJS.Signals[] =
  process.platform === 'win32'
    ? ['SIGINT', 'SIGTERM', 'SIGHUP']
    : ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/** What comes from the terminal reaches every process there, and npm passes it on once more. */
const ECHO_MS = 500;

/** Tells the first wish to stop from a repeated one, and both from the echo of one. */
export class StopWishes {
  #last: { readonly signal: string; readonly atMs: number } | undefined;

  /** @returns undefined: an echo of the signal before. TERM does not come from a terminal. */
  take(signal: string, nowMs: number): 'first' | 'again' | undefined {
    const last = this.#last;
    const isEcho = signal === last?.signal && nowMs - last.atMs < ECHO_MS;
    if (isEcho && signal !== 'SIGTERM') return undefined;
    this.#last = { signal, atMs: nowMs };
    return last === undefined ? 'first' : 'again';
  }
}

/** Many workers of a process share one listener for each signal. */
const listeners = new Set<(signal: NodeJS.Signals) => void>();
const tellAll = (signal: NodeJS.Signals): void => {
  for (const listener of listeners) listener(signal);
};

type Stop = (wish: 'first' | 'again', signal: NodeJS.Signals) => void;

/** Calls `stop` for each wish to stop. @returns what ends the listening */
export function onStopSignals(stop: Stop): () => void {
  const wishes = new StopWishes();
  const listener = (signal: NodeJS.Signals): void => {
    const wish = wishes.take(signal, monotonicMs());
    if (wish !== undefined) stop(wish, signal);
  };
  if (listeners.size === 0) for (const signal of SIGNALS) process.on(signal, tellAll);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) for (const signal of SIGNALS) process.off(signal, tellAll);
  };
}
