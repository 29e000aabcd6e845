// Owns the rows of an explanation. A row has one record, the task's state before and after it, the
// rule that allows the change, and the record in words.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import { describeRecord, type Speaker } from '../model/record-words.ts';
import type { LogRecord } from '../model/records.ts';
import { type From, letterOf, transitionAfter } from '../model/transitions.ts';
import type { ExplainedRecord } from './explanation.ts';
import { nameText, plural, reasonText, type Teller } from './names.ts';

/**
 * @param records the records of one task, ascending
 * @param poisoned whether the poison rule made its TaskDead
 */
export function explainRecords(
  records: readonly LogRecord[],
  tell: Teller,
  poisoned: boolean,
): ExplainedRecord[] {
  const end = poisoned ? 'ended by the poison rule' : 'killed';
  let state: From = 'NONE';
  return records.map((record) => {
    const row = transitionAfter(state, record);
    state = row.to;
    const { seq, at, type } = record;
    return {
      seq,
      at,
      type,
      before: row.from,
      after: row.to,
      letter: letterOf(row),
      rule: row.when,
      text: rowText(record, tell, end),
      kind: record.type === 'TaskFailed' ? record.kind : undefined,
    };
  });
}

/**
 * @param end the words for what ended the task in its TaskDead
 * @returns the record in words, without its number, time and type
 */
export function rowText(record: LogRecord, tell: Teller, end: string): string {
  const words = describeRecord(named(record), speaker(tell));
  // A TaskDead by itself does not tell who ended the task: the records before it do.
  const event = record.type === 'TaskDead' ? end : words.event;
  const { lease, worker, reason, fact, more } = words;
  const subject = worker === undefined ? lease : `${lease} to ${worker}`;
  const facts = [subject, reason, fact, ...more, ...besides(record)];
  return `${event}: ${facts.filter((part) => part !== undefined).join(', ')}`;
}

const speaker = (tell: Teller): Speaker => ({
  time: (at) => tell.at(at as number),
  date: (at) => tell.at(at as number),
  name: (value) => nameText(String(value)),
  text: (value) => reasonText(String(value)),
});

/** A record with its ids as users write them. */
function named(record: LogRecord): Readonly<Record<string, unknown>> {
  if (record.type === 'LeaseGranted') return { ...record, leaseId: formatLeaseId(record.seq) };
  if ('leaseId' in record) return { ...record, leaseId: formatLeaseId(record.leaseId) };
  if (record.type === 'TaskCreated' && record.originTaskId !== undefined) {
    return { ...record, originTaskId: formatTaskId(record.originTaskId) };
  }
  return record.type === 'CoordinatorStarted' ? { ...record, epoch: record.seq } : { ...record };
}

/** What a line of the log leaves out. */
function besides(record: LogRecord): string[] {
  switch (record.type) {
    case 'TaskCreated':
      return [`payload ${plural(record.payload.length, 'byte')}`];
    case 'TaskCompleted':
      return record.result === undefined ? [] : [`result ${plural(record.result.length, 'byte')}`];
    case 'LeaseExpired':
      return record.extensions === 0 ? ['never extended'] : [];
    case 'TaskCancelled':
      return ['discarded'];
    default:
      return [];
  }
}
