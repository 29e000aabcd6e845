// Owns how a simulated world waits for the promises of the process that it plays: nothing of it
// waits for anything else, so nothing here takes real time.

const RESOLVED = Promise.resolve();
/** More than anything takes that goes on by itself. */
const STEPS_MAX = 10_000;

/** Lets everything run that waits for nothing but the promises that were resolved. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * The same without a turn of the real loop, which costs ten times as much: whoever asked for an
 * immediate goes on with the next `turn`.
 */
export const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** The same, no longer than until something is so: a turn of the real loop costs a multiple. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let n = 0; n < STEPS_MAX && !isSo(); n += 1) await RESOLVED;
}
