// Owns a page of the list of tasks, from the oldest on or from the newest on.

import type { TasksRequest } from '../model/request.ts';
import type { TaskList, TaskSummary } from '../model/response.ts';
import { type Context, recordAt } from './context.ts';
import { NONE } from './task-table.ts';
import { summary } from './views.ts';

/** A list looks at so many tasks at most: a page may be short and still say where to go on. */
const SCANNED_MAX = 50_000;

export function listTasks(context: Context, request: TasksRequest, now: number): TaskList {
  const { state } = context;
  if (request.requestId !== undefined) return findByRequestId(context, request, now);
  const isDown = request.order === 'newest';
  const found: TaskSummary[] = [];
  let scanned = 0;
  for (const row of rowsOf(context, request, now)) {
    const id = state.tasks.id(row);
    if (found.length === request.limit || scanned === SCANNED_MAX) {
      return { kind: 'tasks', tasks: found, next: isDown ? id + 1 : id - 1 };
    }
    scanned += 1;
    if (matches(context, request, row)) found.push(summary(context, row));
  }
  return { kind: 'tasks', tasks: found, next: null };
}

/** The rows after the place that the request names, in its order, none older than it allows. */
function* rowsOf(context: Context, request: TasksRequest, now: number): Generator<number> {
  const { tasks } = context.state;
  const { after, order, maxAgeMs } = request;
  const before = maxAgeMs === undefined ? 0 : lastBefore(context, now - maxAgeMs);
  if (order !== 'newest') {
    yield* tasks.rowsAfter(Math.max(after, before));
    return;
  }
  for (const row of tasks.rowsBefore(after === 0 ? Number.POSITIVE_INFINITY : after)) {
    if (tasks.id(row) <= before) return;
    yield row;
  }
}

/**
 * Tasks are numbered in the order of their submits, and coordinator time never runs backward: the
 * border is found by halving, without a look at each task.
 * @returns a number up to which all tasks were submitted before the time, and no later one was
 */
function lastBefore(context: Context, time: number): number {
  const { tasks, lastSeq } = context.state;
  let low = 0;
  let high = lastSeq;
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    const row = firstOf(tasks.rowsAfter(middle));
    const id = row === NONE ? 0 : tasks.id(row);
    if (row === NONE || recordAt(context, id, 'TaskCreated').at >= time) high = middle;
    else low = id;
  }
  return low;
}

function firstOf(rows: Generator<number>): number {
  const first = rows.next();
  return first.done === true ? NONE : first.value;
}

function findByRequestId(context: Context, request: TasksRequest, now: number): TaskList {
  const { state } = context;
  const { requestId = '', after, order, maxAgeMs } = request;
  const row = state.submittedUnder(state.digestText(requestId));
  const isShown = row !== NONE && matches(context, request, row);
  const none: TaskList = { kind: 'tasks', tasks: [], next: null };
  if (!isShown) return none;
  const id = state.tasks.id(row);
  const isAfter = order === 'newest' ? after === 0 || id < after : id > after;
  const task = summary(context, row);
  const isYoung = maxAgeMs === undefined || task.createdAt >= now - maxAgeMs;
  return isAfter && isYoung ? { ...none, tasks: [task] } : none;
}

function matches({ state }: Context, request: TasksRequest, row: number): boolean {
  if (request.state !== undefined && state.tasks.state(row) !== request.state) return false;
  return request.queue === undefined || state.queueOf(row).name === request.queue;
}
