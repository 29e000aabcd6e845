// Owns the judgement on heartbeats: they go on for as long as the work does, and end with it.

import { inFlightMs } from './allowances.ts';
import {
  confirmations,
  type Evidence,
  frozenMs,
  type Held,
  say,
  toldAt,
} from './leases-in-hand.ts';
import type { Exchange } from './traffic.ts';

/** A silence this many leases long is a fault: a busy machine alone is none of the worker's. */
const BUSY = 1.4;
const NEARLY = 0.95;
/** Answers to a report after which a heartbeat is not called late. */
const UNDECIDED_OR_LOST: ReadonlySet<string | undefined> = new Set(['UNAVAILABLE', 'CANCELLED']);

/**
 * Finds a stretch of more than a lease in which the worker ran and sent no heartbeat, although the
 * sign of work that ends the stretch shows that the task was still in hand. A worker that shows no
 * sign of work afterwards may have stopped in time.
 */
export function silences(lease: Held, { traffic, leaseMs }: Evidence): string[] {
  const [firstReport] = lease.reports;
  const rejection = lease.heartbeats.find(({ answered }) => answered?.outcome === 'REJECTED');
  const until = Math.min(firstReport?.at ?? Infinity, rejection?.at ?? Infinity);
  const worked = lease.effects.flatMap(({ askedAt, at }) => [askedAt, at]);
  const beats = lease.heartbeats.map(({ at }) => at);
  const calls = [lease.from, ...beats].filter((at) => at <= until);
  const signs = [...beats, ...worked, ...(firstReport === undefined ? [] : [firstReport.at])];
  return calls.flatMap((before) => {
    const next = Math.min(...calls.filter((at) => at > before));
    const at = Math.max(...signs.filter((sign) => sign > before && sign <= Math.min(next, until)));
    if (at === -Infinity) return [];
    const ran = (to: number): number =>
      to - before - frozenMs(traffic.events, lease.worker, before, to);
    // By its own clock a worker holds the lease until one lease duration after its newest
    // confirmation, and it owes heartbeats until then. The fault is to send none in all that time,
    // and to work on afterwards.
    const newest = Math.max(...confirmations(lease, before));
    const hasLetPass = ran(Math.min(at, newest + leaseMs)) >= leaseMs * NEARLY;
    if (!hasLetPass || ran(at) <= leaseMs * BUSY) return [];
    return [`${lease.leaseId}: no heartbeat from ${before} to ${at} ms; a lease is ${leaseMs} ms`];
  });
}

/**
 * Heartbeats for a task that the worker has reported, and knows to be reported. Those after
 * CANCELLED are a fault of their own, with all else that is sent then.
 */
export function lateHeartbeats(lease: Held, evidence: Evidence): string[] {
  const ends = lease.reports
    .filter(({ answered }) => !UNDECIDED_OR_LOST.has(answered?.outcome))
    .map((report) => toldAt(report, evidence))
    .filter((at) => at !== undefined);
  return heartbeatsAfter(lease, Math.min(...ends), evidence).map(say);
}

/**
 * Heartbeats that were begun after a time. A heartbeat that was on its way may still arrive; one
 * that had no answer then, or UNAVAILABLE, may be sent again, or be followed by one that waited
 * behind it for the connection: both were begun before.
 */
export function heartbeatsAfter(
  { heartbeats }: Held,
  end: number,
  { leaseMs }: Evidence,
): readonly Exchange[] {
  const undecided = heartbeats.filter(
    ({ at, answered, deliveredAt }) =>
      at <= end && ((deliveredAt ?? Infinity) >= end || answered?.outcome === 'UNAVAILABLE'),
  );
  return heartbeats.filter(({ at }) => at > end + inFlightMs(leaseMs)).slice(undecided.length);
}
