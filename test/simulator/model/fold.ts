// Owns what one record makes of one task of the model: a new object for the old one. It knows
// nothing of other tasks, and decides nothing.

import type { LogRecord, TaskCreated } from '../../../src/model/records.ts';
import {
  afterFailure,
  copyOf,
  copyOfLease,
  type Draft,
  draftNewestLease,
  type ModelTask,
} from './tasks.ts';

export type TaskRecord = Exclude<
  LogRecord,
  { type: 'TaskCreated' | 'CoordinatorStarted' | 'HistoryForgotten' }
>;

export const newTask = (record: TaskCreated): ModelTask => ({
  id: record.seq,
  queue: record.queue,
  payload: record.payload,
  windowMs: record.executionWindowMs,
  policy: record.retryPolicy,
  requestId: record.requestId,
  contentHash: record.contentHash,
  metadata: record.metadata,
  createdAt: record.at,
  origin: record.originTaskId,
  redrivenAs: undefined,
  state: 'WAITING',
  attempt: 0,
  eligibleAt: Math.max(record.at, record.notBefore ?? 0),
  place: record.seq,
  leases: [],
  last: record.seq,
  records: 1,
  expirations: 0,
  expirationsInRow: 0,
  failures: 0,
  released: 0,
  releasedInRow: 0,
  lastFailure: undefined,
  deadReason: undefined,
  endRecord: 0,
  endAt: 0,
  result: undefined,
});

export function taskAfter(task: ModelTask, record: TaskRecord): ModelTask {
  const draft = copyOf(task);
  draft.records += 1;
  if (record.type !== 'LeaseExtended') draft.last = record.seq;
  switch (record.type) {
    case 'LeaseGranted':
      draft.state = 'LEASED';
      draft.attempt = record.attempt;
      draft.leases = [
        ...task.leases,
        {
          id: record.seq,
          workerId: record.workerId,
          attempt: record.attempt,
          grantedAt: record.grantedAt,
          deadline: record.grantedAt + task.windowMs,
          expiry: record.leaseExpiry,
          extensions: 0,
          lastExtension: 0,
          end: undefined,
          endAt: 0,
          reason: undefined,
          outcome: undefined,
          report: undefined,
          reportRecord: 0,
        },
      ];
      return draft;
    case 'LeaseExtended': {
      const lease = draftNewestLease(draft);
      lease.expiry = record.newLeaseExpiry;
      lease.extensions += 1;
      lease.lastExtension = record.seq;
      return draft;
    }
    case 'TaskCancelled':
      draft.leases = task.leases.map((lease) => {
        if (lease.id !== record.leaseId) return lease;
        const ended = copyOfLease(lease);
        ended.outcome = 'CANCELLED';
        ended.report = record.report;
        ended.reportRecord = record.seq;
        return ended;
      });
      return draft;
    default:
      return afterEnd(draft, record);
  }
}

/** The newest lease is over, or a task that has none is. */
function afterEnd(
  draft: Draft<ModelTask>,
  record: Extract<
    LogRecord,
    { type: 'LeaseExpired' | 'TaskCompleted' | 'TaskFailed' | 'TaskDead' }
  >,
): ModelTask {
  if (record.type === 'TaskDead') {
    if (draft.state === 'LEASED') {
      const killed = draftNewestLease(draft);
      killed.end = 'killed';
      killed.endAt = record.at;
    }
    draft.deadReason = record.reason;
    return end(draft, 'DEAD', record);
  }
  const lease = draftNewestLease(draft);
  lease.endAt = record.at;
  if (record.type === 'LeaseExpired') {
    lease.end = 'expired';
    draft.expirations += 1;
    draft.expirationsInRow += 1;
    return wait(draft, record.at, record);
  }
  lease.outcome = 'COMMITTED';
  lease.reportRecord = record.seq;
  draft.expirationsInRow = 0;
  if (record.type === 'TaskCompleted') {
    lease.end = 'completed';
    lease.report = 'complete';
    draft.result = record.result;
    return end(draft, 'COMPLETED', record);
  }
  const { retryAt, failures, released, releasedInRow } = afterFailure(
    draft,
    record.kind,
    record.at,
  );
  const reason = record.failureReason;
  lease.end = record.kind === 'released' ? 'released' : 'failed';
  lease.report = 'fail';
  lease.reason = reason;
  draft.failures = failures;
  draft.released = released;
  draft.releasedInRow = releasedInRow;
  draft.lastFailure = { record: record.seq, reason, kind: record.kind, retryAt };
  return retryAt === undefined ? end(draft, 'FAILED', record) : wait(draft, retryAt, record);
}

function end(
  draft: Draft<ModelTask>,
  state: 'COMPLETED' | 'FAILED' | 'DEAD',
  record: LogRecord,
): ModelTask {
  draft.state = state;
  draft.endRecord = record.seq;
  draft.endAt = record.at;
  return draft;
}

function wait(draft: Draft<ModelTask>, eligibleAt: number, record: LogRecord): ModelTask {
  draft.state = 'WAITING';
  draft.eligibleAt = eligibleAt;
  draft.place = record.seq;
  return draft;
}
