// Owns how requests are served while the log takes no records, as on a full disk (R28): reads are
// answered from the replayed state, changes are refused, and one record at a time tries the log
// again, at longer and longer intervals. loop/recovery.ts decides when this begins and when it is
// over; log/lmdb/disk-room.ts notices when a new segment has no room, before LMDB does. When etcd
// is full is told by cluster/room.ts.

import { isRead } from '../core/views.ts';
import { type Unavailable, unavailable } from '../model/refusal.ts';
import type { Request } from '../model/request.ts';

const FIRST_MS = 100;
const LAST_MS = 5_000;

export class DiskFull {
  private tryEveryMs = FIRST_MS;
  private tryAt = 0;
  private isTrying = false;

  /** @returns the answer to a change; undefined for a read, which can be served. */
  refuses(request: Request): Unavailable | undefined {
    return isRead(request) ? undefined : this.refusal();
  }

  refusal(): Unavailable {
    return unavailable('log_unavailable', 'the log takes no records at present', this.tryEveryMs);
  }

  /** Whether a record is to try the log again. */
  isDue(now: number): boolean {
    return !this.isTrying && now >= this.tryAt;
  }

  /** No other record tries the log before this attempt has ended. */
  async attempted(attempt: Promise<void>): Promise<void> {
    this.isTrying = true;
    await attempt;
    this.isTrying = false;
  }

  /** The log has refused a record, for the first time or again. */
  goesOn(now: number): void {
    this.tryAt = now + this.tryEveryMs;
    this.tryEveryMs = Math.min(this.tryEveryMs * 2, LAST_MS);
  }

  /** The log has taken a record. */
  over(): void {
    this.tryEveryMs = FIRST_MS;
  }
}
