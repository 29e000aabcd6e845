// Owns the judgement on reports: one for each lease, repeated while it has no answer, never after
// CANCELLED, and always under the newest lease that the worker was given.

import { heartbeatsAfter } from './judge-heartbeats.ts';
import {
  confirmations,
  type Evidence,
  endText,
  eventOf,
  frozenMs,
  type Held,
  lossToldAt,
  say,
  toldAt,
  wasUndisturbed,
} from './leases-in-hand.ts';
import { isReport } from './requests.ts';
import type { Exchange } from './traffic.ts';

export function afterCancelled(lease: Held, evidence: Evidence): string[] {
  const cancelled = lease.reports.find(({ answered }) => answered?.outcome === 'CANCELLED');
  const told = cancelled === undefined ? undefined : toldAt(cancelled, evidence);
  if (cancelled === undefined || told === undefined) return [];
  const { number } = cancelled;
  const reports = lease.reports.filter((one) => one.at >= told && one.number > number);
  return [...reports, ...heartbeatsAfter(lease, told, evidence)].map(say);
}

/**
 * The same report may be repeated until it is answered; another one may not follow. After CANCELLED
 * nothing may, which is a fault of its own.
 */
export function secondReports({ reports }: Held, evidence: Evidence): string[] {
  const isTold = (report: Exchange, at: number): boolean =>
    (toldAt(report, evidence) ?? Infinity) <= at;
  return reports.flatMap((report, index) => {
    const before = reports.slice(0, index);
    const isCancelled = before.some(
      (one) => one.answered?.outcome === 'CANCELLED' && isTold(one, report.at),
    );
    if (isCancelled) return [];
    const other = before.find(({ said }) => said !== report.said);
    if (other !== undefined) return [`${say(report)} says another thing than ${say(other)}`];
    const final = before.find(
      (one) => one.answered?.outcome !== 'UNAVAILABLE' && isTold(one, report.at),
    );
    if (final === undefined) return [];
    return [`${say(report)} although ${say(final)} was answered ${final.answered?.outcome}`];
  });
}

/** The lease ran out, and the worker process was there to see it. */
function ranOutInHand(lease: Held, { leaseMs, endedAt, ...evidence }: Evidence): boolean {
  const { attemptTold, worker, from } = lease;
  if (attemptTold?.ended !== 'expired') return false;
  const end = Math.max(...confirmations(lease)) + leaseMs;
  const { events } = evidence.traffic;
  const wasHere = !events.some(
    (event) =>
      event.worker === worker &&
      event.at < end &&
      (event.what === 'killed' || event.what === 'ended' || event.what === 'told to stop'),
  );
  return wasHere && endedAt > end && frozenMs(events, worker, from, end) === 0;
}

/**
 * A report that was answered UNAVAILABLE, or not at all, and that the worker never sent again. A
 * process that ended because its connection was cut is started again by its supervisor; one that
 * takes UNAVAILABLE for an answer has given up the task.
 */
export function givenUp(lease: Held, evidence: Evidence): string[] {
  const [report, ...repeated] = lease.reports;
  if (report === undefined || repeated.length > 0 || lease.attemptTold?.ended !== 'expired') {
    return [];
  }
  if (lossToldAt(lease, evidence) !== undefined) return [];
  const wasRefused =
    report.answered?.outcome === 'UNAVAILABLE' && toldAt(report, evidence) !== undefined;
  const wasLost = report.deliveredAt === undefined;
  const disturbed = eventOf(evidence, lease.worker, 'killed', 'frozen', 'told to stop');
  const isOver = wasRefused && disturbed === undefined;
  if (!isOver && !(wasLost && ranOutInHand(lease, evidence))) return [];
  const how = wasRefused ? 'was answered UNAVAILABLE' : 'had no answer';
  return [`${say(report)} ${how}, and was not sent again; ${endText(lease)}`];
}

/** A task that the worker had in hand, undisturbed, and never reported. */
export function unreported(lease: Held, all: readonly Held[], evidence: Evidence): string[] {
  const { reports, worker, leaseId, taskId } = lease;
  if (reports.length > 0 || !wasUndisturbed(worker, evidence)) return [];
  if (lossToldAt(lease, evidence) !== undefined || !ranOutInHand(lease, evidence)) return [];
  if (isWaitingBehindAnother(lease, all, evidence)) return [];
  return [
    `worker ${worker} was given ${leaseId} of ${taskId} at ${lease.from} ms, ` +
      `and reported nothing; ${endText(lease)}`,
  ];
}

/**
 * A lease that was taken in advance: the worker has shown no work under it, and was at work under
 * another one until there was little time left.
 */
function isWaitingBehindAnother(lease: Held, all: readonly Held[], { leaseMs }: Evidence): boolean {
  if (lease.heartbeats.length > 0 || lease.effects.length > 0) return false;
  const late = lease.from + leaseMs / 2;
  return all.some(
    ({ worker, leaseId, from, reports }) =>
      worker === lease.worker &&
      leaseId !== lease.leaseId &&
      from <= late &&
      (reports[0]?.at ?? Infinity) >= late,
  );
}

/** A process that ended by itself with a task in hand, although nothing had happened to it. */
export function crashes(lease: Held, evidence: Evidence): string[] {
  const { worker, reports, leaseId, taskId, from } = lease;
  const end = eventOf(evidence, worker, 'ended');
  if (end === undefined || reports.length > 0 || end.at < from) return [];
  if (!wasUndisturbed(worker, evidence) || lossToldAt(lease, evidence) !== undefined) return [];
  if (end.at > Math.max(...confirmations(lease)) + evidence.leaseMs) return [];
  return [
    `worker ${worker} ended at ${end.at} ms (${end.how}) with ${leaseId} of ${taskId} in hand; ` +
      endText(lease),
  ];
}

/**
 * What a process sent under an old lease of a task while it had a newer lease of the same task, and
 * under the newer one nothing: the worker confuses its leases.
 */
export interface Confusion {
  readonly newer: Held;
  readonly sent: readonly Exchange[];
}

export function confusions(
  all: readonly Held[],
  { traffic: { exchanges } }: Evidence,
): readonly Confusion[] {
  return all.flatMap((newer): Confusion[] => {
    const { taskId, worker, from, fencingToken, attemptTold } = newer;
    const later = all
      .filter((one) => one.taskId === taskId && one.worker === worker && one.from > from)
      .map((one) => one.from);
    const own = [...newer.reports, ...newer.heartbeats];
    if (attemptTold?.ended !== 'expired' || own.some(({ at }) => at < Math.min(...later))) {
      return [];
    }
    // A lease whose grant got lost counts, too: its id stands in the grants that follow.
    const older = new Set(
      exchanges
        .flatMap(({ granted }) => granted)
        .filter((old) => old.taskId === taskId && old.fencingToken < fencingToken)
        .map(({ leaseId }) => leaseId),
    );
    const sent = exchanges.filter(
      (one) => one.worker === worker && one.at >= from && older.has(one.leaseId ?? ''),
    );
    return sent.some(isReport) ? [{ newer, sent }] : [];
  });
}

export const confusionText = ({ newer, sent }: Confusion): string[] =>
  sent
    .filter(isReport)
    .map((one) => `${say(one)} under ${one.leaseId}, although ${newer.leaseId} was in hand`);
