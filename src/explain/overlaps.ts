// Owns which attempts were, or may have been, worked on at the same time. Leases of a task never
// overlap, but the work of their holders can: a lease that expires stops no process.

import type { Certainty, ExplainedAttempt, Overlap } from './explanation.ts';
import { recordsOf } from './names.ts';
import type { Lost } from './restores.ts';

/** A task that expired a thousand times has half a million pairs; nobody reads them. */
const OVERLAPS_MAX = 1_000;

/** The attempts of one task, and what restores took from them. */
export interface Run extends Lost {
  readonly taskId: number;
  readonly attempts: readonly ExplainedAttempt[];
}

/**
 * Only an attempt whose lease expired, or whose task was killed, can go on unseen. A report in
 * time ends the work, because a worker stops before it reports.
 * @param later the same run, or the run of the task with the same content that was made after it
 */
export function overlapsOf(earlier: Run, later: Run): Overlap[] {
  const overlaps: Overlap[] = [];
  const tasks = [earlier.taskId, later.taskId] as const;
  for (const first of earlier.attempts) {
    if (first.ended !== 'expired' && first.ended !== 'killed') continue;
    for (const second of later.attempts) {
      if (second.leaseId <= first.leaseId) continue;
      const overlap = between(first, second, tasks);
      // What the earlier attempt cannot reach, later ones are even farther from.
      if (overlap === undefined || overlaps.length === OVERLAPS_MAX) break;
      overlaps.push(overlap);
    }
  }
  return overlaps;
}

function between(
  earlier: ExplainedAttempt,
  later: ExplainedAttempt,
  tasks: Overlap['tasks'],
): Overlap | undefined {
  const { report } = earlier;
  if (report !== undefined && report.at < later.grantedAt) return undefined;
  // Equal times are ordered by the log: a report recorded before the grant was before it.
  if (report !== undefined && report.record < later.leaseId) return undefined;
  const certainty = certaintyOf(earlier, later);
  // Without a report, the last sign of life is what the doubt rests on.
  const sign = report === undefined ? earlier.lastHeartbeat?.record : report.record;
  return {
    leases: [earlier.leaseId, later.leaseId],
    tasks,
    from: later.grantedAt,
    to: first(later.endedAt, report?.at),
    certainty,
    records: recordsOf(earlier.leaseId, sign, earlier.endRecord, later.leaseId),
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
