// Owns the first and the last sentence about a task: its story in one sentence, and how it ended.

import { formatLeaseId } from '../model/ids.ts';
import { FREE_RELEASES_IN_ROW } from '../model/limits.ts';
import {
  isEnd,
  type LogRecord,
  poisonReason,
  type TaskCompleted,
  type TaskDead,
  type TaskFailed,
} from '../model/records.ts';
import type { Standing } from '../model/response.ts';
import { expiredInRow } from './budget.ts';
import type { AttemptEnd, ExplainedAttempt, Statement } from './explanation.ts';
import {
  attemptsText,
  listText,
  nameText,
  plural,
  reasonText,
  recordsOf,
  type Teller,
} from './names.ts';
import { byWhatIsLeft, SUMMARY_LACKS } from './restores.ts';

const ENDS: readonly (readonly [end: AttemptEnd | undefined, many: string, one: string])[] = [
  ['expired', 'ran out', 'its lease ran out'],
  ['failed', 'failed', 'that attempt failed'],
  ['released', 'given back', 'that attempt was given back'],
  ['killed', 'ended by a kill', 'that attempt was ended by a kill'],
  ['completed', 'completed', 'it was completed'],
  [undefined, 'running', 'that attempt is running'],
];

/** `It was given to a worker 3 times: 1 ran out, 1 failed and 1 completed.` */
export function summaryOf(
  standing: Standing,
  attempts: readonly ExplainedAttempt[],
  restores: readonly number[],
): string {
  const given = byWhatIsLeft(restores, givenText(standing, attempts));
  return `${given}${restores.length === 0 ? '' : SUMMARY_LACKS}`;
}

function givenText(standing: Standing, attempts: readonly ExplainedAttempt[]): string {
  if (attempts.length === 0) return 'It was never given to a worker.';
  const [only] = attempts;
  if (attempts.length === 1 && only !== undefined) {
    const [, , text] = ENDS.find(([end]) => end === only.ended) ?? [];
    const waits = standing.state === 'WAITING' ? ' It waits for another attempt.' : '';
    return `It was given to a worker once: ${text}.${waits}`;
  }
  const counts = ENDS.map(([end, text]) => ({
    count: attempts.filter(({ ended }) => ended === end).length,
    text,
  })).filter(({ count }) => count > 0);
  const parts = listText(counts.map(({ count, text }) => `${count} ${text}`));
  const waits = standing.state === 'WAITING' ? ' It waits for another attempt.' : '';
  return `It was given to a worker ${attempts.length} times: ${parts}.${waits}`;
}

export type EndRecord = TaskCompleted | TaskFailed | TaskDead;

/** The record that made the task COMPLETED, FAILED or DEAD; undefined while none did. */
export const overBy = (records: readonly LogRecord[]): EndRecord | undefined =>
  records.findLast(isEnd) as EndRecord | undefined;

/** Whether the coordinator ended the task by its poison rule; its reason counts the expiries. */
export function isPoisoned(
  end: EndRecord | undefined,
  attempts: readonly ExplainedAttempt[],
): boolean {
  if (end?.type !== 'TaskDead' || attempts.at(-1)?.endRecord === end.seq) return false;
  const inRow = expiredInRow(attempts).length;
  return inRow > 0 && end.reason === poisonReason(inRow);
}

/** Why the task is over; undefined while it is not. */
export function endOf(
  end: EndRecord | undefined,
  attempts: readonly ExplainedAttempt[],
  maxRetries: number,
  tell: Teller,
): Statement | undefined {
  switch (end?.type) {
    case 'TaskCompleted': {
      const worker = nameText(attempts.at(-1)?.workerId ?? '');
      const text =
        `Worker ${worker} reported complete under ${formatLeaseId(end.leaseId)} at ` +
        `${tell.at(end.at)}, while the lease was valid: COMMITTED, the task is COMPLETED.`;
      return { topic: 'end', record: end.seq, text, records: [end.leaseId, end.seq] };
    }
    case 'TaskFailed':
      return failed(end, attempts, maxRetries, tell);
    case 'TaskDead':
      return dead(end, attempts, tell);
    default:
      return undefined;
  }
}

function failed(
  end: TaskFailed,
  attempts: readonly ExplainedAttempt[],
  maxRetries: number,
  tell: Teller,
): Statement {
  const lease = formatLeaseId(end.leaseId);
  const worker = nameText(attempts.at(-1)?.workerId ?? '');
  const reason = reasonText(end.failureReason);
  const head =
    end.kind === 'released'
      ? `Worker ${worker} gave the task back under ${lease} at ${tell.at(end.at)}: ${reason}. It ` +
        `was given back more than ${FREE_RELEASES_IN_ROW} times in a row, and each time beyond ` +
        'that is charged like a failure.'
      : `Worker ${worker} reported under ${lease} at ${tell.at(end.at)} that it failed: ${reason}.`;
  const records = [end.leaseId, end.seq];
  if (end.kind === 'permanent') {
    const text =
      `${head} The worker called the failure permanent, so the task is FAILED whatever retries ` +
      'were left.';
    return { topic: 'end', record: end.seq, text, records };
  }
  const lost = attempts.filter(({ ended }) => ended === 'expired');
  const numbers = lost.map(({ attempt }) => attempt);
  const used =
    lost.length === 0
      ? ''
      : ` Of those, ${attemptsText(numbers)} ran out, which is charged like a failure.`;
  const text =
    `${head} No retry was left: max_retries is ${maxRetries}, so the failure of an attempt ends ` +
    `the task once ${plural(maxRetries + 1, 'attempt')} are charged.${used} The task is FAILED.`;
  return {
    topic: 'end',
    record: end.seq,
    text: maxRetries === 0 ? text.replace('attempt are', 'attempt is') : text,
    records: recordsOf(...lost.map(({ endRecord }) => endRecord), ...records),
  };
}

function dead(end: TaskDead, attempts: readonly ExplainedAttempt[], tell: Teller): Statement {
  const last = attempts.at(-1);
  const reason = reasonText(end.reason);
  if (last?.endRecord === end.seq) {
    const lease = formatLeaseId(last.leaseId);
    const text =
      `The task was killed at ${tell.at(end.at)} while ${lease} was held by worker ` +
      `${nameText(last.workerId)}: ${reason}. That ended the lease; nobody tells the worker ` +
      'before it calls again.';
    return { topic: 'end', record: end.seq, text, records: [last.leaseId, end.seq] };
  }
  const inRow = expiredInRow(attempts);
  if (isPoisoned(end, attempts)) {
    const text =
      `At ${tell.at(end.at)} the coordinator ended the task by the poison rule, when a lease ` +
      `request came to it, instead of granting it again: ${reason}. What counts is a lease that ` +
      'runs out; an accepted report would have set the count to 0, a late one does not.';
    const ends = inRow.map(({ endRecord }) => endRecord);
    return { topic: 'end', record: end.seq, text, records: recordsOf(...ends, end.seq) };
  }
  const text = `The task was killed at ${tell.at(end.at)}, while nobody held it: ${reason}.`;
  return { topic: 'end', record: end.seq, text, records: [end.seq] };
}
