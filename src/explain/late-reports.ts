// Owns the sentences about reports that came after their lease was over: how late each was, and
// which worker held the task at that moment.

import { formatLeaseId } from '../model/ids.ts';
import type { ExplainedAttempt, Statement } from './explanation.ts';
import { durationText, leaseText, nameText, recordsOf, type Teller } from './names.ts';
import type { EndRecord } from './summary.ts';

/** @returns undefined when the attempt has no late report. */
export function lateReportOf(
  attempt: ExplainedAttempt,
  attempts: readonly ExplainedAttempt[],
  over: EndRecord | undefined,
  tell: Teller,
): Statement | undefined {
  const { report } = attempt;
  if (report?.outcome !== 'CANCELLED') return undefined;
  const lease = formatLeaseId(attempt.leaseId);
  const lost =
    attempt.ended === 'killed'
      ? 'after the task had been killed'
      : lateBy(report.at - attempt.leaseExpiry);
  const then = stoodThen(report.record, attempts, over);
  return {
    topic: 'late',
    record: report.record,
    text:
      `A late report: worker ${nameText(attempt.workerId)} reported ${report.verb} for ${lease} ` +
      `(attempt ${attempt.attempt}) at ${tell.at(report.at)}, ${lost}. It was answered CANCELLED ` +
      `and discarded, and changed nothing of the task. ${then.text}`,
    records: recordsOf(attempt.leaseId, attempt.endRecord, then.record, report.record),
  };
}

/** Expiry is reached when now >= lease_expiry, so a report of that very millisecond is late. */
const lateBy = (ms: number): string =>
  ms === 0
    ? 'in the very millisecond in which the lease ran out'
    : `${durationText(ms)} after the lease had run out`;

interface Then {
  readonly text: string;
  readonly record?: number | undefined;
}

function stoodThen(
  seq: number,
  attempts: readonly ExplainedAttempt[],
  over: EndRecord | undefined,
): Then {
  if (over !== undefined && over.seq < seq) {
    if (over.type === 'TaskDead') return { text: 'The task was DEAD already.', record: over.seq };
    const end = over.type === 'TaskCompleted' ? 'COMPLETED' : 'FAILED';
    const lease = formatLeaseId(over.leaseId);
    return { text: `The task was ${end} already, under ${lease}.`, record: over.seq };
  }
  const last = attempts.findLast((one) => one.leaseId < seq);
  if (last !== undefined && (last.endRecord === undefined || last.endRecord > seq)) {
    return { text: `At that moment ${leaseText(last)} held the task.`, record: last.leaseId };
  }
  return { text: 'Nobody held the task at that moment.' };
}
