// Owns what an explanation says about work done at the same time and about effects that may have
// happened more than once: as much as the records show, and where they end.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { TaskCreated } from '../model/records.ts';
import type { ExplainedAttempt, Overlap, Statement } from './explanation.ts';
import { listText, plural, rangesText, type Teller, workerText } from './names.ts';

/** So many later leases are named; a task that ran out a hundred times has no more to say. */
const NAMED_MAX = 6;
/** So many earlier leases of which nothing is known get a sentence each. */
const UNKNOWN_MAX = 2;

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
  const groups = [...grouped.values()];
  const unknown = groups.filter(([first]) => first?.certainty === 'unknown');
  const together = unknown.length > UNKNOWN_MAX;
  const told = groups
    .filter(([first]) => !(together && first?.certainty === 'unknown'))
    .map((group) => {
      const first = group[0] as Overlap;
      const earlier = byLease.get(first.leases[0]) as ExplainedAttempt;
      const later = group.map(({ leases }) => byLease.get(leases[1]) as ExplainedAttempt);
      return statement(group, overlapText(first, earlier, later, tell));
    });
  return together ? [...told, statement(unknown.flat(), unknownText(unknown))] : told;
}

const statement = (group: readonly Overlap[], text: string): Statement => ({
  topic: 'overlap',
  text,
  records: [...new Set(group.flatMap(({ records }) => records))].toSorted((a, b) => a - b),
});

function unknownText(groups: readonly (readonly Overlap[])[]): string {
  const leases = groups.map(([first]) => formatLeaseId(first?.leases[0] ?? 0));
  return (
    `Whether any of ${namesText(leases)} overlapped with those after them is unknown: nothing ` +
    `but the grants shows that anybody ever worked under them; the answers may have been lost.`
  );
}

/** `L3, L5 and L7`; of many the first and the last. */
function namesText(names: readonly string[]): string {
  if (names.length <= NAMED_MAX) return listText(names);
  const between = names.length - NAMED_MAX + 1;
  return `${names.slice(0, NAMED_MAX - 2).join(', ')}, ${between} more and ${names.at(-1)}`;
}

function overlapText(
  { certainty }: Overlap,
  earlier: ExplainedAttempt,
  later: readonly ExplainedAttempt[],
  tell: Teller,
): string {
  const worker = workerText(earlier.workerId);
  const lease = formatLeaseId(earlier.leaseId);
  const others = namesText(later.map((one) => formatLeaseId(one.leaseId)));
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
      `${lease} may have overlapped with ${others}: the last heartbeat of worker ${worker} in ` +
      `the log is from ${last} (one that changes nothing is not recorded), and a lease that runs ` +
      `out stops nobody.`
    );
  }
  return (
    `Whether ${lease} overlapped with ${others} is unknown: nothing but its grant shows that ` +
    `worker ${worker} ever worked under ${lease}; the answer may have been lost on its way.`
  );
}

/** How often the task may have taken effect, as far as its own records and relatives tell. */
export function effectStatement(
  created: TaskCreated,
  attempts: readonly ExplainedAttempt[],
  redrivenAs: number | undefined,
): Statement | undefined {
  const [first] = attempts;
  if (first === undefined) return undefined;
  const elsewhere = elsewhereText(created, redrivenAs);
  if (attempts.length === 1 && (first.ended === undefined || elsewhere === '')) return undefined;
  const tokens = attempts.map(({ leaseId }) => leaseId);
  const shown = tokens.length > 4 ? [tokens[0], tokens[1], '…', tokens.at(-1)] : tokens;
  const many = attempts.length > 1;
  const parts = [
    'The log shows who held the task, not what was done with it' +
      (many ? `: its effect may have happened up to ${plural(attempts.length, 'time')}.` : '.'),
    ...effectTexts(attempts),
    many ? `A store can refuse all but the newest by the fencing tokens ${shown.join(' < ')}.` : '',
    elsewhere,
  ];
  return { topic: 'effect', text: parts.filter((part) => part !== '').join(' '), records: tokens };
}

/** Where the same content may have had its effect besides: this task's own records do not tell. */
function elsewhereText(created: TaskCreated, redrivenAs: number | undefined): string {
  const { originTaskId } = created;
  const relatives = [originTaskId, redrivenAs].filter((id) => id !== undefined).map(formatTaskId);
  if (relatives.length > 0) {
    return `What was done with the same content as ${listText(relatives)} comes on top.`;
  }
  if (created.requestId !== undefined) return '';
  return (
    'This task alone is counted: it has no request id, so a repeated submit would have made ' +
    'another task.'
  );
}

/** What attempts left behind, those alike in one sentence. */
function effectTexts(attempts: readonly ExplainedAttempt[]): string[] {
  const alike = new Map<string, number[]>();
  for (const attempt of attempts) {
    const text = effectText(attempt);
    alike.set(text, [...(alike.get(text) ?? []), attempt.attempt]);
  }
  return [...alike].map(([text, numbers]) =>
    numbers.length === 1
      ? `Attempt ${numbers[0]} ${text}`
      : `Each of the attempts ${rangesText(numbers)} ${text}`,
  );
}

function effectText({ ended, evidence, report }: ExplainedAttempt): string {
  switch (ended) {
    case 'failed':
      return 'may have had its effect before it failed.';
    case 'released':
      return 'was given back, said to be unharmed.';
    case 'expired':
      if (evidence === 'none') return 'perhaps never ran.';
      if (report?.verb !== 'complete') return 'may have had its effect.';
      return 'says that it was done, although its report was discarded.';
    case 'killed':
      if (report?.verb === 'complete') return 'says that it was done, although it was killed.';
      return 'was not stopped by the kill and may have had its effect.';
    case 'completed':
      return 'was accepted as complete.';
    default:
      return 'runs.';
  }
}
