// Owns what must be remembered of a task whose attempts did not simply succeed: its ended leases
// with their outcomes, and its counts. A task that was leased once and completed has no history
// here; everything about it stands in its row.

import type { ReportVerb } from '../model/records.ts';

export type LeaseEnd = 'completed' | 'failed' | 'released' | 'expired' | 'killed';

/** One ended lease. It has at most one outcome, ever: that of the first report for it. */
export interface EndedLease {
  readonly leaseId: number;
  readonly ended: LeaseEnd;
  /** The record that ended it. */
  readonly endRecord: number;
  readonly outcome: 'COMMITTED' | 'CANCELLED' | undefined;
  readonly report: ReportVerb | undefined;
  /** The record of the first report: TaskCompleted, TaskFailed or TaskCancelled. */
  readonly reportRecord: number;
}

export interface TaskHistory {
  /** In ascending order of their ids. */
  readonly leases: EndedLease[];
  /** Records of the task so far, extensions included. */
  records: number;
  expirations: number;
  /**
   * LeaseExpired since the last accepted report. Poison is counted by them (R23): a task that kills
   * its workers gets no report, so a report, even of a failure, shows that this one does not.
   */
  expirationsInRow: number;
  /** Accepted fails that were not `released`. */
  failures: number;
  /** Released attempts that are not charged. */
  released: number;
  releasedInRow: number;
  /** The newest TaskFailed, 0: none. */
  lastFailure: number;
}

export const newHistory = (records: number): TaskHistory => ({
  leases: [],
  records,
  expirations: 0,
  expirationsInRow: 0,
  failures: 0,
  released: 0,
  releasedInRow: 0,
  lastFailure: 0,
});

/** A lease that time or an administrator ended: its worker has not been heard yet. */
export const endedSilently = (
  leaseId: number,
  ended: 'expired' | 'killed',
  endRecord: number,
): EndedLease => ({
  leaseId,
  ended,
  endRecord,
  outcome: undefined,
  report: undefined,
  reportRecord: 0,
});

/** A lease that its worker's accepted report ended. */
export const endedByReport = (
  leaseId: number,
  ended: 'completed' | 'failed' | 'released',
  endRecord: number,
): EndedLease => ({
  leaseId,
  ended,
  endRecord,
  outcome: 'COMMITTED',
  report: ended === 'completed' ? 'complete' : 'fail',
  reportRecord: endRecord,
});

/** @returns the place of an ended lease in the history, or -1. */
export function placeOf(history: TaskHistory, leaseId: number): number {
  const { leases } = history;
  let low = 0;
  let high = leases.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = (leases[middle] as EndedLease).leaseId;
    if (found === leaseId) return middle;
    if (found < leaseId) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
