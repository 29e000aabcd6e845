// Owns what is known of each lease in the hands of a worker process: the grant, the heartbeats, the
// reports and the effects under the lease, and how it ended according to explain.

import type { AttemptEnd } from '../explain/explanation.ts';
import { inFlightMs } from './allowances.ts';
import type { Recorded, Story, ToldAttempt } from './coordinator-requests.ts';
import { isHeartbeat, isReport } from './requests.ts';
import type { Effect, Exchange, GrantedLease, Traffic, WorkerEvent } from './traffic.ts';

export interface Evidence {
  readonly traffic: Pick<Traffic, 'exchanges' | 'effects' | 'abandoned' | 'events'>;
  readonly records: readonly Recorded[];
  readonly stories: readonly Story[];
  readonly leaseMs: number;
  /** Tasks that were not over at the end. */
  readonly left: readonly string[];
  /** When the run ended, in milliseconds since it began. */
  readonly endedAt: number;
  /** The effects of each task where a command of the user's counts them, and not the ledger. */
  readonly counted: ReadonlyMap<string, number>;
  /** Tasks whose payload had its effect each time when nothing went wrong. */
  readonly owed: ReadonlySet<string>;
}

/** Ends of a lease by a report of its worker. */
const OWN_ENDS: ReadonlySet<AttemptEnd | undefined> = new Set([
  'completed',
  'failed',
  'released',
] as const);

/** One lease in the hands of one worker process. */
export interface Held extends GrantedLease {
  readonly worker: number;
  /** The number of the request that the lease was granted to; one answer may grant several. */
  readonly grantedTo: number;
  readonly from: number;
  readonly heartbeats: readonly Exchange[];
  readonly reports: readonly Exchange[];
  readonly effects: readonly Effect[];
  readonly attemptTold: ToldAttempt | undefined;
}

export function leasesIn({ traffic: { exchanges, effects }, stories }: Evidence): Held[] {
  const told = new Map(
    stories.flatMap(({ attempts }) => attempts).map((attempt) => [attempt.lease_id, attempt]),
  );
  return exchanges.flatMap(({ deliveredAt: from, granted, worker, number: grantedTo }) =>
    from === undefined
      ? []
      : granted.map((lease): Held => {
          const of = exchanges.filter(
            (one) => one.leaseId === lease.leaseId && one.worker === worker,
          );
          return {
            ...lease,
            worker,
            grantedTo,
            from,
            heartbeats: of.filter(isHeartbeat),
            reports: of.filter(isReport),
            effects: effects.filter(
              ({ taskId, fencingToken }) =>
                taskId === lease.taskId && fencingToken === lease.fencingToken,
            ),
            attemptTold: told.get(lease.leaseId),
          };
        }),
  );
}

export const say = ({ number, op, at }: Exchange): string =>
  `request ${number} (${op}) at ${at} ms`;

/** The end of a lease with the record that proves it, in words. */
export const endText = ({ attemptTold }: Held): string =>
  attemptTold?.ended === undefined
    ? 'its lease was not over'
    : `its lease ${attemptTold.ended}, record ${attemptTold.end_record}`;

/**
 * Says when the worker surely had the answer; undefined when that is not sure. A process that was
 * frozen near the delivery may have read the answer too late, after its own time-out.
 */
export function toldAt({ deliveredAt, worker }: Exchange, { traffic, leaseMs }: Evidence) {
  if (deliveredAt === undefined) return undefined;
  const until = deliveredAt + inFlightMs(leaseMs);
  const near = frozenMs(traffic.events, worker, deliveredAt - 1, until);
  return near > 0 ? undefined : deliveredAt;
}

/**
 * When the worker was first told that the lease is lost. The end of a lease by its own report is no
 * loss.
 */
export function lossToldAt(lease: Held, evidence: Evidence): number | undefined {
  const { heartbeats, reports, attemptTold } = lease;
  if (OWN_ENDS.has(attemptTold?.ended)) return undefined;
  const told = [
    ...heartbeats.filter(({ answered }) => answered?.outcome === 'REJECTED'),
    ...reports.filter(({ answered }) => answered?.outcome === 'CANCELLED'),
  ]
    .map((exchange) => toldAt(exchange, evidence))
    .filter((at) => at !== undefined);
  return told.length === 0 ? undefined : Math.min(...told);
}

/** When the worker had the coordinator's confirmations of its lease: the grant, each heartbeat. */
export const confirmations = ({ from, heartbeats }: Held, sentUntil = Infinity): number[] => [
  from,
  ...heartbeats.flatMap(({ answered, deliveredAt, at }) =>
    answered?.outcome === 'OK' && deliveredAt !== undefined && at <= sentUntil ? [deliveredAt] : [],
  ),
];

/** How long the process stood still between two times. */
export function frozenMs(
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

/** The first event of this kind in the life of a worker process. */
export const eventOf = (
  { traffic }: Evidence,
  worker: number,
  ...kinds: readonly WorkerEvent['what'][]
): WorkerEvent | undefined =>
  traffic.events.find((event) => event.worker === worker && kinds.includes(event.what));

/**
 * Whether nothing happened to the worker beside its task: every request and answer passed, the
 * process was not frozen, killed or told to stop, and the coordinator was up all the time.
 */
export function wasUndisturbed(worker: number, evidence: Evidence): boolean {
  const starts = evidence.records.filter(({ type }) => type === 'CoordinatorStarted').length;
  if (starts > 1) return false;
  if (eventOf(evidence, worker, 'frozen', 'killed', 'told to stop') !== undefined) return false;
  return evidence.traffic.exchanges
    .filter((exchange) => exchange.worker === worker)
    .every(
      ({ requestFate, answerFate, answered }) =>
        requestFate === 'pass' &&
        (answerFate ?? 'pass') === 'pass' &&
        answered?.outcome !== 'UNAVAILABLE',
    );
}
