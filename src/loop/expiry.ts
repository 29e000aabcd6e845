// Owns when a lease is expired: before anything is decided, in the order (lease_expiry, lease id),
// and so many with one group at most. Whether a lease is over is decided in core/lease-manager.ts.

import { expired, isOver } from '../core/lease-manager.ts';
import type { ActiveLease } from '../core/leases.ts';
import { NONE } from '../core/task-table.ts';
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

  /** The lease that a request is about is expired before the request is decided (R7). */
  expireNamed(request: Request, now: number): void {
    if (!('taskId' in request)) return;
    const { state } = this.turn.context;
    const row = state.tasks.find(request.taskId);
    const named =
      row !== NONE && state.tasks.state(row) === 'LEASED' ? state.tasks.leaseId(row) : 0;
    this.expireIfOver(state.leases.get(named), now);
    if ('leaseId' in request) this.expireIfOver(state.leases.get(request.leaseId), now);
  }

  private expireIfOver(lease: ActiveLease | undefined, now: number): void {
    if (lease !== undefined && isOver(lease, now)) this.expire(lease, now);
  }

  private expire(lease: ActiveLease, now: number): void {
    this.turn.decide(expired(this.turn.context, lease, now));
  }
}
