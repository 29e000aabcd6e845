// Owns the rows of an explanation: each record with the state before and after it, the rule by
// which it may happen, and what it says in words.

import { assertNever } from '../model/assert.ts';
import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { LogRecord } from '../model/records.ts';
import type { TaskStateName } from '../model/request.ts';
import { type From, transitionsFrom } from '../model/transitions.ts';
import type { ExplainedRecord } from './explanation.ts';
import { plural, reasonText, type Teller, workerText } from './names.ts';

/** @param records of one task, ascending. */
export function explainRecords(records: readonly LogRecord[], tell: Teller): ExplainedRecord[] {
  let state: From = 'NONE';
  return records.map((record) => {
    const before = stateBefore(record, state);
    const after = stateAfter(record, before);
    state = after;
    return {
      seq: record.seq,
      at: record.at,
      type: record.type,
      before,
      after,
      rule: ruleOf(record, before, after),
      text: recordText(record, tell),
    };
  });
}

/** Most records tell it themselves; that matters when older ones are missing. */
function stateBefore(record: LogRecord, tracked: From): From {
  switch (record.type) {
    case 'TaskCreated':
      return 'NONE';
    case 'LeaseGranted':
      return 'WAITING';
    case 'TaskCancelled':
    case 'TaskDead':
      return tracked;
    default:
      return 'LEASED';
  }
}

/** The state that a record leads to, given the one before it. */
export function stateAfter(record: LogRecord, before: From): TaskStateName {
  switch (record.type) {
    case 'TaskCreated':
    case 'LeaseExpired':
      return 'WAITING';
    case 'LeaseGranted':
    case 'LeaseExtended':
      return 'LEASED';
    case 'TaskCompleted':
      return 'COMPLETED';
    case 'TaskFailed':
      return record.retryAt === undefined ? 'FAILED' : 'WAITING';
    case 'TaskDead':
      return 'DEAD';
    default:
      return before === 'NONE' ? 'WAITING' : before;
  }
}

const ruleOf = (record: LogRecord, before: From, after: TaskStateName): string =>
  transitionsFrom(before, record.type).find(({ to }) => to === after)?.when ?? '';

/** @returns what one record says, without its number, time and type. */
export function recordText(record: LogRecord, tell: Teller): string {
  switch (record.type) {
    case 'TaskCreated':
      return [
        `queue ${record.queue}, ${plural(record.payload.length, 'byte')}`,
        ...(record.originTaskId === undefined
          ? []
          : [`redrive of ${formatTaskId(record.originTaskId)}`]),
        ...(record.requestId === undefined ? [] : [`request id ${reasonText(record.requestId)}`]),
        ...(record.notBefore === undefined ? [] : [`not before ${tell.at(record.notBefore)}`]),
      ].join(', ');
    case 'LeaseGranted':
      return (
        `${formatLeaseId(record.seq)} to ${workerText(record.workerId)}, ` +
        `attempt ${record.attempt}, until ${tell.at(record.leaseExpiry)}`
      );
    case 'LeaseExtended':
      return `${formatLeaseId(record.leaseId)} heartbeat, until ${tell.at(record.newLeaseExpiry)}`;
    case 'LeaseExpired':
      return `${formatLeaseId(record.leaseId)} ran out, ${heartbeats(record.extensions)}`;
    case 'TaskCompleted': {
      const size = record.result === undefined ? '' : `, ${plural(record.result.length, 'byte')}`;
      return `${formatLeaseId(record.leaseId)} reported complete${size}`;
    }
    case 'TaskFailed': {
      const kind = record.kind === 'error' ? '' : ` (${record.kind})`;
      const retry = record.retryAt === undefined ? '' : `, retry from ${tell.at(record.retryAt)}`;
      const reason = reasonText(record.failureReason);
      return `${formatLeaseId(record.leaseId)} failed${kind}${retry}: ${reason}`;
    }
    case 'TaskCancelled':
      return `${formatLeaseId(record.leaseId)} reported ${record.report} too late: discarded`;
    case 'TaskDead':
      return reasonText(record.reason);
    case 'CoordinatorStarted':
      return `epoch ${record.seq}, format ${record.formatVersion}`;
    case 'HistoryForgotten':
      return `completed to ${record.completedThrough}, failed to ${record.failedThrough}`;
    default:
      return assertNever(record);
  }
}

const heartbeats = (extensions: number): string =>
  extensions === 0 ? 'never extended' : `after ${plural(extensions, 'extension')}`;
