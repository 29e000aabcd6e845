// Owns what the records show of a lease that ran out: which heartbeats there were, whether the
// coordinator could have heard another one, and that a heartbeat may leave no record.

import type { ExplainedAttempt, ExplainedStart } from './explanation.ts';
import { durationAtMostText, durationText, type Teller, UNRECORDED } from './names.ts';

/** @returns why the lease ran out, as a clause. */
export function silenceText(
  attempt: ExplainedAttempt,
  starts: readonly ExplainedStart[],
  tell: Teller,
): string {
  const { lastHeartbeat, grantedAt, leaseExpiry, executionDeadline, reachedWindow } = attempt;
  if (reachedWindow) {
    const window = durationText(executionDeadline - grantedAt);
    return (
      `it had reached the execution window of ${window}, beyond which no heartbeat can lengthen ` +
      `a lease (${UNRECORDED})`
    );
  }
  const lastSign = lastHeartbeat?.at ?? grantedAt;
  const length = durationText(leaseExpiry - lastSign);
  const heard =
    lastHeartbeat === undefined
      ? `no heartbeat is recorded in the ${length} after its grant`
      : `its last heartbeat was at ${tell.at(lastHeartbeat.at)}, and none is recorded in ` +
        `the ${length} after it`;
  const down = downDuring(attempt, starts);
  return `${heard} (${UNRECORDED})${down === undefined ? '' : missed(attempt, down, tell)}`;
}

/**
 * The start that matters for an attempt that ran out below its window: the one before which the
 * lease ended, else the newest one between its last sign of life and its end.
 */
export function downDuring(
  attempt: ExplainedAttempt,
  starts: readonly ExplainedStart[],
): ExplainedStart | undefined {
  if (attempt.reachedWindow) return undefined;
  const lastSign = attempt.lastHeartbeat?.record ?? attempt.leaseId;
  const during = starts.filter((start) => isDuring(start, lastSign, attempt.endRecord));
  const seenAs = (wanted: 'down' | 'up') => (start: ExplainedStart) =>
    endSeenFrom(attempt, start) === wanted;
  return during.find(seenAs('down')) ?? during.findLast(seenAs('up'));
}

export const isDuring = (start: ExplainedStart, from: number, to: number | undefined): boolean =>
  start.seq > from && (to === undefined || start.seq < to);

/**
 * When the lease ended, seen from a start that was recorded before its end was: `down` while there
 * was no coordinator, which would have recorded the end at once; `up` after the start; `before` the
 * newest record before that start, so that the start has nothing to do with it.
 */
export function endSeenFrom(
  { leaseExpiry }: ExplainedAttempt,
  { at, lastAliveAt }: ExplainedStart,
): 'before' | 'down' | 'up' {
  if (leaseExpiry > at) return 'up';
  return lastAliveAt === undefined || leaseExpiry >= lastAliveAt ? 'down' : 'before';
}

/** What a time without a coordinator may have swallowed. */
function missed(attempt: ExplainedAttempt, start: ExplainedStart, tell: Teller): string {
  const { seq, at, lastAliveAt } = start;
  const from = lastAliveAt === undefined ? '' : ` between ${tell.at(lastAliveAt)} and then`;
  if (endSeenFrom(attempt, start) === 'down') {
    return (
      `; the lease ended while the coordinator was down, which started again at ${tell.at(at)} ` +
      `(record ${seq}), so a heartbeat sent${from} may have found nobody to take it`
    );
  }
  const upFor = durationText(attempt.leaseExpiry - at);
  const lost =
    lastAliveAt === undefined
      ? ''
      : ` after it was down for ${durationAtMostText(at - lastAliveAt)} at most, in which a ` +
        'heartbeat may have been lost';
  return (
    `; the coordinator started anew meanwhile, at ${tell.at(at)} (record ${seq})${lost}; it was ` +
    `up again for the last ${upFor} before the lease ran out, and no heartbeat is recorded ` +
    'in that time either'
  );
}
