// Owns the events of a Worker, one object each, and nothing else.

import type { LeaseholdError } from './errors.ts';
import type { Lease } from './lease.ts';
import type { Cancelled, Committed, ProtocolEvent, Rejected } from './types.ts';

export interface FailureReport {
  readonly reason: string;
  readonly kind: 'error' | 'permanent' | 'released';
}

export interface WorkerEvents {
  /** A task was granted; its handler is about to be called. */
  leased: [{ readonly task: Lease }];
  /** COMMITTED: the result was accepted. */
  completed: [{ readonly task: Lease; readonly outcome: Committed }];
  /** COMMITTED: the failure was accepted; `outcome.taskState` says what follows. */
  failed: [{ readonly task: Lease; readonly outcome: Committed; readonly failure: FailureReport }];
  /** COMMITTED: given back unharmed at shutdown. */
  released: [{ readonly task: Lease; readonly outcome: Committed }];
  /**
   * The attempt has no authority any more: a heartbeat was rejected, the lease is over by the
   * local clock, or a report was CANCELLED. The worker sends nothing more about this lease.
   */
  lost: [{ readonly task: Lease; readonly reason: string; readonly outcome?: Cancelled }];
  /** A report was REJECTED: a bug, here or in whoever else reports under this lease. */
  rejected: [{ readonly task: Lease; readonly outcome: Rejected }];
  /** Transport trouble, or a report that stayed unanswered. Without a listener it is a warning. */
  error: [LeaseholdError];
  /** Every request and every answer as it stood on the wire. */
  protocol: [ProtocolEvent];
}
