// Owns the sentences about a lease that expired: which heartbeats are recorded, and whether the
// coordinator was up to receive another one. A heartbeat that changes nothing leaves no record,
// and the sentences say so.

import type { ExplainedAttempt, ExplainedStart } from './explanation.ts';
import { downText, durationAtLeastText, durationText, type Teller, UNRECORDED } from './names.ts';

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
  const length = durationAtLeastText(leaseExpiry - lastSign);
  const heard =
    lastHeartbeat === undefined
      ? `no heartbeat is recorded in the ${length} after its grant`
      : `its last heartbeat was at ${tell.at(lastHeartbeat.at)}, and none is recorded in ` +
        `the ${length} after it`;
  const down = downDuring(attempt, starts);
  const missing = down === undefined ? standstill(attempt, starts) : missed(attempt, down, tell);
  const lost = restoredDuring(attempt, starts).map(lostText);
  return `${heard} (${UNRECORDED})${lost.join('')}${missing}`;
}

/** Whether the log was restored from a copy between an attempt's grant and its end. */
export const isPartLost = (
  { leaseId, endRecord }: ExplainedAttempt,
  starts: readonly ExplainedStart[],
): boolean =>
  starts.some((start) => start.restored !== undefined && isDuring(start, leaseId, endRecord));

/** A coordinator that runs records the end of a lease within a tick, whose length no record has. */
const LATE_MS = 1_000;

/** Without a restart in between, an end that was recorded late tells of a standstill. */
function standstill(attempt: ExplainedAttempt, starts: readonly ExplainedStart[]): string {
  const { leaseId, endRecord, leaseExpiry, endedAt = leaseExpiry } = attempt;
  const isRestarted = starts.some((start) => isDuring(start, leaseId, endRecord));
  if (isRestarted || endedAt - leaseExpiry < LATE_MS) return '';
  return (
    `; the coordinator recorded the end ${durationText(endedAt - leaseExpiry)} late, as it does ` +
    'when its machine stands still or is very busy, or when --tick-ms is long, so a heartbeat ' +
    'that was sent before the end may have been read only after it'
  );
}

/** The starts on a restored log between the last sign of life and the end. */
export function restoredDuring(
  attempt: ExplainedAttempt,
  starts: readonly ExplainedStart[],
): ExplainedStart[] {
  if (attempt.reachedWindow) return [];
  const lastSign = attempt.lastHeartbeat?.record ?? attempt.leaseId;
  return starts.filter(
    (start) => start.restored !== undefined && isDuring(start, lastSign, attempt.endRecord),
  );
}

const lostText = ({ seq, restored }: ExplainedStart): string =>
  `; the log was restored from a copy meanwhile (record ${seq}), so what came after record ` +
  `${restored?.after} is lost, heartbeats too`;

/**
 * Finds the start that matters for an attempt whose lease expired before the execution window
 * ended: the start before which the lease ended while the coordinator was down; else the newest
 * start between the last sign of life and the end. What a restore means is told beside it.
 */
export function downDuring(
  attempt: ExplainedAttempt,
  starts: readonly ExplainedStart[],
): ExplainedStart | undefined {
  if (attempt.reachedWindow) return undefined;
  const lastSign = attempt.lastHeartbeat?.record ?? attempt.leaseId;
  const during = starts.filter(
    (start) => start.restored === undefined && isDuring(start, lastSign, attempt.endRecord),
  );
  const seenAs = (wanted: 'down' | 'up') => (start: ExplainedStart) =>
    endSeenFrom(attempt, start) === wanted;
  return during.find(seenAs('down')) ?? during.findLast(seenAs('up'));
}

export const isDuring = (start: ExplainedStart, from: number, to: number | undefined): boolean =>
  start.seq > from && (to === undefined || start.seq < to);

/**
 * Says when the lease ended, seen from a start whose record comes before the record of the end.
 * `down`: while no coordinator ran, or within a tick before: a running one records the end by then.
 * `up`: after the start.
 * `before`: before the newest record that precedes the start, so the start does not matter.
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
      '; the lease ended while the coordinator was down or just before that, and it started ' +
      `again at ${tell.at(at)} (record ${seq}), so a heartbeat sent${from} may have found nobody ` +
      'to take it'
    );
  }
  const upFor = durationAtLeastText(attempt.leaseExpiry - at);
  const lost =
    lastAliveAt === undefined
      ? ''
      : ` after it was ${downText(start)}, in which a heartbeat may have been lost`;
  return (
    `; the coordinator started anew meanwhile, at ${tell.at(at)} (record ${seq})${lost}; it was ` +
    `up again for the last ${upFor} before the lease ran out, and no heartbeat is recorded ` +
    'in that time either'
  );
}
