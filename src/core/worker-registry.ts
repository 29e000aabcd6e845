// Owns what is believed of workers: when each was last heard of, and how many tasks it says it can
// take. None of this is in the log, and a restart loses it. So it never decides what is true of a
// task: it only holds back a grant from a worker that has no room by its own word (R21).

import type { Leases } from './leases.ts';

const SILENT_MAX_MS = 15 * 60_000;
const WORKERS_MAX = 100_000;

export interface WorkerSeen {
  readonly workerId: string;
  lastSeenAt: number;
  capacity: number | undefined;
}

export class WorkerRegistry {
  /** In the order in which they were last heard of, the most silent first. */
  private readonly workers = new Map<string, WorkerSeen>();

  /** A sign of life. A request that declares no capacity leaves a declared one as it is. */
  seen(workerId: string, now: number, capacity?: number): void {
    const known = this.workers.get(workerId);
    if (known === undefined) {
      this.workers.set(workerId, { workerId, lastSeenAt: now, capacity });
    } else {
      known.lastSeenAt = now;
      if (capacity !== undefined) known.capacity = capacity;
      this.workers.delete(workerId);
      this.workers.set(workerId, known);
    }
    if (this.workers.size > WORKERS_MAX) this.forget(this.workers.keys().next().value as string);
  }

  /** @returns how many leases a worker may get; one that declared nothing is never refused. */
  roomFor(workerId: string, capacity: number | undefined, leases: Leases): number {
    if (capacity === undefined) return Number.POSITIVE_INFINITY;
    // Counted in the state, which survives a restart: a worker gets no more than it can hold (R21).
    return capacity - leases.heldBy(workerId);
  }

  /** Drops who was silent for 15 minutes and holds no lease; looks at a bounded number. */
  sweep(now: number, leases: Leases): void {
    let looked = 0;
    for (const worker of this.workers.values()) {
      if (worker.lastSeenAt + SILENT_MAX_MS > now || looked === 1_000) return;
      looked += 1;
      if (leases.heldBy(worker.workerId) === 0) this.forget(worker.workerId);
    }
  }

  all(): Iterable<WorkerSeen> {
    return this.workers.values();
  }

  has(workerId: string): boolean {
    return this.workers.has(workerId);
  }

  get size(): number {
    return this.workers.size;
  }

  private forget(workerId: string): void {
    this.workers.delete(workerId);
  }
}
