// Owns what the person at `top` has chosen, and how a key changes that. It is pure: a key gives the
// next view, and what is to be asked of the server for it.

import type { Fields } from '../overview-table.ts';

export const QUEUE_SORTS = ['waiting', 'oldest', 'asked', 'rate', 'leased', 'delayed', 'name'];
export const WORKER_SORTS = ['seen', 'held', 'name'];
/** The tables give the numbers of their rows as they are; more are reached by sorting. */
export const ROWS_MAX = 100;

export interface View {
  readonly queueSort: string;
  readonly workerSort: string;
  /** A row of the overview: the queues, then the workers. */
  readonly selected: number;
  /** What is laid over the overview: tasks to choose from, or a task's story. */
  readonly tasks?: TaskChoice | undefined;
  readonly story?: Story | undefined;
  /** The number of a task, as far as it is typed. */
  readonly typed?: string | undefined;
}

export interface TaskChoice {
  readonly title: string;
  readonly rows: readonly Fields[];
  readonly selected: number;
}

export interface Story {
  readonly taskId: string;
  readonly lines: readonly string[];
  readonly first: number;
}

export const FIRST_VIEW: View = { queueSort: 'waiting', workerSort: 'seen', selected: 0 };

export interface Rows {
  readonly queues: readonly Fields[];
  readonly workers: readonly Fields[];
}

/** What a key asks for. */
export type Wish =
  | { readonly kind: 'quit' }
  | { readonly kind: 'refresh' }
  | { readonly kind: 'queue'; readonly queue: string }
  | { readonly kind: 'worker'; readonly workerId: string; readonly leases: readonly string[] }
  | { readonly kind: 'story'; readonly taskId: string };

export interface Pressed {
  readonly view: View;
  readonly wish?: Wish | undefined;
}

/** @param key as node names it: `q`, `up`, `return`; @param lines that a story has room for */
export function press(view: View, key: string, rows: Rows, lines: number): Pressed {
  if (key === 'ctrl-c') return { view, wish: { kind: 'quit' } };
  if (view.typed !== undefined) return typing(view, view.typed, key);
  if (key === 'q') return { view, wish: { kind: 'quit' } };
  if (key === 't') return { view: { ...view, typed: '' } };
  if (view.story !== undefined) return { view: inStory(view, view.story, key, lines) };
  if (view.tasks !== undefined) return inTasks(view, view.tasks, key);
  return inOverview(view, key, rows);
}

function typing(view: View, typed: string, key: string): Pressed {
  if (/^\d$/.test(key) && typed.length < 15) return { view: { ...view, typed: typed + key } };
  if (key === 'backspace') return { view: { ...view, typed: typed.slice(0, -1) } };
  const done = { ...view, typed: undefined };
  if (key === 'return' && Number(typed) > 0) {
    return { view: done, wish: { kind: 'story', taskId: `T${Number(typed)}` } };
  }
  return { view: key === 'escape' || key === 'return' ? done : view };
}

function inStory(view: View, story: Story, key: string, lines: number): View {
  if (BACK.has(key)) return { ...view, story: undefined };
  const last = Math.max(0, story.lines.length - lines);
  const steps: Readonly<Record<string, number>> = {
    up: -1,
    k: -1,
    down: 1,
    j: 1,
    pageup: 1 - lines,
    pagedown: lines - 1,
    space: lines - 1,
    home: -story.lines.length,
    end: story.lines.length,
  };
  const first = Math.min(last, Math.max(0, story.first + (steps[key] ?? 0)));
  return { ...view, story: { ...story, first } };
}

const BACK: ReadonlySet<string> = new Set(['escape', 'left', 'backspace', 'h']);
const OPEN: ReadonlySet<string> = new Set(['return', 'enter', 'right', 'l']);

function inTasks(view: View, tasks: TaskChoice, key: string): Pressed {
  if (BACK.has(key)) return { view: { ...view, tasks: undefined } };
  const taskId = tasks.rows[tasks.selected]?.['task_id'];
  if (OPEN.has(key) && typeof taskId === 'string') {
    return { view, wish: { kind: 'story', taskId } };
  }
  const selected = moved(tasks.selected, key, tasks.rows.length);
  return { view: { ...view, tasks: { ...tasks, selected } } };
}

function inOverview(view: View, key: string, { queues, workers }: Rows): Pressed {
  const refresh = { kind: 'refresh' } as const;
  if (key === 's') {
    const queueSort = next(QUEUE_SORTS, view.queueSort);
    return { view: { ...view, queueSort, selected: 0 }, wish: refresh };
  }
  if (key === 'w') {
    const workerSort = next(WORKER_SORTS, view.workerSort);
    return { view: { ...view, workerSort, selected: queues.length }, wish: refresh };
  }
  if (OPEN.has(key)) return { view, wish: openedRow(view.selected, queues, workers) };
  return { view: { ...view, selected: moved(view.selected, key, queues.length + workers.length) } };
}

function openedRow(selected: number, queues: readonly Fields[], workers: readonly Fields[]) {
  const queue = queues[selected]?.['queue'];
  if (typeof queue === 'string') return { kind: 'queue', queue } as const;
  const worker = workers[selected - queues.length];
  if (worker === undefined) return undefined;
  const leases = worker['leases'] as string[];
  return { kind: 'worker', workerId: String(worker['worker_id']), leases } as const;
}

function moved(selected: number, key: string, count: number): number {
  const steps: Readonly<Record<string, number>> = { up: -1, k: -1, down: 1, j: 1 };
  return Math.max(0, Math.min(count - 1, selected + (steps[key] ?? 0)));
}

const next = (sorts: readonly string[], now: string): string =>
  sorts[(sorts.indexOf(now) + 1) % sorts.length] as string;
