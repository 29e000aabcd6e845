// Owns why each attempt began, and why it began when it did: how the attempt before it ended, and
// what the task waited for since then. While no attempt follows the last one, the end of the last
// one is told here too. How an attempt ended is read from the records in attempts.ts.

import { formatLeaseId } from '../model/ids.ts';
import type { TaskCreated } from '../model/records.ts';
import type { ExplainedAttempt, ExplainedStart, Statement } from './explanation.ts';
import { durationText, leaseText, nameText, reasonText, recordsOf, type Teller } from './names.ts';
import { downDuring, isPartLost, restoredDuring, silenceText } from './silences.ts';
import { waitTexts } from './waits.ts';

/** What the statements about attempts are made from. */
export interface Course {
  readonly created: TaskCreated;
  readonly attempts: readonly ExplainedAttempt[];
  readonly starts: readonly ExplainedStart[];
  readonly tell: Teller;
}

/** Why the attempt at `index` began. */
export function beginOf(course: Course, index: number): Statement {
  const { created, attempts, starts, tell } = course;
  const attempt = attempts[index] as ExplainedAttempt;
  const before = attempts[index - 1];
  const head =
    `Attempt ${attempt.attempt} (${formatLeaseId(attempt.leaseId)}, worker ` +
    `${nameText(attempt.workerId)}) began at ${tell.at(attempt.grantedAt)}`;
  const wait = waitTexts(attempt, created.queue, tell);
  const why = before === undefined ? first(created, attempt, tell) : next(before, starts, tell);
  const earlier = before === undefined ? [created.seq] : endRecords(before, starts);
  return {
    topic: 'cause',
    record: attempt.leaseId,
    text: [`${head}${why}`, ...wait.texts].join(' '),
    records: recordsOf(...earlier, ...wait.records, attempt.leaseId),
  };
}

/** How the last attempt ended, when the task waits for another one. */
export function endOfLast({ attempts, starts, tell }: Course): Statement | undefined {
  const last = attempts.at(-1);
  if (last?.ended === undefined || last.endRecord === undefined) return undefined;
  const text =
    `Attempt ${last.attempt} is over because ${whyItEnded(last, starts, tell)} ` +
    'No other attempt has begun since.';
  return { topic: 'cause', record: last.endRecord, text, records: endRecords(last, starts) };
}

/** Why there is no attempt yet, as far as the records tell. */
export function noBegin({ created, tell }: Course): Statement {
  const { notBefore, queue } = created;
  const delay = notBefore === undefined ? '' : ` with a delay until ${tell.at(notBefore)}`;
  const text =
    `No attempt has begun: the task was submitted to queue ${queue} at ${tell.at(created.at)}` +
    `${delay}, and no grant of it is in the log.`;
  return { topic: 'cause', record: created.seq, text, records: [created.seq] };
}

function first(created: TaskCreated, attempt: ExplainedAttempt, tell: Teller): string {
  const submitted = tell.at(created.at);
  if (created.notBefore !== undefined && created.notBefore > created.at) {
    return (
      `: the task was submitted at ${submitted} with a delay, to be leased not before ` +
      `${tell.at(created.notBefore)}.${atOnce(attempt)}`
    );
  }
  return `: the task was submitted at ${submitted} without a delay.${atOnce(attempt)}`;
}

/** Said where no wait is told. */
function atOnce({ wait, grantedAt, eligibleAt }: ExplainedAttempt): string {
  if (wait !== undefined) return '';
  const after = grantedAt - eligibleAt;
  if (after === 0) return ' A worker got it as soon as it was eligible.';
  return ` A worker got it ${durationText(after)} after it became eligible.`;
}

const next = (before: ExplainedAttempt, starts: readonly ExplainedStart[], tell: Teller): string =>
  ` because ${whyItEnded(before, starts, tell)}`;

function endRecords(attempt: ExplainedAttempt, starts: readonly ExplainedStart[]): number[] {
  const { leaseId, lastHeartbeat, endRecord, ended } = attempt;
  const down = ended === 'expired' ? downDuring(attempt, starts)?.seq : undefined;
  const restored = ended === 'expired' ? restoredDuring(attempt, starts) : [];
  const restores = restored.map(({ seq }) => seq);
  return recordsOf(leaseId, lastHeartbeat?.record, ...restores, down, endRecord);
}

const unreported = (before: ExplainedAttempt, starts: readonly ExplainedStart[]): string =>
  isPartLost(before, starts)
    ? 'What may have been reported for it by then is lost with the log that was restored.'
    : 'No report for it was recorded by then.';

function whyItEnded(
  before: ExplainedAttempt,
  starts: readonly ExplainedStart[],
  tell: Teller,
): string {
  const worker = nameText(before.workerId);
  const reason = reasonText(before.reason ?? '');
  const ended = tell.at(before.endedAt ?? before.leaseExpiry);
  const lease = formatLeaseId(before.leaseId);
  const again = tell.at(before.retryAt ?? before.leaseExpiry);
  switch (before.ended) {
    case 'expired':
      return (
        `${leaseText(before)} ran out at ${tell.at(before.leaseExpiry)}: ` +
        `${silenceText(before, starts, tell)}. ${unreported(before, starts)}`
      );
    case 'released':
      return (
        `worker ${worker} gave attempt ${before.attempt} (${lease}) back at ${ended}: ` +
        `${reason}. It could be leased again from ${again} on.`
      );
    default:
      return (
        `worker ${worker} reported at ${ended} that attempt ${before.attempt} (${lease}) failed: ` +
        `${reason}. After its backoff it was to be leased again not before ${again}.`
      );
  }
}
