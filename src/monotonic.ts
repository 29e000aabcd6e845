// Owns the clock that only goes forward, for every thread of a process: servers and clients alike.

/**
 * Milliseconds since an arbitrary moment; only differences mean something. It may stand still while
 * the machine is suspended. Unlike performance.now() it has one origin for all threads of the
 * process, so a moment may be handed from one thread to another.
 */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
