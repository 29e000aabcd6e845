// Owns the machine's two clocks: the only file that reads the wall clock. Whoever needs time is
// handed one of these, so that tests and the simulator can own time instead.

import { monotonicMs } from '../../src/monotonic.ts';

export { monotonicMs };

/** The wall clock in ms since the epoch. People and other programs can set it: it may jump. */
export const wall = (): number => Date.now();

/** Both, as coordinator time takes them. */
export const clock = { wall, monotonic: monotonicMs } as const;
