// Owns the times that the rehearsal allows a worker, and itself. The times grow with the lease:
// longer leases make room for a machine that is slow.

/** Requests that were sent before an answer came may arrive so long after it. */
export const inFlightMs = (leaseMs: number): number => Math.max(250, leaseMs / 8);

/** What service managers and container runtimes give a process to stop, at least. */
export const stopMs = (leaseMs: number): number => Math.max(10_000, leaseMs * 5);

/** How long the rehearsal waits for something that a worker does without being asked. */
export const patienceMs = (leaseMs: number): number => Math.max(15_000, leaseMs * 5);

/** A worker that has not asked for a task after this time will not ask any more. */
export const startMs = (leaseMs: number): number => Math.max(10_000, leaseMs * 5);
