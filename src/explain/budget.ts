// Owns how many attempts a task has used and how many are left: which attempts were charged, which
// were free, and how the poison rule counts them. Each sentence says whether it counts a running
// attempt.

import { formatLeaseId } from '../model/ids.ts';
import { FREE_RELEASES_IN_ROW } from '../model/limits.ts';
import type { TaskCreated } from '../model/records.ts';
import type { Standing } from '../model/response.ts';
import type { AttemptEnd, Budget, ExplainedAttempt, Fact } from './explanation.ts';
import { attemptsText, durationText, listText, plural, recordsOf } from './names.ts';

/** @param thresholdKnown whether the coordinator was asked: its settings are not in the log. */
export function budgetOf(
  created: TaskCreated,
  attempts: readonly ExplainedAttempt[],
  standing: Standing,
  thresholdKnown: boolean,
): Budget {
  const free: number[] = [];
  let releasedInRow = 0;
  for (const { attempt, ended } of attempts) {
    // An expiry neither uses up nor renews what may be given back in a row; a failure renews it.
    if (ended === 'failed') releasedInRow = 0;
    if (ended !== 'released') continue;
    releasedInRow += 1;
    if (releasedInRow <= FREE_RELEASES_IN_ROW) free.push(attempt);
  }
  const isFree = new Set(free);
  return {
    allowed: created.retryPolicy.maxRetries + 1,
    charged: attempts.map(({ attempt }) => attempt).filter((number) => !isFree.has(number)),
    free,
    left: standing.attemptsLeft,
    expiriesInRow: expiredInRow(attempts).length,
    poisonThreshold: thresholdKnown ? standing.poisonThreshold : undefined,
  };
}

/** The ends of an attempt that are an accepted report. */
const REPORTED: ReadonlySet<AttemptEnd | undefined> = new Set(['completed', 'failed', 'released']);

/** The attempts that ran out since the last accepted report; a kill is none. */
export function expiredInRow(attempts: readonly ExplainedAttempt[]): ExplainedAttempt[] {
  const reported = attempts.findLastIndex(({ ended }) => REPORTED.has(ended));
  return attempts.slice(reported + 1).filter(({ ended }) => ended === 'expired');
}

const CHARGED: readonly (readonly [end: AttemptEnd | undefined, text: string])[] = [
  ['expired', 'ran out'],
  ['failed', 'failed'],
  ['released', `given back, but beyond ${FREE_RELEASES_IN_ROW} in a row`],
  ['killed', 'ended by the kill'],
  ['completed', 'completed'],
  [undefined, 'running, and counted here already'],
];

/** @returns how many attempts were charged, which were free, and what is left. */
export function budgetFact(
  budget: Budget,
  attempts: readonly ExplainedAttempt[],
  standing: Standing,
  permanent: boolean,
): Fact {
  const { allowed, charged, free } = budget;
  const isCharged = new Set(charged);
  const groups = CHARGED.map(([end, text]) => {
    const alike = attempts.filter((one) => one.ended === end && isCharged.has(one.attempt));
    return { text, numbers: alike.map(({ attempt }) => attempt) };
  }).filter(({ numbers }) => numbers.length > 0);
  const list = groups.map(({ text, numbers }) => `${attemptsText(numbers)}: ${text}`);
  const used = charged.length === 0 ? 'none' : `${charged.length} (${list.join('; ')})`;
  const spared =
    free.length === 0
      ? 'Free: none'
      : `Free: ${free.length} (${attemptsText(free)}: given back, which is not charged)`;
  const over =
    charged.length > allowed
      ? ` That is more than ${allowed}, because a lease that runs out is charged but never ends ` +
        'a task.'
      : '';
  const text =
    `Budget: max_retries is ${allowed - 1}, so a failure makes the task FAILED once ` +
    `${plural(allowed, 'attempt')} ${allowed === 1 ? 'is' : 'are'} charged. ` +
    `Charged: ${used}.${over} ${spared}. ` +
    leftText(budget, standing, permanent);
  const ends = attempts.map(({ leaseId, endRecord }) => endRecord ?? leaseId);
  return { text, records: recordsOf(standing.taskId, ...ends) };
}

/** @returns how the pauses after failures grow; nothing when each is as long as the first. */
export function backoffFact({ seq, retryPolicy }: TaskCreated): Fact[] {
  const { backoffMs, backoffFactor, backoffMaxMs } = retryPolicy;
  if (backoffFactor === 1 || backoffMs === 0) return [];
  const most =
    backoffMaxMs === undefined ? '' : `, and never more than ${durationText(backoffMaxMs)}`;
  const text =
    `Backoff: ${durationText(backoffMs)} after the first failure, and ${backoffFactor} times as ` +
    `long after each further one${most}.`;
  return [{ text, records: [seq] }];
}

const TIME_FAILS_NOTHING = 'if its lease runs out instead, the task is WAITING again all the same';

function leftText({ left }: Budget, standing: Standing, permanent: boolean): string {
  const { state, poisonAtNextGrant } = standing;
  if (poisonAtNextGrant) {
    return `Left: ${left}, but the poison rule ends the task before any attempt can follow.`;
  }
  switch (state) {
    case 'LEASED':
      return left === 0
        ? 'Left after the running attempt: none. If that one fails, the task is FAILED; ' +
            `${TIME_FAILS_NOTHING}.`
        : `Left after the running attempt, not counting it: ${left}.`;
    case 'WAITING':
      return left === 0
        ? 'Left: none. Leases that run out are charged too but never end a task: there is ' +
            'another attempt all the same, and if that one fails, the task is FAILED.'
        : `Left: ${left}, the next attempt included.`;
    case 'FAILED':
      return permanent
        ? `Left unused: ${left}, for the failure was permanent, which ends a task whatever is left.`
        : 'Left: none, so the failure ended the task.';
    default:
      return `Left unused: ${left}.`;
  }
}

/** @returns how the poison rule counts, while that can matter or when it ended the task. */
export function poisonFact(
  budget: Budget,
  attempts: readonly ExplainedAttempt[],
  { state, taskId }: Standing,
): Fact[] {
  if (!attempts.some(({ ended }) => ended === 'expired')) return [];
  if (state === 'COMPLETED' || state === 'FAILED') return [];
  const inRow = expiredInRow(attempts);
  const last = attempts.findLast(({ ended }) => ended === 'failed' || ended === 'released');
  const leases = inRow.map(({ leaseId }) => formatLeaseId(leaseId));
  const shown = leases.length > 6 ? [leases[0], '…', leases.at(-1)] : leases;
  const named = leases.length === 0 ? '' : ` (${listText(shown.map(String))})`;
  const reset =
    last === undefined ? 'no report was accepted yet' : `the last one is record ${last.endRecord}`;
  const text =
    `Poison count: ${inRow.length} in a row${named}. It counts leases that ran out since the ` +
    `last accepted report (${reset}). An accepted complete, fail or give-back sets it to 0; late ` +
    `reports, heartbeats and restarts do not. ${state === 'DEAD' ? '' : thresholdText(budget)}`;
  return [
    {
      text: text.trimEnd(),
      records: recordsOf(last?.endRecord ?? taskId, ...inRow.map((one) => one.endRecord)),
    },
  ];
}

function thresholdText({ poisonThreshold }: Budget): string {
  const rule = 'the next lease request that reaches the task ends it as DEAD';
  if (poisonThreshold === undefined) {
    return `When it has reached the server's poison_threshold, which is not in the log, ${rule}.`;
  }
  if (poisonThreshold === 0) return 'The poison rule is off (poison_threshold is 0 now).';
  return `When it has reached poison_threshold, which is ${poisonThreshold} now, ${rule}.`;
}
