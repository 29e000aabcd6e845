// Owns the verdict on one run: which faults the worker has shown, and which effects happened more
// than once. The verdict rests on the run's traffic, its effects, and the coordinator's log as
// explain tells it.

import { countEffects, type DoubledEffect } from './count-effects.ts';
import type { Fault, FaultName } from './faults.ts';
import { completedWithoutEffect, reportedBeforeEffect } from './judge-effects.ts';
import { lateHeartbeats, silences } from './judge-heartbeats.ts';
import {
  afterCancelled,
  type Confusion,
  confusions,
  confusionText,
  crashes,
  givenUp,
  secondReports,
  unreported,
} from './judge-reports.ts';
import {
  type AtShutdown,
  atShutdown,
  endsByThemselves,
  keptAtShutdown,
  stubborn,
} from './judge-stops.ts';
import { type Evidence, type Held, leasesIn, lossToldAt } from './leases-in-hand.ts';

export type Verdict = 'kept' | 'broken' | 'effect doubled but refusable' | 'effect doubled';

export interface Judgement {
  readonly verdict: Verdict;
  readonly faults: readonly Fault[];
  readonly doubled: readonly DoubledEffect[];
  /** Every lease that was in hand when its worker was told to stop. */
  readonly atShutdown: readonly AtShutdown[];
  /** How workers ended that nobody had asked to: as the exit status or the signal. */
  readonly endedByThemselves: readonly string[];
  /** How long after its lease's loss the last trace of work was seen, in ms; no loss: undefined. */
  readonly noticedAfterMs: number | undefined;
}

const SHOWN = 5;

export function judge(evidence: Evidence): Judgement {
  const all = leasesIn(evidence);
  const confused = confusions(all, evidence);
  const held = all.map((lease) => withoutConfusion(lease, confused));
  const found = new Map<FaultName, string[]>();
  const add = (name: FaultName, words: readonly string[]): void => {
    if (words.length > 0) found.set(name, [...(found.get(name) ?? []), ...words]);
  };
  for (const lease of held) {
    const silent = silences(lease, evidence);
    add('no-heartbeat', silent);
    add('heartbeat-after-report', lateHeartbeats(lease, evidence));
    add('sent-after-cancelled', afterCancelled(lease, evidence));
    add('second-report', secondReports(lease, evidence));
    add('report-given-up', givenUp(lease, evidence));
    if (confused.some(({ newer }) => newer.leaseId === lease.leaseId)) continue;
    // Whoever lets a lease run out for want of heartbeats is right not to report under it.
    if (silent.length === 0) add('no-report', unreported(lease, held, evidence));
    add('crashed', crashes(lease, evidence));
  }
  add('old-lease', confused.flatMap(confusionText));
  const { doubled, repeated, without } = countEffects(evidence, held);
  add('effect-repeated', repeated);
  add('effect-without-lease', without);
  add('reported-before-effect', reportedBeforeEffect(held, evidence));
  add('completed-without-effect', completedWithoutEffect(held, evidence));
  add('ignores-shutdown', stubborn(evidence));
  add('kept-at-shutdown', keptAtShutdown(held, evidence));
  add(
    'not-done',
    evidence.left.map((id) => `${id} was not over`),
  );
  const faults = [...found].map(([name, words]): Fault => ({ name, evidence: shortened(words) }));
  return {
    verdict: verdictOf(faults, doubled),
    faults,
    doubled,
    atShutdown: atShutdown(held, evidence),
    endedByThemselves: endsByThemselves(evidence),
    noticedAfterMs: noticed(held, evidence),
  };
}

/** A fault that shows again and again is proved by the first few times. */
const shortened = (words: readonly string[]): readonly string[] =>
  words.length <= SHOWN ? words : [...words.slice(0, SHOWN), `… and ${words.length - SHOWN} more`];

/** What was sent under the wrong lease is one fault, and no second one of that lease. */
function withoutConfusion(lease: Held, confused: readonly Confusion[]): Held {
  const sent = new Set(confused.flatMap((one) => one.sent));
  return {
    ...lease,
    heartbeats: lease.heartbeats.filter((one) => !sent.has(one)),
    reports: lease.reports.filter((one) => !sent.has(one)),
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
 * @returns the longest time in ms from the answer that told a worker of a lost lease to the last
 *   request or effect of that worker under the lease; undefined when no worker was told of a loss
 */
function noticed(held: readonly Held[], evidence: Evidence): number | undefined {
  const times = held.flatMap((lease) => {
    const told = lossToldAt(lease, evidence);
    if (told === undefined) return [];
    const { heartbeats, reports, effects } = lease;
    const sent = [...heartbeats, ...reports].map(({ at }) => at);
    return [Math.max(0, ...[...sent, ...effects.map((one) => one.askedAt)].map((at) => at - told))];
  });
  return times.length === 0 ? undefined : Math.max(...times);
}
