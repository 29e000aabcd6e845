// Owns the lifetime counters that `stats` and the metrics show. They are folded from the records,
// so they are the same before and after a restart. A HistoryForgotten carries their values,
// because the records that were counted may be removed later. What no record says is counted where
// it happens: times in metrics/request-times.ts, loop/group-commit.ts and loop/granting.ts, refused
// requests in mailbox/gauge.ts.

import type { LogRecord } from '../model/records.ts';
import type { State } from './state.ts';
import type { Subject } from './subject.ts';

/** Counts a record that is about to be applied. */
export function countRecord(state: State, record: LogRecord, subject: Subject): void {
  const { totals } = state;
  switch (record.type) {
    case 'LeaseGranted':
      return countGrant(state, subject);
    case 'LeaseExpired':
      totals.leaseExpirations += 1;
      return;
    case 'TaskCancelled':
      totals.lateReports += 1;
      return;
    case 'CoordinatorStarted':
      totals.starts += 1;
      return;
    default:
  }
}

/** How the attempt before this one ended says why the task is leased again. */
function countGrant({ histories, totals }: State, { row }: Subject): void {
  const ended = histories.get(row)?.leases.at(-1)?.ended;
  // The worker whose lease expired may be at work still, so the task may now run twice. An attempt
  // that was given back unharmed is followed by no retry (R13a).
  if (ended === 'expired') totals.duplicateExecutions += 1;
  if (ended === 'failed') totals.retries += 1;
}
