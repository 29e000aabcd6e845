// Owns what an explanation says about work done at the same time and about effects that may have
// happened more than once: as much as the records show, and where they end.

import type { ExplainedAttempt, Overlap, Statement } from '../protocol/explanation.ts';
import { formatLeaseId } from '../protocol/ids.ts';
import { listText, plural, type Teller, workerText } from './explain-words.ts';

/** One statement for each earlier attempt, however many later ones it may have reached into. */
export function overlapStatements(
  overlaps: readonly Overlap[],
  attempts: readonly ExplainedAttempt[],
  tell: Teller,
): Statement[] {
  const byLease = new Map(attempts.map((attempt) => [attempt.leaseId, attempt]));
  const grouped = new Map<string, Overlap[]>();
  for (const overlap of overlaps) {
    const key = `${overlap.leases[0]} ${overlap.certainty}`;
    grouped.set(key, [...(grouped.get(key) ?? []), overlap]);
  }
  return [...grouped.values()].map((group) => {
    const first = group[0] as Overlap;
    const earlier = byLease.get(first.leases[0]) as ExplainedAttempt;
    const later = group.map(({ leases }) => byLease.get(leases[1]) as ExplainedAttempt);
    return {
      topic: 'overlap',
      text: overlapText(first, earlier, later, tell),
      records: [...new Set(group.flatMap(({ records }) => records))].toSorted((a, b) => a - b),
    };
  });
}

function overlapText(
  { certainty }: Overlap,
  earlier: ExplainedAttempt,
  later: readonly ExplainedAttempt[],
  tell: Teller,
): string {
  const worker = workerText(earlier.workerId);
  const lease = formatLeaseId(earlier.leaseId);
  const others = listText(later.map((one) => formatLeaseId(one.leaseId)));
  const report = earlier.report;
  if (certainty === 'did' && report !== undefined) {
    return (
      `${lease} did overlap with ${others}: the late report for ${lease} came at ` +
      `${tell.at(report.at)}, while ${others} was held.`
    );
  }
  if (certainty === 'may' && report !== undefined) {
    return (
      `${lease} may have overlapped with ${others}: the late report for ${lease} came at ` +
      `${tell.at(report.at)}, after ${others} had ended; when the work stopped is not recorded.`
    );
  }
  if (certainty === 'may') {
    const last = tell.at(earlier.lastHeartbeat?.at ?? earlier.grantedAt);
    return (
      `${lease} may have overlapped with ${others}: worker ${worker} last showed life at ` +
      `${last}, and a lease that runs out stops nobody.`
    );
  }
  return (
    `Whether ${lease} overlapped with ${others} is unknown: nothing but its grant shows that ` +
    `worker ${worker} ever worked under ${lease}; the answer may have been lost on its way.`
  );
}

/** How often the task may have taken effect; nothing when only one attempt can have had any. */
export function effectStatement(attempts: readonly ExplainedAttempt[]): Statement | undefined {
  if (attempts.length < 2) return undefined;
  const parts = attempts.map(effectText).filter((text) => text !== '');
  const tokens = attempts.map(({ leaseId }) => leaseId);
  const shown = tokens.length > 4 ? [tokens[0], tokens[1], '…', tokens.at(-1)] : tokens;
  return {
    topic: 'effect',
    text:
      `The log shows who held the task, not what was done with it: its effect may have ` +
      `happened up to ${plural(attempts.length, 'time')}. ${summed(parts)} ` +
      `A store can refuse all but the newest by the fencing tokens ${shown.join(' < ')}.`,
    records: tokens,
  };
}

const EFFECTS_TOLD = 6;

function summed(parts: readonly string[]): string {
  if (parts.length <= EFFECTS_TOLD) return parts.join(' ');
  const rest = parts.length - EFFECTS_TOLD;
  return `${parts.slice(0, EFFECTS_TOLD).join(' ')} And ${plural(rest, 'more attempt')} likewise.`;
}

function effectText(attempt: ExplainedAttempt): string {
  const name = `Attempt ${attempt.attempt}`;
  switch (attempt.ended) {
    case 'failed':
      return `${name} may have had its effect before it failed.`;
    case 'released':
      return `${name} was given back, said to be unharmed.`;
    case 'expired':
      if (attempt.evidence === 'none') return `${name} perhaps never ran.`;
      if (attempt.report?.verb !== 'complete') return `${name} may have had its effect.`;
      return `${name} says that it was done, although its report was discarded.`;
    case 'killed':
      return `${name} was not stopped by the kill and may have gone on.`;
    case 'completed':
      return `${name} was accepted as complete.`;
    default:
      return `${name} runs.`;
  }
}
