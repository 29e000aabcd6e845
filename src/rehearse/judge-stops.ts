// Owns the judgement on a worker that is told to stop: it ends in time, and it finishes or gives
// back the tasks that it has in hand.

import { constants } from 'node:os';
import type { AttemptEnd } from '../explain/explanation.ts';
import { inFlightMs, stopMs } from './allowances.ts';
import { type Evidence, endText, eventOf, type Held, lossToldAt } from './leases-in-hand.ts';
import type { WorkerEvent } from './traffic.ts';

/** What became of a lease that a worker had in hand when it was told to stop. */
export interface AtShutdown {
  readonly worker: number;
  readonly signal: string;
  readonly taskId: string;
  readonly leaseId: string;
  /** As explain calls the end of an attempt; undefined: the lease was not over. */
  readonly ended: AttemptEnd | undefined;
  readonly record: number | undefined;
  /** From the signal to the last report under the lease, in ms; no report: undefined. */
  readonly reportedAfterMs: number | undefined;
  /** The worker did not listen for the signal: the operating system ended it. */
  readonly byTheSignal: boolean;
}

const WORDS: Readonly<Record<AttemptEnd, string>> = {
  completed: 'finished its task',
  failed: 'reported its task as failed',
  released: 'gave back its task',
  expired: 'left its lease to run out',
  killed: 'had its task killed',
};

/** A remark for the table: `gave back its task 120 ms after SIGTERM`. */
export function shutdownText({ ended, signal, reportedAfterMs }: AtShutdown): string {
  const what = ended === undefined ? 'left its lease open' : WORDS[ended];
  const when = reportedAfterMs === undefined ? 'at' : `${reportedAfterMs} ms after`;
  return `${what} ${when} ${signal}`;
}

/**
 * How workers ended that nobody had killed or told to stop: as the exit status or the signal. A
 * worker that ends with status 0 has done what it was started for.
 */
export const endsByThemselves = (evidence: Evidence): readonly string[] =>
  evidence.traffic.events.flatMap(({ what, worker, how }) => {
    if (what !== 'ended' || how === undefined || how === 'status 0') return [];
    return eventOf(evidence, worker, 'killed', 'told to stop') === undefined ? [how] : [];
  });

export function atShutdown(leases: readonly Held[], evidence: Evidence): readonly AtShutdown[] {
  return leases.flatMap((lease): AtShutdown[] => {
    const { worker, taskId, leaseId, reports, attemptTold } = lease;
    const stop = eventOf(evidence, worker, 'told to stop');
    if (stop === undefined || !wasInHand(lease, stop, leases, evidence)) return [];
    const last = reports.at(-1);
    return [
      {
        worker,
        signal: stop.how ?? '',
        taskId,
        leaseId,
        ended: attemptTold?.ended,
        record: attemptTold?.end_record,
        reportedAfterMs: last === undefined ? undefined : Math.max(0, last.at - stop.at),
        byTheSignal: endedBySignal(eventOf(evidence, worker, 'ended'), stop),
      },
    ];
  });
}

function wasInHand(
  lease: Held,
  { at }: WorkerEvent,
  all: readonly Held[],
  evidence: Evidence,
): boolean {
  if (lease.reports.some((report) => report.at <= at)) return false;
  if ((lossToldAt(lease, evidence) ?? Infinity) <= at) return false;
  // A grant that was on its way when the signal came may not have been read. Whoever has sent
  // something under one lease of an answer has read the answer, and has all of its leases in hand.
  if (lease.from + inFlightMs(evidence.leaseMs) <= at) return true;
  return all
    .filter(({ grantedTo }) => grantedTo === lease.grantedTo)
    .flatMap(({ heartbeats, reports, effects }) => [
      ...[...heartbeats, ...reports].map((sent) => sent.at),
      ...effects.map(({ askedAt }) => askedAt),
    ])
    .some((seen) => seen <= at);
}

/** A shell tells of the signal that ended its command as the status 128 + its number. */
function endedBySignal(end: WorkerEvent | undefined, { how: signal = '' }: WorkerEvent): boolean {
  const number = constants.signals[signal as NodeJS.Signals];
  return end?.how === signal || end?.how === `status ${128 + number}`;
}

/**
 * Leases that a worker kept although it listened for the signal: it ended with the task neither
 * reported nor given back.
 */
export function keptAtShutdown(leases: readonly Held[], evidence: Evidence): string[] {
  const kept = new Map(
    atShutdown(leases, evidence)
      .filter(({ ended, byTheSignal }) => ended === 'expired' && !byTheSignal)
      .filter(({ reportedAfterMs }) => reportedAfterMs === undefined)
      .map((one) => [one.leaseId, one]),
  );
  return leases.flatMap((lease) => {
    const one = kept.get(lease.leaseId);
    if (one === undefined) return [];
    const end = eventOf(evidence, lease.worker, 'ended');
    if (end === undefined) return [];
    const { worker, taskId, leaseId } = lease;
    return [
      `worker ${worker} had ${leaseId} of ${taskId} in hand when it was told ${one.signal}, ` +
        `and ended at ${end.at} ms (${end.how}) without a report; ${endText(lease)}`,
    ];
  });
}

export function stubborn(evidence: Evidence): string[] {
  const { traffic, endedAt, leaseMs } = evidence;
  const allowedMs = stopMs(leaseMs) - inFlightMs(leaseMs);
  return traffic.events
    .filter(({ what }) => what === 'told to stop')
    .flatMap(({ worker, at, how }) => {
      const end = eventOf(evidence, worker, 'ended');
      const tookMs = (end?.at ?? endedAt) - at;
      if (tookMs < allowedMs) return [];
      return [`worker ${worker} was told ${how} at ${at} ms and ran on`];
    });
}
