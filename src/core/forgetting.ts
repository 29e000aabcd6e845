// Owns what it means that history is forgotten: which tasks a HistoryForgotten takes out of the
// state (R32), and how far the next one may reach. It forgets only tasks that have ended: a task
// that may still run is never dropped. The records stay on the disk a while longer:
// loop/removal.ts decides which segments are rewritten without them, and log/segments/rewrite.ts
// rewrites them.

import type { CoreKnobs } from '../model/knobs.ts';
import { CLOCK_JUMP_MS } from '../model/limits.ts';
import type { HistoryForgotten, LogRecord } from '../model/records.ts';
import type { EndedLine } from './ended-tasks.ts';
import { forgetWeight } from './log-bytes.ts';
import type { State } from './state.ts';
import { NONE } from './task-table.ts';

/** At most so many tasks leave with one record. */
export const FORGOTTEN_MAX = 10_000;

/** Ended tasks are forgotten in strides, at most so often. */
const PAUSE_MS_MIN = 200;
/** So many strides to a retention: a task is remembered for up to a hundredth longer. */
const STRIDES = 100;

/**
 * @returns how long to wait after one HistoryForgotten before the next. These records stay in the
 * log for good. So one record covers many due tasks, and the wait is short only when more tasks
 * are due than one record takes.
 */
export function forgetPauseMs(knobs: CoreKnobs, isMoreDue: boolean): number {
  const kept = [knobs.retentionMs, knobs.retentionFailedMs].filter((ms) => ms > 0);
  return isMoreDue ? PAUSE_MS_MIN : Math.max(PAUSE_MS_MIN, Math.min(...kept) / STRIDES);
}

/**
 * Whether the clock may be wrong at this start: then nothing is forgotten for an hour (R6). The log
 * tells it, not the process that saw the clock, for a restart must not end the caution. The records
 * before the start may be removed from the log. The jump then seems longer than it was, and the
 * caution is unneeded, not missing.
 */
export const isJump = ({ lastAt }: State, { type, at }: LogRecord): boolean =>
  type === 'CoordinatorStarted' && lastAt > 0 && at - lastAt > CLOCK_JUMP_MS;

/**
 * Removes every ended task up to the numbers, except a redriven task whose origin is remembered.
 */
export function forgetTasks(state: State, record: HistoryForgotten): void {
  state.completedThrough = record.completedThrough;
  state.failedThrough = record.failedThrough;
  Object.assign(state.totals, record.totals);
  take(state, state.ended.completed, record.completedThrough);
  take(state, state.ended.failed, record.failedThrough);
  // Forgetting an origin frees the task that was redriven from it, and that task may itself be an
  // origin. So the loop goes on until no further task leaves.
  for (let before = -1; before !== state.ended.held.size; ) {
    before = state.ended.held.size;
    for (const row of state.ended.held) {
      if (isHeld(state, row)) continue;
      state.ended.held.delete(row);
      remove(state, row);
    }
  }
}

function take(state: State, line: EndedLine, through: number): void {
  for (;;) {
    const row = line.takeThrough(state.tasks, through);
    if (row === NONE) return;
    if (isHeld(state, row)) state.ended.held.add(row);
    else remove(state, row);
  }
}

function isHeld(state: State, row: number): boolean {
  // A redrive that is repeated is answered with the new task and its state (R24). So the new task
  // is remembered for as long as its origin.
  const origin = state.originOf.get(state.tasks.id(row));
  return origin !== undefined && state.tasks.find(origin) !== NONE;
}

function remove(state: State, row: number): void {
  const { tasks } = state;
  const id = tasks.id(row);
  const { counts } = state.queueOf(row);
  const index = tasks.stateIndex(row);
  counts[index] = (counts[index] as number) - 1;
  state.requestIds.removeIfPresent(row);
  state.histories.delete(row);
  state.redrivenAs.delete(id);
  const origin = state.originOf.get(id);
  if (origin !== undefined) {
    state.originOf.delete(id);
    // The log no longer has the origin's records, so replay cannot tell whether the origin still
    // held this task here. Both are forgotten by the end of the log; until then the task's
    // remaining records are ignored.
    if (state.removed.has(origin)) state.removed.add(id);
    if (tasks.find(origin) === NONE) state.redrivenAs.delete(origin);
  }
  forgetWeight(state, row);
  state.contracts.leave(tasks.contract(row));
  tasks.remove(row);
}

/**
 * What may be forgotten now (R32).
 * @param atOf reads the time of a record
 * @returns undefined when nothing is due.
 */
export function forgotten(
  state: State,
  knobs: CoreKnobs,
  now: number,
  atOf: (record: number) => number,
): HistoryForgotten | undefined {
  const { ended } = state;
  const completed = due(state, ended.completed, now, knobs.retentionMs, FORGOTTEN_MAX, atOf);
  const left = FORGOTTEN_MAX - completed.tasks;
  const failed = due(state, ended.failed, now, knobs.retentionFailedMs, left, atOf);
  if (completed.tasks + failed.tasks === 0) return undefined;
  return {
    type: 'HistoryForgotten',
    seq: 0,
    at: now,
    prev: 0,
    completedThrough: Math.max(completed.through, state.completedThrough),
    failedThrough: Math.max(failed.through, state.failedThrough),
    totals: { ...state.totals },
  };
}

/** How far one line may be forgotten: the newest end record older than the retention. */
function due(
  state: State,
  line: EndedLine,
  now: number,
  retentionMs: number,
  limit: number,
  atOf: (record: number) => number,
): { readonly through: number; readonly tasks: number } {
  const isDue = (record: number): boolean => atOf(record) < now - retentionMs;
  const first = line.head;
  if (retentionMs === 0 || first === NONE || !isDue(state.tasks.endRecord(first))) {
    return { through: 0, tasks: 0 };
  }
  const ends: number[] = [];
  for (let row = first; row !== NONE && ends.length < limit; row = state.tasks.next(row)) {
    ends.push(state.tasks.endRecord(row));
  }
  // Times ascend with the numbers, so the last one that is due is found by halving.
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isDue(ends[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return { through: ends[low - 1] ?? 0, tasks: low };
}
