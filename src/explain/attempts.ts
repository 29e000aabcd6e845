// Owns the attempts of a task as its records tell them: which worker held the lease, from when to
// when, how the lease ended, and which records show that the worker was alive. Nothing is claimed
// without a record.

import { assertNever } from '../model/assert.ts';
import type {
  LeaseExtended,
  LeaseGranted,
  LogRecord,
  TaskCreated,
  TaskFailed,
} from '../model/records.ts';
import type { AttemptEnd, AttemptReport, Evidence, ExplainedAttempt } from './explanation.ts';

/** The end of an attempt's lease, taken off whichever record ended it. */
interface End {
  readonly ended: AttemptEnd;
  readonly at: number;
  readonly record: number;
  readonly extensions: number;
  readonly failure?: TaskFailed | undefined;
  readonly reason?: string | undefined;
}

/** An attempt while its records are being read. */
interface Draft {
  readonly grant: LeaseGranted;
  readonly waiting: Waiting;
  readonly beats: LeaseExtended[];
  end: End | undefined;
  report: AttemptReport | undefined;
}

/** The record that made the task WAITING, and from when on it could be leased. */
interface Waiting {
  readonly record: number;
  readonly since: number;
  readonly eligibleAt: number;
}

/** @param records the task's records in ascending order, its TaskCreated first. */
export function attemptsOf(
  created: TaskCreated,
  records: readonly LogRecord[],
): ExplainedAttempt[] {
  const drafts = new Map<number, Draft>();
  let current: Draft | undefined;
  let waiting = waitingBy(created, Math.max(created.at, created.notBefore ?? 0));
  for (const record of records) {
    switch (record.type) {
      case 'LeaseGranted':
        current = { grant: record, waiting, beats: [], end: undefined, report: undefined };
        drafts.set(record.seq, current);
        break;
      case 'LeaseExtended':
        drafts.get(record.leaseId)?.beats.push(record);
        break;
      case 'LeaseExpired':
        waiting = waitingBy(record, record.at);
        endWith(drafts.get(record.leaseId), record, 'expired');
        break;
      case 'TaskCompleted':
        endWith(drafts.get(record.leaseId), record, 'completed');
        reportWith(drafts.get(record.leaseId), 'complete', 'COMMITTED', record);
        break;
      case 'TaskFailed':
        waiting = waitingBy(record, record.retryAt ?? record.at);
        endWith(
          drafts.get(record.leaseId),
          record,
          record.kind === 'released' ? 'released' : 'failed',
        );
        reportWith(drafts.get(record.leaseId), 'fail', 'COMMITTED', record);
        break;
      case 'TaskCancelled':
        reportWith(drafts.get(record.leaseId), record.report, 'CANCELLED', record);
        break;
      case 'TaskDead':
        if (current?.end === undefined) endWith(current, record, 'killed');
        break;
      case 'TaskCreated':
      case 'CoordinatorStarted':
      case 'HistoryForgotten':
        break;
      default:
        assertNever(record);
    }
  }
  return [...drafts.values()].map((draft) => attempt(draft, created.executionWindowMs));
}

const waitingBy = ({ seq, at }: LogRecord, eligibleAt: number): Waiting => ({
  record: seq,
  since: at,
  eligibleAt,
});

type EndingRecord = Extract<LogRecord, { extensions: number }>;

function endWith(draft: Draft | undefined, record: EndingRecord, ended: AttemptEnd): void {
  if (draft === undefined) return;
  const failure = record.type === 'TaskFailed' ? record : undefined;
  const reason = record.type === 'TaskDead' ? record.reason : failure?.failureReason;
  const { seq, at, extensions } = record;
  draft.end = { ended, at, record: seq, extensions, failure, reason };
}

function reportWith(
  draft: Draft | undefined,
  verb: AttemptReport['verb'],
  outcome: AttemptReport['outcome'],
  { at, seq }: LogRecord,
): void {
  if (draft !== undefined) draft.report = { verb, outcome, at, record: seq };
}

function attempt(draft: Draft, windowMs: number): ExplainedAttempt {
  const { grant, beats, end, report } = draft;
  const last = beats.at(-1);
  const leaseExpiry = last?.newLeaseExpiry ?? grant.leaseExpiry;
  const executionDeadline = grant.grantedAt + windowMs;
  const extensions = end?.extensions ?? beats.length;
  const evidence: Evidence =
    report !== undefined ? 'reported' : extensions > 0 ? 'heartbeated' : 'none';
  return {
    attempt: grant.attempt,
    leaseId: grant.seq,
    workerId: grant.workerId,
    waitingRecord: draft.waiting.record,
    waitingSince: draft.waiting.since,
    eligibleAt: draft.waiting.eligibleAt,
    grantedAt: grant.grantedAt,
    leaseExpiry,
    executionDeadline,
    extensions,
    heartbeats: beats.map((beat) => beat.at),
    lastHeartbeat: last && { at: last.at, record: last.seq },
    ended: end?.ended,
    endedAt: end?.at,
    endRecord: end?.record,
    reason: end?.reason,
    kind: end?.failure?.kind,
    retryAt: end?.failure?.retryAt,
    report,
    evidence,
    reachedWindow: leaseExpiry >= executionDeadline,
  };
}
