// Owns the verdict on one run: which faults the worker has shown, and which effects happened more
// than once. The verdict rests on the run's traffic, its effects and the coordinator's log alone.

import { countEffects, type DoubledEffect } from './count-effects.ts';
import type { Fault, FaultName } from './faults.ts';
import type { Recorded } from './rehearsed-coordinator.ts';
import { isReport } from './requests.ts';
import type { Exchange, GrantedLease, Traffic, WorkerEvent } from './traffic.ts';

export interface Evidence {
  readonly traffic: Pick<Traffic, 'exchanges' | 'effects' | 'events'>;
  readonly records: readonly Recorded[];
  readonly leaseMs: number;
  /** Tasks that were not over at the end. */
  readonly left: readonly string[];
  /** When the run ended, in milliseconds since it began. */
  readonly endedAt: number;
  /** The effects of each task where a command of the user's counts them, and not the ledger. */
  readonly counted: ReadonlyMap<string, number>;
}

export type Verdict = 'kept' | 'broken' | 'effect doubled but refusable' | 'effect doubled';

export interface Judgement {
  readonly verdict: Verdict;
  readonly faults: readonly Fault[];
  readonly doubled: readonly DoubledEffect[];
  /** How long after its lease's loss the last trace of work was seen, in ms; no loss: undefined. */
  readonly noticedAfterMs: number | undefined;
}

/** Requests that were sent before an answer came may arrive right after it. */
const IN_FLIGHT_MS = 250;
const STOP_MS = 10_000;
/** A silence this many leases long is a fault: a busy machine alone is none of the worker's. */
const BUSY = 1.4;
const NEARLY = 0.95;

/** One lease in the hands of one worker process. */
interface Held extends GrantedLease {
  readonly worker: number;
  readonly from: number;
  readonly heartbeats: readonly Exchange[];
  readonly reports: readonly Exchange[];
}

export function judge(evidence: Evidence): Judgement {
  const held = leasesIn(evidence);
  const found = new Map<FaultName, string[]>();
  const add = (name: FaultName, words: readonly string[]): void => {
    if (words.length > 0) found.set(name, [...(found.get(name) ?? []), ...words]);
  };
  for (const lease of held) {
    add('no-heartbeat', silence(lease, evidence));
    add('heartbeat-after-report', lateHeartbeats(lease, evidence));
    add('sent-after-cancelled', afterCancelled(lease, evidence));
    add('second-report', secondReports(lease, evidence));
  }
  const { doubled, repeated, without } = countEffects(evidence);
  add('effect-repeated', repeated);
  add('effect-without-lease', without);
  add('ignores-shutdown', stubborn(evidence));
  add(
    'not-done',
    evidence.left.map((id) => `${id} was not over`),
  );
  const faults = [...found].map(([name, words]): Fault => ({ name, evidence: words }));
  return {
    verdict: verdictOf(faults, doubled),
    faults,
    doubled,
    noticedAfterMs: noticed(evidence),
  };
}

/**
 * When every doubled effect could have been refused by its fencing token and no other fault was
 * found, the verdict says so and is not "broken".
 */
function verdictOf(faults: readonly Fault[], doubled: readonly DoubledEffect[]): Verdict {
  const isRefusable = doubled.length > 0 && doubled.every(({ refusable }) => refusable);
  const others = faults.filter(({ name }) => name !== 'effect-without-lease');
  if (others.length > 0) return 'broken';
  if (isRefusable) return 'effect doubled but refusable';
  if (faults.length > 0) return 'broken';
  return doubled.length > 0 ? 'effect doubled' : 'kept';
}

/**
 * Says when the worker surely had the answer; undefined when that is not sure. A process that was
 * frozen near the delivery may have read the answer too late, after its own time-out.
 */
function toldAt({ deliveredAt, worker }: Exchange, { traffic }: Evidence): number | undefined {
  if (deliveredAt === undefined) return undefined;
  const near = frozenMs(traffic.events, worker, deliveredAt - 1, deliveredAt + IN_FLIGHT_MS);
  return near > 0 ? undefined : deliveredAt;
}

function leasesIn({ traffic: { exchanges } }: Evidence): Held[] {
  return exchanges.flatMap((grant) =>
    grant.deliveredAt === undefined
      ? []
      : grant.granted.map((lease): Held => {
          const of = exchanges.filter(
            ({ leaseId, worker }) => leaseId === lease.leaseId && worker === grant.worker,
          );
          return {
            ...lease,
            worker: grant.worker,
            from: grant.deliveredAt as number,
            heartbeats: of.filter(({ op }) => op === 'heartbeat'),
            reports: of.filter(isReport),
          };
        }),
  );
}

const say = ({ number, op, at }: Exchange): string => `request ${number} (${op}) at ${at} ms`;

/** A stretch of more than a lease in which the worker ran, had the task, and said nothing. */
function silence(lease: Held, { traffic, leaseMs, endedAt }: Evidence): string[] {
  const [firstReport] = lease.reports;
  const ends = [
    firstReport?.at,
    lease.heartbeats.find(({ answered }) => answered?.outcome === 'REJECTED')?.at,
    ...traffic.events
      .filter(
        ({ worker, what }) => worker === lease.worker && (what === 'killed' || what === 'ended'),
      )
      .map(({ at }) => at),
    endedAt,
  ].filter((at) => at !== undefined);
  const until = Math.min(...ends);
  const confirmed = [lease.from, ...lease.heartbeats.flatMap(confirmedAt)];
  const signs = [lease.from, ...lease.heartbeats.map(({ at }) => at), until];
  const ordered = signs.filter((at) => at <= until).sort((a, b) => a - b);
  return ordered.slice(1).flatMap((at, index) => {
    const before = ordered[index] as number;
    const ran = (to: number): number =>
      to - before - frozenMs(traffic.events, lease.worker, before, to);
    // By its own clock a worker holds the lease until one lease duration after its newest
    // confirmation, and it owes heartbeats until then. The fault is to send none in all that time,
    // and to work on afterwards.
    const newest = Math.max(...confirmed.filter((one) => one <= before));
    const hasLetPass = ran(Math.min(at, newest + leaseMs)) >= leaseMs * NEARLY;
    if (!hasLetPass || ran(at) <= leaseMs * BUSY) return [];
    return [`${lease.leaseId}: no heartbeat from ${before} to ${at} ms; a lease is ${leaseMs} ms`];
  });
}

const confirmedAt = ({ answered, deliveredAt }: Exchange): number[] =>
  answered?.outcome === 'OK' && deliveredAt !== undefined ? [deliveredAt] : [];

/** How long the process stood still between two times. */
function frozenMs(
  events: readonly WorkerEvent[],
  worker: number,
  from: number,
  to: number,
): number {
  let total = 0;
  let since: number | undefined;
  for (const { at, what } of events.filter((event) => event.worker === worker)) {
    if (what === 'frozen') since = at;
    if (what !== 'woken' || since === undefined) continue;
    total += Math.max(0, Math.min(at, to) - Math.max(since, from));
    since = undefined;
  }
  return since === undefined ? total : total + Math.max(0, to - Math.max(since, from));
}

function lateHeartbeats({ reports, heartbeats }: Held, evidence: Evidence): string[] {
  const ends = reports
    .filter(({ answered }) => answered?.outcome !== 'UNAVAILABLE')
    .map((report) => toldAt(report, evidence))
    .filter((at) => at !== undefined);
  const end = Math.min(...ends) + IN_FLIGHT_MS;
  return heartbeats.filter(({ at }) => at > end).map(say);
}

function afterCancelled({ reports, heartbeats }: Held, evidence: Evidence): string[] {
  const cancelled = reports.find(({ answered }) => answered?.outcome === 'CANCELLED');
  const told = cancelled === undefined ? undefined : toldAt(cancelled, evidence);
  if (told === undefined) return [];
  const late = [...reports, ...heartbeats].filter(({ at }) => at > told);
  // A heartbeat may have been on its way when the answer came; a report follows the answer.
  return late.filter(({ op, at }) => op !== 'heartbeat' || at > told + IN_FLIGHT_MS).map(say);
}

/** The same report may be repeated until it is answered; another one may not follow. */
function secondReports({ reports }: Held, evidence: Evidence): string[] {
  return reports.flatMap((report, index) => {
    const before = reports.slice(0, index);
    const other = before.find(({ said }) => said !== report.said);
    if (other !== undefined) return [`${say(report)} says another thing than ${say(other)}`];
    const final = before.find((one) => {
      const outcome = one.answered?.outcome;
      const told = toldAt(one, evidence);
      return outcome !== 'UNAVAILABLE' && outcome !== 'CANCELLED' && (told ?? Infinity) < report.at;
    });
    if (final === undefined) return [];
    return [`${say(report)} although ${say(final)} was answered ${final.answered?.outcome}`];
  });
}

function stubborn({ traffic: { events }, endedAt }: Evidence): string[] {
  return events
    .filter(({ what }) => what === 'told to stop')
    .flatMap(({ worker, at, how }) => {
      const end = events.find((event) => event.worker === worker && event.what === 'ended');
      const tookMs = (end?.at ?? endedAt) - at;
      if (tookMs < STOP_MS - IN_FLIGHT_MS) return [];
      return [`worker ${worker} was told ${how} at ${at} ms and ran on`];
    });
}

/**
 * @returns the longest time in ms from the answer that told a worker of a lost lease to the last
 *   request of that worker for the lease; undefined when no worker was told of a loss
 */
function noticed({ traffic, records }: Evidence): number | undefined {
  const times: number[] = [];
  for (const { exchange, at } of lossesIn(traffic.exchanges)) {
    const last = traffic.exchanges.filter(
      ({ leaseId, worker }) => leaseId === exchange.leaseId && worker === exchange.worker,
    );
    times.push(Math.max(0, ...last.map((one) => one.at - at)));
  }
  return times.length === 0 || records.length === 0 ? undefined : Math.max(...times);
}

/** The first answer of each lease that told the worker of its loss. */
function lossesIn(exchanges: readonly Exchange[]) {
  const seen = new Set<string>();
  return exchanges.flatMap((exchange) => {
    const { answered, deliveredAt: at, leaseId } = exchange;
    const isLoss =
      answered?.outcome === 'CANCELLED' ||
      (exchange.op === 'heartbeat' && answered?.outcome === 'REJECTED');
    if (!isLoss || at === undefined || leaseId === undefined || seen.has(leaseId)) return [];
    seen.add(leaseId);
    return [{ exchange, at }];
  });
}
