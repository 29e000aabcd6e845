// Owns how tasks read in a table, for `tasks` and `top`.

import { dayText } from '../model/time-text.ts';
import type { Fields } from './overview-table.ts';
import type { Column } from './table.ts';
import { clockText, dateText } from './words.ts';

/** The column of the delay is there only where a task of the table has one. */
export function taskColumns(rows: readonly Fields[]): readonly Column<Fields>[] {
  const eligible: Column<Fields> = { head: 'eligible', value: eligibleText };
  return [
    { head: 'task', value: (row) => String(row['task_id']) },
    { head: 'state', value: (row) => String(row['state']) },
    { head: 'queue', value: (row) => String(row['queue']), least: 6 },
    { head: 'attempt', value: (row) => String(row['attempt']), isNumber: true },
    { head: 'created (UTC)', value: (row) => dateText(row['created_at']) },
    ...(rows.some((row) => eligibleText(row) !== '') ? [eligible] : []),
    { head: 'detail', value: detailText, least: 5 },
  ];
}

const YEAR_MS = 365 * 86_400_000;

/** When a waiting task can be leased, where that is later than its submit. */
function eligibleText({ state, created_at: created, eligible_at: at }: Fields): string {
  if (state !== 'WAITING' || typeof at !== 'number' || typeof created !== 'number') return '';
  if (at <= created) return '';
  const time = clockText(at).slice(0, 8);
  if (dayText(at) === dayText(created)) return time;
  // Within a year of the submit the day alone tells the year.
  return at - created < YEAR_MS ? `${dayText(at).slice(5)} ${time}` : dateText(at);
}

/**
 * The lease of a running attempt, why the task is DEAD, or why the last attempt failed or was given
 * back. A task that is COMPLETED is so for another reason, which came later.
 */
function detailText(task: Fields): string {
  const { state, lease, last_failure_reason: reason, last_failure_kind: kind } = task;
  const { dead_reason: death } = task;
  if (typeof lease === 'object' && lease !== null) {
    const { lease_id, worker_id } = lease as Fields;
    return `${lease_id} ${worker_id}`;
  }
  if (typeof death === 'string') return inOneLine(death);
  if (typeof reason !== 'string') return '';
  const what = kind === 'released' ? 'given back' : 'failed';
  const when = state === 'COMPLETED' ? 'before: ' : '';
  return `${when}${what}: ${inOneLine(reason)}`;
}

const inOneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');
