// Owns the repeating of a call to etcd that was not answered. Only calls come here for which it is
// harmless that an earlier try may have been carried out, or may still be.

import { EtcdError } from './etcd.ts';

export interface Time {
  /** A clock that never runs backward, in ms. */
  monotonic(): number;
  /** Calls `act` once, after so many ms. @returns a function that takes the call back. */
  after(ms: number, act: () => void): () => void;
}

const PAUSE_FIRST_MS = 50;
/** An etcd that elects a leader answers again within a second or so: then nobody should wait. */
const PAUSE_LAST_MS = 200;

export interface Repeating {
  readonly time: Time;
  /** No try begins after this moment of the clock; Infinity: it goes on. */
  readonly giveUpAt: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Whether to go on after this error, too. Default: only when nothing was answered. */
  readonly goesOn?: (error: EtcdError) => boolean;
}

const isLost = ({ code }: EtcdError): boolean => code === 'no_answer';

/** @throws EtcdError, the last one, when the time is over or etcd answers with an error. */
export async function untilAnswered<T>(
  call: () => Promise<T>,
  { time, giveUpAt, signal, goesOn = isLost }: Repeating,
): Promise<T> {
  for (let pauseMs = PAUSE_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_LAST_MS)) {
    try {
      return await call();
    } catch (error) {
      const isRepeated = error instanceof EtcdError && goesOn(error) && !signal.aborted;
      if (!isRepeated || time.monotonic() + pauseMs >= giveUpAt) throw error;
    }
    await pause(time, pauseMs, signal);
  }
}

/** Resolves after so many ms, or when the signal aborts. */
export function pause(time: Time, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      takeBack();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const takeBack = time.after(ms, done);
    signal.addEventListener('abort', done);
  });
}
