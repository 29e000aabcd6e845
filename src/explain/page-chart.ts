// Owns the small chart in the text of an explanation. Each attempt is one row. All rows have one
// scale, from the task's creation to its end or to now. The row above them shows the times in
// which the coordinator was down.

import { formatLeaseId } from '../model/ids.ts';
import { clockText, durationText } from '../model/time-text.ts';
import type { ExplainedAttempt, Explanation } from './explanation.ts';
import { shortened } from './names.ts';
import { wrap } from './wrap.ts';

const WORKER_COLUMNS_MIN = 10;
const WORKER_COLUMNS_MAX = 24;
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
  ['·', 'from there to the late report'],
  ['!', 'late report'],
  ['▶', 'runs'],
  ['░', 'coordinator down at most'],
  ['▲', 'coordinator started'],
  ['⋮', 'attempts that are not drawn'],
];

/** One scale for all rows. */
interface Scale {
  readonly columns: number;
  column(at: number): number;
}

/** @returns the lines of the chart, with scale and legend; empty when nothing was granted. */
export function gantt(given: Explanation, width: number): string[] {
  const { attempts, starts } = given;
  if (attempts.length === 0) return [];
  const number = String(attempts.at(-1)?.attempt ?? 0).length;
  const lease = longest(attempts.map(({ leaseId }) => formatLeaseId(leaseId)));
  const names = attempts.map(({ workerId }) => printable(workerId));
  const worker = Math.min(WORKER_COLUMNS_MAX, Math.max(WORKER_COLUMNS_MIN, longest(names)));
  const indent = ' '.repeat(number + lease + worker + 8);
  const from = given.createdAt;
  const to = Math.max(endOf(given), from + 1);
  const scale = scaleOf(from, to, width - indent.length);
  const rows = attempts.map((attempt, index) => {
    const head =
      `  ${String(attempt.attempt).padStart(number)}  ` +
      `${formatLeaseId(attempt.leaseId).padEnd(lease)}` +
      `  ${shortened(names[index] ?? '', worker).padEnd(worker)}  `;
    return head + row(attempt, given, scale);
  });
  const down = starts.length === 0 ? [] : [`${label(indent)}${downRow(given, scale)}`];
  const shown = [...down, ...folded(rows, attempts)];
  const drawn = shown.map((line) => line.slice(indent.length)).join('');
  const marks = drawn + (rows.length > ATTEMPTS_SHOWN ? '⋮' : '');
  const legend = LEGEND.filter(([mark]) => marks.includes(mark)).map(([mark, meaning]) =>
    `${mark} ${meaning}`.replaceAll(' ', '\u00a0'),
  );
  return [
    indent + scaleLine(from, to, scale),
    ...shown,
    '',
    ...wrap(legend.join('  '), width, 2, 2),
  ];
}

const longest = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, [...text].length), 0);

const scaleOf = (from: number, to: number, columns: number): Scale => ({
  columns,
  column: (at) => {
    const part = (at - from) / (to - from);
    return Math.min(columns - 1, Math.max(0, Math.floor(part * (columns - 1))));
  },
});

function scaleLine(from: number, to: number, { columns }: Scale): string {
  const left = clockText(from);
  const whole = `${clockText(to)} (+${durationText(to - from)})`;
  const right = left.length + whole.length < columns ? whole : clockText(to);
  return left + right.padStart(columns - left.length);
}

function endOf({ attempts, now, records }: Explanation): number {
  const open = now.state === 'WAITING' || now.state === 'LEASED';
  if (open) return now.at;
  const granted = attempts.at(-1)?.grantedAt ?? 0;
  return records.reduce((last, { at }) => Math.max(last, at), granted);
}

function row(attempt: ExplainedAttempt, { now }: Explanation, { columns, column }: Scale): string {
  const cells = new Array<string>(columns).fill(' ');
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
    // Beside the mark of the lease's end, which it must not hide.
    const at = Math.min(columns - 1, Math.max(column(report.at), end + 1));
    if (at > end) cells.fill('·', end + 1, at);
    cells[at] = '!';
  }
  return cells.join('').trimEnd();
}

const label = (indent: string): string =>
  '     coordinator'.slice(0, indent.length - 1).padEnd(indent.length);

/** When the coordinator was down at most, and when it started again. */
function downRow({ starts }: Explanation, { columns, column }: Scale): string {
  const cells = new Array<string>(columns).fill(' ');
  for (const { at, lastAliveAt } of starts) {
    if (lastAliveAt !== undefined) cells.fill('░', column(lastAliveAt), column(at));
  }
  for (const { at } of starts) cells[column(at)] = '▲';
  return cells.join('').trimEnd();
}

function folded(rows: string[], attempts: readonly ExplainedAttempt[]): string[] {
  if (rows.length <= ATTEMPTS_SHOWN) return rows;
  const half = ATTEMPTS_SHOWN / 2;
  const [first, last] = [attempts[half], attempts.at(-half - 1)];
  const middle = `  ⋮  attempts ${first?.attempt} to ${last?.attempt}`;
  return [...rows.slice(0, half), middle, ...rows.slice(-half)];
}

const printable = (workerId: string): string =>
  [...workerId].map((character) => (/[\p{C}\p{Z}]/u.test(character) ? '?' : character)).join('');
