// Owns the leases that are current: by id, in the order of their expiry, and counted by worker. A
// lease exists only while its task is LEASED. Written by apply.ts alone.

import { Heap, type Placed } from './heap.ts';

export interface ActiveLease extends Placed {
  readonly leaseId: number;
  readonly taskId: number;
  readonly row: number;
  readonly workerId: string;
  readonly attempt: number;
  readonly grantedAt: number;
  /** granted_at + execution_window: no extension goes beyond it. */
  readonly deadline: number;
  expiry: number;
  extensions: number;
  /** Number of the newest LeaseExtended, 0 when there is none. */
  lastExtension: number;
}

export class Leases {
  private readonly byId = new Map<number, ActiveLease>();
  private readonly byWorker = new Map<string, number>();
  private readonly byExpiry = new Heap<ActiveLease>(sooner);

  get size(): number {
    return this.byId.size;
  }

  get(leaseId: number): ActiveLease | undefined {
    return this.byId.get(leaseId);
  }

  /** @returns the lease that runs out first: by (expiry, lease id). */
  firstToExpire(): ActiveLease | undefined {
    return this.byExpiry.first;
  }

  heldBy(workerId: string): number {
    return this.byWorker.get(workerId) ?? 0;
  }

  /** The workers that hold a lease, by name. */
  holders(): Iterable<string> {
    return this.byWorker.keys();
  }

  all(): Iterable<ActiveLease> {
    return this.byId.values();
  }

  add(lease: ActiveLease): void {
    this.byId.set(lease.leaseId, lease);
    this.byWorker.set(lease.workerId, this.heldBy(lease.workerId) + 1);
    this.byExpiry.add(lease);
  }

  extend(lease: ActiveLease, expiry: number, record: number): void {
    lease.expiry = expiry;
    lease.extensions += 1;
    lease.lastExtension = record;
    this.byExpiry.moved(lease);
  }

  remove(lease: ActiveLease): void {
    this.byId.delete(lease.leaseId);
    this.byExpiry.remove(lease);
    const held = this.heldBy(lease.workerId) - 1;
    if (held === 0) this.byWorker.delete(lease.workerId);
    else this.byWorker.set(lease.workerId, held);
  }
}

function sooner(lease: ActiveLease, other: ActiveLease): boolean {
  if (lease.expiry !== other.expiry) return lease.expiry < other.expiry;
  return lease.leaseId < other.leaseId;
}
