// Owns which attempts were, or may have been, worked on at the same time. Leases never overlap; the
// workers that held them can, because a lease that ran out stops nobody.

import type { Certainty, ExplainedAttempt, Overlap } from './explanation.ts';

/** A task that expired a thousand times has half a million pairs; nobody reads them. */
const OVERLAPS_MAX = 1_000;

/**
 * Only an attempt that ran out can go on unseen: a report ends the work (whoever reports has
 * stopped), and a kill is followed by no further attempt.
 */
export function overlapsOf(attempts: readonly ExplainedAttempt[]): Overlap[] {
  const overlaps: Overlap[] = [];
  for (const [index, earlier] of attempts.entries()) {
    if (earlier.ended !== 'expired') continue;
    for (const later of attempts.slice(index + 1)) {
      const overlap = between(earlier, later);
      // What the earlier attempt cannot reach, later ones are even farther from.
      if (overlap === undefined || overlaps.length === OVERLAPS_MAX) break;
      overlaps.push(overlap);
    }
  }
  return overlaps;
}

function between(earlier: ExplainedAttempt, later: ExplainedAttempt): Overlap | undefined {
  const { report } = earlier;
  if (report !== undefined && report.at < later.grantedAt) return undefined;
  // Equal times are ordered by the log: a report recorded before the grant was before it.
  if (report !== undefined && report.record < later.leaseId) return undefined;
  const to = first(later.endedAt, report?.at);
  return {
    leases: [earlier.leaseId, later.leaseId],
    from: later.grantedAt,
    to,
    certainty: certaintyOf(earlier, later),
    records: [earlier.endRecord, later.leaseId, report?.record].filter((seq) => seq !== undefined),
  };
}

function certaintyOf(earlier: ExplainedAttempt, later: ExplainedAttempt): Certainty {
  const { report } = earlier;
  if (report === undefined) return earlier.evidence === 'heartbeated' ? 'may' : 'unknown';
  const within = later.endRecord === undefined || report.record < later.endRecord;
  return within ? 'did' : 'may';
}

function first(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
