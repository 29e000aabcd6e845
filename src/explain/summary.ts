// Owns the first and the last word on a task: the story in one sentence, and how it ended.

import { formatLeaseId } from '../model/ids.ts';
import type { LogRecord, TaskCompleted, TaskDead, TaskFailed } from '../model/records.ts';
import type { Standing } from '../model/response.ts';
import type { AttemptEnd, ExplainedAttempt, Statement } from './explanation.ts';
import { listText, plural, reasonText, type Teller, workerText } from './names.ts';

const ENDS: readonly (readonly [end: AttemptEnd | undefined, text: string])[] = [
  ['expired', 'ran out'],
  ['failed', 'failed'],
  ['released', 'given back'],
  ['killed', 'ended by a kill'],
  ['completed', 'completed'],
  [undefined, 'running'],
];

/** `It was given out 3 times: 1 ran out, 1 failed and 1 completed.` */
export function summaryOf(standing: Standing, attempts: readonly ExplainedAttempt[]): string {
  if (attempts.length === 0) return 'It was never given to a worker.';
  const counts = ENDS.map(([end, text]) => ({
    count: attempts.filter(({ ended }) => ended === end).length,
    text,
  })).filter(({ count }) => count > 0);
  const parts = listText(counts.map(({ count, text }) => `${count} ${text}`));
  const times = attempts.length === 1 ? 'once' : plural(attempts.length, 'time');
  const waits = standing.state === 'WAITING' ? ' It waits for another attempt.' : '';
  return `It was given to a worker ${times}: ${parts}.${waits}`;
}

export type EndRecord = TaskCompleted | TaskFailed | TaskDead;

/** The record that made the task COMPLETED, FAILED or DEAD; undefined while none did. */
export const overBy = (records: readonly LogRecord[]): EndRecord | undefined =>
  records.findLast(
    (record) =>
      record.type === 'TaskCompleted' ||
      record.type === 'TaskDead' ||
      (record.type === 'TaskFailed' && record.retryAt === undefined),
  ) as EndRecord | undefined;

/** Why the task is over; undefined while it is not. */
export function endOf(
  end: EndRecord | undefined,
  attempts: readonly ExplainedAttempt[],
  maxRetries: number,
  tell: Teller,
): Statement | undefined {
  switch (end?.type) {
    case 'TaskCompleted': {
      const worker = workerText(attempts.at(-1)?.workerId ?? '');
      const text =
        `Worker ${worker} reported complete under ${formatLeaseId(end.leaseId)} at ` +
        `${tell.at(end.at)}, while the lease was valid: COMMITTED, the task is COMPLETED.`;
      return { topic: 'end', text, records: [end.leaseId, end.seq] };
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
  const worker = workerText(attempts.at(-1)?.workerId ?? '');
  const head =
    `Worker ${worker} reported under ${lease} at ${tell.at(end.at)} that it failed: ` +
    `${reasonText(end.failureReason)}.`;
  if (end.kind === 'permanent') {
    const text = `${head} It said permanent: the task is FAILED whatever retries were left.`;
    return { topic: 'end', text, records: [end.leaseId, end.seq] };
  }
  const lost = attempts.filter(({ ended }) => ended === 'expired');
  const used =
    lost.length === 0 ? '' : ` (${lost.length} of them lost to expiry, which counts too)`;
  const text =
    `${head} No retry was left after ${plural(attempts.length, 'attempt')}${used}; ` +
    `max_retries is ${maxRetries}: the task is FAILED.`;
  const ends = lost.map(({ endRecord }) => endRecord).filter((seq) => seq !== undefined);
  return { topic: 'end', text, records: [...ends, end.leaseId, end.seq] };
}

function dead(end: TaskDead, attempts: readonly ExplainedAttempt[], tell: Teller): Statement {
  const last = attempts.at(-1);
  const reason = reasonText(end.reason);
  if (last?.endRecord === end.seq) {
    const lease = formatLeaseId(last.leaseId);
    const text =
      `The task was killed at ${tell.at(end.at)} while ${lease} was held: ` +
      `${reason}. That ended the lease; nobody tells the worker before it calls again.`;
    return { topic: 'end', text, records: [last.leaseId, end.seq] };
  }
  const inRow = expiriesInRow(attempts);
  const ranOut = inRow.map(({ endRecord }) => endRecord).filter((seq) => seq !== undefined);
  if (inRow.length > 0 && end.reason.startsWith(`poison: ${inRow.length} `)) {
    const text =
      `At ${tell.at(end.at)} the coordinator ended it by the poison rule instead of ` +
      `granting it again: ${reason}.`;
    return { topic: 'end', text, records: [...ranOut, end.seq] };
  }
  const text = `The task was killed at ${tell.at(end.at)}, while nobody held it: ${reason}.`;
  return { topic: 'end', text, records: [end.seq] };
}

/** The attempts at the end that all ran out without an accepted report between them. */
function expiriesInRow(attempts: readonly ExplainedAttempt[]): ExplainedAttempt[] {
  const before = attempts.findLastIndex(({ ended }) => ended !== 'expired');
  return attempts.slice(before + 1);
}
