// Owns how long to wait for a device that does not answer, and the error after that. It stops
// nothing: a write that hangs may still reach the device.

import { LogError } from './log.ts';

/** The promise's value, or `otherwise` when it takes longer. */
export async function within<T, U>(promise: Promise<T>, ms: number, otherwise: U): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<U>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** @returns the reason to end: nobody can say what becomes of it, and it cannot be taken back. */
export const hangs = (what: string): LogError =>
  new LogError('LOG_IO', `the device does not answer: a write to ${what} hangs`);

/** The promise's value. @throws LogError LOG_IO when it takes longer. */
export async function orHangs<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  const late = {};
  const value = await within(promise, ms, late);
  if (value === late) throw hangs(what);
  return value as T;
}
