// Owns when a lease is expired: before anything is decided, in the order (lease_expiry, lease id),
// and so many with one group at most. Whether a lease is over is decided in core/lease-manager.ts.

import { expired, isOver } from '../core/lease-manager.ts';
import type { ActiveLease } from '../core/leases.ts';
import { type Subject, subjectAt } from '../core/subject.ts';
import type { Request } from '../model/request.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Turn } from './turn.ts';

/** Other requests get into each group, and wait for two groups at most. */
const EXPIRED_A_GROUP = 500;

export class Expiry {
  private readonly turn: Turn;
  private readonly commits: GroupCommit;
  private expiredInGroup = 0;

  constructor(turn: Turn, commits: GroupCommit) {
    this.turn = turn;
    this.commits = commits;
  }

  isDue(now: number): boolean {
    const first = this.turn.context.state.leases.firstToExpire();
    return first !== undefined && isOver(first, now);
  }

  /** Expires what is due, as far as the group has room. @returns whether none is due any more. */
  expireDue(now: number): boolean {
    if (this.commits.gathered === 0) this.expiredInGroup = 0;
    for (;;) {
      const lease = this.turn.context.state.leases.firstToExpire();
      if (lease === undefined || !isOver(lease, now)) return true;
      if (this.expiredInGroup >= EXPIRED_A_GROUP) return false;
      this.expiredInGroup += 1;
      this.expire(lease, now);
    }
  }

  /**
   * Expires the lease that a request is about, if its time has come, before the request is decided
   * (R7). The request may also name a lease of another task: that one is expired too.
   * @returns whether a lease was expired; the caller must then look the subject up again.
   */
  expireNamed(request: Request, { lease }: Subject, now: number): boolean {
    // The group's bound does not count here: a list may lag by a sweep, a single task never (R7).
    const isExpired = this.expireIfOver(lease, now);
    if (!('leaseId' in request) || request.leaseId === lease?.leaseId) return isExpired;
    const other = this.turn.context.state.leases.get(request.leaseId);
    return this.expireIfOver(other, now) || isExpired;
  }

  private expireIfOver(lease: ActiveLease | undefined, now: number): boolean {
    const isExpired = lease !== undefined && isOver(lease, now);
    if (isExpired) this.expire(lease, now);
    return isExpired;
  }

  private expire(lease: ActiveLease, now: number): void {
    this.turn.decide(expired(this.turn.context, lease, now), subjectAt(lease.row, lease));
  }
}
