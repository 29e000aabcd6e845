// Owns why there was each further attempt, what became of reports that came too late, and what each
// start of the coordinator meant for the task.

import { formatLeaseId } from '../model/ids.ts';
import type { ExplainedAttempt, ExplainedStart, Statement } from './explanation.ts';
import { durationText, leaseText, reasonText, type Teller, workerText } from './names.ts';
import type { EndRecord } from './summary.ts';

/** A wait for a worker that is shorter than this is not worth a sentence. */
const WAIT_TOLD_MS = 1_000;
/** Coordinator time and wall clock: a smaller difference is not worth a sentence. */
const OFFSET_TOLD_MS = 1_000;

/** Why `attempt` began, told from how the one before it ended. */
export function causeOf(
  before: ExplainedAttempt,
  attempt: ExplainedAttempt,
  starts: readonly ExplainedStart[],
  tell: Teller,
): Statement {
  const why = whyItEnded(before, starts, tell);
  const who = `${formatLeaseId(attempt.leaseId)}, worker ${workerText(attempt.workerId)}`;
  const records = [
    before.leaseId,
    before.lastHeartbeat?.record,
    before.ended === 'expired' ? downDuring(before, starts)?.seq : undefined,
    before.endRecord,
    attempt.leaseId,
  ];
  return {
    topic: 'cause',
    text: `Attempt ${attempt.attempt} (${who}) began because ${why}${waited(attempt, tell)}`,
    records: records.filter((seq) => seq !== undefined),
  };
}

function whyItEnded(
  before: ExplainedAttempt,
  starts: readonly ExplainedStart[],
  tell: Teller,
): string {
  const worker = workerText(before.workerId);
  const reason = reasonText(before.reason ?? '');
  const ended = tell.at(before.endedAt ?? before.leaseExpiry);
  const lease = formatLeaseId(before.leaseId);
  switch (before.ended) {
    case 'expired':
      return (
        `${leaseText(before)} ran out at ${tell.at(before.leaseExpiry)}: ` +
        `${silence(before, starts, tell)}. Nothing had been reported for it by then.`
      );
    case 'released':
      return (
        `worker ${worker} gave attempt ${before.attempt} (${lease}) back at ${ended}: ` +
        `${reason}.`
      );
    default: {
      const retry = tell.at(before.retryAt ?? before.grantedAt);
      return (
        `worker ${worker} reported at ${ended} that attempt ${before.attempt} (${lease}) failed: ` +
        `${reason}. It was to be retried not before ${retry}.`
      );
    }
  }
}

/** What the records show of a lease that ran out. */
function silence(
  attempt: ExplainedAttempt,
  starts: readonly ExplainedStart[],
  tell: Teller,
): string {
  const { lastHeartbeat, grantedAt, leaseExpiry, executionDeadline } = attempt;
  const window = durationText(executionDeadline - grantedAt);
  if (attempt.reachedWindow) {
    return `it had reached the execution window of ${window}, which no heartbeat can lengthen`;
  }
  const lastSign = lastHeartbeat ?? { at: grantedAt, record: attempt.leaseId };
  const length = durationText(leaseExpiry - lastSign.at);
  const heard =
    lastHeartbeat === undefined
      ? `no heartbeat is recorded in the ${length} after its grant`
      : `its last heartbeat was at ${tell.at(lastHeartbeat.at)}, and none is recorded in ` +
        `the ${length} after it`;
  const down = downDuring(attempt, starts);
  if (down === undefined) return heard;
  return (
    `${heard}, and the coordinator started anew meanwhile (record ${down.seq}), so one ` +
    `may have been lost`
  );
}

/** A start after the last sign of life of an attempt that ran out below its window. */
function downDuring(
  attempt: ExplainedAttempt,
  starts: readonly ExplainedStart[],
): ExplainedStart | undefined {
  if (attempt.reachedWindow) return undefined;
  const lastSign = attempt.lastHeartbeat?.record ?? attempt.leaseId;
  return starts.find((start) => isDuring(start, lastSign, attempt.endRecord));
}

const isDuring = (start: ExplainedStart, from: number, to: number | undefined): boolean =>
  start.seq > from && (to === undefined || start.seq < to);

function waited(attempt: ExplainedAttempt, tell: Teller): string {
  const wait = attempt.grantedAt - attempt.eligibleAt;
  if (wait < WAIT_TOLD_MS) return '';
  return (
    ` The task had been eligible since ${tell.at(attempt.eligibleAt)} and waited ` +
    `${durationText(wait)} for a worker.`
  );
}

/** A report that came without authority: late, and what stood then. */
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
  return {
    topic: 'late',
    text:
      `Worker ${workerText(attempt.workerId)} reported ${report.verb} for ${lease} at ` +
      `${tell.at(report.at)}, ${lost}: CANCELLED, the report was discarded. ` +
      stoodThen(report.record, attempts, over),
    records: [attempt.leaseId, attempt.endRecord, report.record].filter((s) => s !== undefined),
  };
}

/** Expiry is reached when now >= lease_expiry, so a report of that very millisecond is late. */
const lateBy = (ms: number): string =>
  ms === 0
    ? 'in the very millisecond in which the lease ran out'
    : `${durationText(ms)} after the lease had run out`;

function stoodThen(
  seq: number,
  attempts: readonly ExplainedAttempt[],
  over: EndRecord | undefined,
): string {
  if (over !== undefined && over.seq < seq) {
    const { type } = over;
    if (type === 'TaskDead') return 'The task was DEAD already.';
    const end = type === 'TaskCompleted' ? 'COMPLETED' : 'FAILED';
    return `The task was ${end} already, under ${formatLeaseId(over.leaseId)}.`;
  }
  const last = attempts.findLast((one) => one.leaseId < seq);
  if (last !== undefined && (last.endRecord === undefined || last.endRecord > seq)) {
    return `At that moment ${leaseText(last)} held the task.`;
  }
  return 'Nobody held the task at that moment.';
}

/** What a start of the coordinator meant for the lease that was held, if one was. */
export function startOf(
  start: ExplainedStart,
  attempts: readonly ExplainedAttempt[],
  over: EndRecord | undefined,
  tell: Teller,
): Statement {
  const held = attempts.find((one) => isDuring(start, one.leaseId, one.endRecord));
  const gap = start.lastAliveAt === undefined ? undefined : start.at - start.lastAliveAt;
  const down =
    gap === undefined
      ? ''
      : `; the record before it is ${durationText(gap)} older, ` +
        'so it was down for at most that long';
  return {
    topic: 'restart',
    text:
      `The coordinator started anew at ${tell.at(start.at)}${down}. ` +
      (over !== undefined && over.seq < start.seq
        ? 'The task was over before that.'
        : meantFor(start, held, tell)),
    records: held === undefined ? [start.seq] : [held.leaseId, start.seq],
  };
}

function meantFor(start: ExplainedStart, held: ExplainedAttempt | undefined, tell: Teller): string {
  if (held === undefined) return 'Nobody held the task then; it went on waiting.';
  const lease = formatLeaseId(held.leaseId);
  if (held.leaseExpiry > start.at) {
    return `${lease} was held then and stayed valid: a restart neither ends nor renews a lease.`;
  }
  return (
    `${lease} had run out at ${tell.at(held.leaseExpiry)}, before that start; it was ` +
    `recorded right after it.`
  );
}

/** Coordinator time never runs backward, so after the wall clock was set back it is ahead of it. */
export function clockOf(start: ExplainedStart, tell: Teller): Statement | undefined {
  const offset = start.clockOffsetMs;
  if (Math.abs(offset) < OFFSET_TOLD_MS) return undefined;
  const direction = offset > 0 ? 'ahead of' : 'behind';
  return {
    topic: 'clock',
    text:
      `At the start of ${tell.at(start.at)} coordinator time was ` +
      `${durationText(Math.abs(offset))} ` +
      `${direction} the wall clock; it never runs backward, and all times here are ` +
      `coordinator time.`,
    records: [start.seq],
  };
}
