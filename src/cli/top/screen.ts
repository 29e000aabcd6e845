// Owns the screen of `top`: a pure function of what the server said, what was chosen, and the size
// of the terminal. It gives lines, none wider than the terminal, and two fewer than the terminal
// has.

import { lineText } from '../../model/safe-text.ts';
import { type Fields, queueColumns, workerColumns } from '../overview-table.ts';
import { type Column, cutEnd, fittedTable } from '../table.ts';
import { taskColumns } from '../task-columns.ts';
import { clockText, moreText } from '../words.ts';
import type { Rows, View } from './view.ts';

export interface Shown extends Rows {
  readonly url: string;
  readonly stats: Fields;
  readonly moreQueues: number;
  readonly moreWorkers: number;
  /** Coordinator time of the newest answer. */
  readonly now: number;
  /** Since when rates and last requests are known. */
  readonly since: number;
  /** One line: that the server does not answer, or that it answers again. */
  readonly notice: string;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const LEAST_LINES = 12;
/** Heads, counts, notice, empty lines, two table heads, two lines on what is left out, the keys. */
const AROUND = 10;
const MARK = '> ';

/** Lines that a page of this size has. */
export const linesOf = ({ rows }: Size): number => Math.max(LEAST_LINES, rows - 2);
/** Of them those that a story has: title and keys go. */
export const storyLines = (size: Size): number => linesOf(size) - 3;

export function screen(shown: Shown, view: View, size: Size): string[] {
  const body =
    view.story !== undefined
      ? storyPage(view.story, size)
      : view.tasks !== undefined
        ? tasksPage(view.tasks, size, shown)
        : overviewPage(shown, view, size);
  const keys =
    view.typed === undefined ? keysOf(view) : `explain task T${view.typed}_  (Enter, Esc)`;
  return [...body.slice(0, linesOf(size) - 1), keys].map((line) => cutEnd(line, size.columns));
}

function keysOf(view: View): string {
  if (view.story !== undefined) return 'q quit  Esc back  up/down, page up/down  t another task';
  if (view.tasks !== undefined) return 'q quit  Esc back  up/down, Enter: explain  t another task';
  return (
    `q quit  s queues by: ${view.queueSort}  w workers by: ${view.workerSort}  ` +
    'up/down Enter: open  t task'
  );
}

function overviewPage(shown: Shown, view: View, size: Size): string[] {
  const { queues, workers, now } = shown;
  const room = Math.max(2, linesOf(size) - AROUND);
  const queueRoom = Math.max(Math.ceil(room / 2), room - Math.max(1, workers.length));
  const queueRows = Math.min(Math.max(1, queues.length), queueRoom);
  const workerRows = room - queueRows;
  const ofQueues = part(queueColumns(now), queues, view.selected, queueRows, size);
  const at = view.selected - queues.length;
  const ofWorkers = part(workerColumns(now), workers, at, workerRows, size);
  return [
    ...headOf(shown),
    '',
    ...ofQueues.lines,
    leftOut(ofQueues.leftOut + shown.moreQueues, 'queues', queues.length),
    '',
    ...ofWorkers.lines,
    leftOut(ofWorkers.leftOut + shown.moreWorkers, 'workers', workers.length),
  ];
}

function headOf({ url, stats, now, since, notice }: Shown): string[] {
  const tasks = (stats['tasks'] ?? {}) as Fields;
  const time = (at: number): string => clockText(at).slice(0, 8);
  const counts = Object.entries(tasks).map(([state, count]) => `${count} ${state}`);
  const { lease_expirations, late_reports, mode } = stats;
  const notServing = mode === 'serving' ? [] : [lineText(mode)];
  return [
    [lineText(url), `${time(now)} UTC`, ...notServing, `rates, askers: since ${time(since)}`].join(
      '  ',
    ),
    `${counts.join('  ')}  expired ${lease_expirations}  late reports ${late_reports}`,
    notice,
  ];
}

/** The rows around the selected one; @param selected outside of the rows: none is. */
function part(
  columns: readonly Column<Fields>[],
  rows: readonly Fields[],
  selected: number,
  room: number,
  { columns: width }: Size,
) {
  const isInside = selected >= 0 && selected < rows.length;
  const first = isInside ? Math.max(0, Math.min(selected - room + 1, rows.length - room)) : 0;
  const seen = rows.slice(first, first + room);
  const { lines } = fittedTable(columns, seen, width - MARK.length);
  const marked = lines.map((line, at) => {
    const isMarked = isInside && at === selected - first + 1;
    return `${isMarked ? MARK : ' '.repeat(MARK.length)}${line}`;
  });
  return { lines: marked, leftOut: rows.length - seen.length };
}

function leftOut(count: number, of: string, rows: number): string {
  if (rows === 0) return of === 'queues' ? '  no queue holds a task' : '  no worker is known';
  return count > 0 ? `  ${moreText(count, of)}` : '';
}

function tasksPage(tasks: NonNullable<View['tasks']>, size: Size, { notice }: Shown): string[] {
  const room = linesOf(size) - 5;
  const { lines, leftOut: more } = part(
    taskColumns(tasks.rows),
    tasks.rows,
    tasks.selected,
    room,
    size,
  );
  const none = tasks.rows.length === 0 ? ['  no task'] : [];
  return [tasks.title, notice, ...lines, ...none, more > 0 ? `  ${moreText(more, 'tasks')}` : ''];
}

function storyPage({ taskId, lines, first }: NonNullable<View['story']>, size: Size): string[] {
  const room = storyLines(size);
  const seen = lines.slice(first, first + room);
  const last = Math.min(lines.length, first + room);
  return [`explain ${taskId}: lines ${first + 1} to ${last} of ${lines.length}`, '', ...seen];
}
