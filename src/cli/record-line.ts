// Owns how one record reads on a line: number, time, type, task, what it did to the task's state,
// and the facts that matter. It says what the record says and infers nothing from other records.

import { clockText, dateText, lineText } from './words.ts';

type Fields = Readonly<Record<string, unknown>>;

/** `57 10:02:11.204 LeaseGranted T42 WAITING → LEASED L57 w1 attempt 1, until 10:02:16.204` */
export function recordLine(record: Fields, paint: Paint = plain): string {
  const { seq, at, type, task_id } = record;
  const task = task_id === undefined ? '' : ` ${task_id}`;
  return `${seq} ${clockText(at)} ${paint(String(type))}${task}${factsOf(record)}`;
}

/** Colours the name of a record's type, or does not. */
export type Paint = (type: string) => string;
const plain: Paint = (type) => type;

function factsOf(record: Fields): string {
  const { lease_id } = record;
  switch (record['type']) {
    case 'TaskCreated':
      return ` → WAITING queue ${record['queue']}${createdFacts(record)}`;
    case 'LeaseGranted':
      return (
        ` WAITING → LEASED ${lease_id} ${lineText(record['worker_id'])}` +
        ` attempt ${record['attempt']}, until ${clockText(record['lease_expiry'])}`
      );
    case 'LeaseExtended':
      return ` LEASED ${lease_id} until ${clockText(record['new_lease_expiry'])}`;
    case 'LeaseExpired':
      return ` LEASED → WAITING ${lease_id}${heartbeats(record)}`;
    case 'TaskCompleted':
      return ` LEASED → COMPLETED ${lease_id}${heartbeats(record)}`;
    case 'TaskFailed':
      return failedFacts(record);
    case 'TaskCancelled':
      return ` unchanged ${lease_id} ${record['report']} came without authority`;
    case 'TaskDead':
      return ` → DEAD ${lineText(record['reason'])}`;
    case 'CoordinatorStarted':
      return ` epoch ${record['epoch']}`;
    case 'HistoryForgotten':
      return forgottenFacts(record);
    default:
      return '';
  }
}

function createdFacts({ request_id, not_before, origin_task_id }: Fields): string {
  const named = request_id === undefined ? '' : `, request ${lineText(request_id)}`;
  const later = not_before === undefined ? '' : `, not before ${dateText(not_before)}`;
  const origin = origin_task_id === undefined ? '' : `, redriven from ${origin_task_id}`;
  return `${named}${later}${origin}`;
}

const forgottenFacts = ({ completed_through, failed_through }: Fields): string =>
  ` COMPLETED through ${completed_through}, others through ${failed_through}`;

function failedFacts(record: Fields): string {
  const { lease_id, kind, retry_at, failure_reason } = record;
  const next = retry_at === undefined ? 'FAILED' : 'WAITING';
  const again = retry_at === undefined ? '' : `, again at ${clockText(retry_at)}`;
  return ` LEASED → ${next} ${lease_id} ${kind}: ${lineText(failure_reason)}${again}`;
}

const heartbeats = ({ extensions }: Fields): string =>
  extensions === undefined ? '' : `, extended ${extensions === 1 ? 'once' : `${extensions} times`}`;
