// Owns the small chart in the text of an explanation: one row an attempt, drawn to one scale from
// the task's creation to its end or to now.

import { formatLeaseId } from '../model/ids.ts';
import { clockText, durationText } from '../model/time-text.ts';
import type { ExplainedAttempt, Explanation } from './explanation.ts';

const CHART_COLUMNS = 56;
const WORKER_COLUMNS = 12;
/** More attempts than this are told of by their first and last ones. */
export const ATTEMPTS_SHOWN = 24;

const END_MARKS = {
  completed: '✓',
  failed: '✗',
  released: '↩',
  expired: '┤',
  killed: '†',
} as const;
const LEGEND: readonly (readonly [mark: string, meaning: string])[] = [
  ['├', 'granted'],
  ['♥', 'heartbeat'],
  ['┤', 'ran out'],
  ['✓', 'completed'],
  ['✗', 'failed'],
  ['↩', 'given back'],
  ['†', 'killed'],
  ['!', 'late report'],
  ['▶', 'runs'],
];

/** @returns the lines of the chart, with scale and legend; empty when nothing was granted. */
export function gantt(given: Explanation): string[] {
  const { attempts } = given;
  if (attempts.length === 0) return [];
  const from = given.createdAt;
  const to = Math.max(endOf(given), from + 1);
  const column = (at: number): number =>
    Math.min(CHART_COLUMNS - 1, Math.floor(((at - from) / (to - from)) * (CHART_COLUMNS - 1)));
  const left = clockText(from);
  const right = `${clockText(to)} (+${durationText(to - from)})`;
  const scale = left + right.padStart(CHART_COLUMNS - left.length);
  const number = String(attempts.at(-1)?.attempt ?? 0).length;
  const lease = attempts.reduce(
    (width, { leaseId }) => Math.max(width, formatLeaseId(leaseId).length),
    0,
  );
  const indent = ' '.repeat(number + lease + WORKER_COLUMNS + 6);
  const rows = attempts.map(
    (attempt) =>
      `  ${String(attempt.attempt).padStart(number)}  ` +
      `${formatLeaseId(attempt.leaseId).padEnd(lease)}` +
      `  ${short(attempt.workerId).padEnd(WORKER_COLUMNS)}${row(attempt, given, column)}`,
  );
  const drawn = rows.map((line) => line.slice(indent.length)).join('');
  const legend = LEGEND.filter(([mark]) => drawn.includes(mark)).map((entry) => entry.join(' '));
  return [indent + scale, ...folded(rows), '', `  ${legend.join('  ')}`];
}

function endOf({ attempts, now, records }: Explanation): number {
  const open = now.state === 'WAITING' || now.state === 'LEASED';
  if (open) return now.at;
  const granted = attempts.at(-1)?.grantedAt ?? 0;
  return records.reduce((last, { at }) => Math.max(last, at), granted);
}

function row(
  attempt: ExplainedAttempt,
  { now }: Explanation,
  column: (at: number) => number,
): string {
  const cells = new Array<string>(CHART_COLUMNS).fill(' ');
  const start = column(attempt.grantedAt);
  // A lease ends at its expiry, however late the record of it was written.
  const ended = attempt.ended === 'expired' ? attempt.leaseExpiry : attempt.endedAt;
  const end = Math.max(column(ended ?? now.at), start);
  cells.fill('─', start, end);
  cells[start] = '├';
  for (const beat of attempt.heartbeats) {
    const at = column(beat);
    if (at > start && at < end) cells[at] = '♥';
  }
  cells[end] = attempt.ended === undefined ? '▶' : END_MARKS[attempt.ended];
  const { report } = attempt;
  if (report?.outcome === 'CANCELLED') {
    const at = column(report.at);
    if (at > end) cells.fill('·', end + 1, at);
    cells[at] = '!';
  }
  return cells.join('').trimEnd();
}

function folded(rows: string[]): string[] {
  if (rows.length <= ATTEMPTS_SHOWN) return rows;
  const half = ATTEMPTS_SHOWN / 2;
  const middle = `  … ${rows.length - ATTEMPTS_SHOWN} more attempts …`;
  return [...rows.slice(0, half), middle, ...rows.slice(-half)];
}

function short(workerId: string): string {
  const plain = [...workerId].map((character) =>
    /[\p{C}\p{Z}]/u.test(character) ? '?' : character,
  );
  const room = WORKER_COLUMNS - 2;
  return plain.length > room ? `${plain.slice(0, room - 1).join('')}…` : plain.join('');
}
