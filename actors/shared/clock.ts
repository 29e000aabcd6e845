// Owns the machine's two clocks: the only file that reads the wall clock. Whoever needs time is
// handed one of these, so that tests and the simulator can own time instead.

/** The wall clock in ms since the epoch. People and other programs can set it: it may jump. */
export const wall = (): number => Date.now();

/**
 * A clock in ms that only goes forward, from an arbitrary start that all threads of the process
 * share. It may stand still while the machine is suspended.
 */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Both, as coordinator time takes them. */
export const clock = { wall, monotonic: monotonicMs } as const;
