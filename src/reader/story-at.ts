// Owns the story of a task as it was after an earlier record: the log is replayed up to that
// record, and the task is explained from that state. No coordinator is asked, so the story says
// nothing of workers that ask for tasks.

import type { State } from '../core/state.ts';
import { NONE } from '../core/task-table.ts';
import { standing } from '../core/views.ts';
import { explain } from '../explain/explain-task.ts';
import type { Explanation } from '../explain/explanation.ts';
import type { LogReader } from '../log/log.ts';
import { replaying } from '../loop/replay.ts';
import { type CoreKnobs, DURATION_MAX_MS } from '../model/knobs.ts';
import { digestText } from './digest-text.ts';
import { readStory } from './task-story.ts';

/** What a view of a past state needs of the knobs: what was decided stands in the records. */
const PAST_KNOBS: CoreKnobs = {
  leaseDurationMs: 1,
  heartbeatIntervalMs: 1,
  executionWindowMs: 1,
  maxRetries: 0,
  backoffMs: 0,
  backoffFactor: 1,
  poisonThreshold: 0,
  retentionMs: DURATION_MAX_MS,
  retentionFailedMs: DURATION_MAX_MS,
  answerMaxBytes: 1,
};

/** Many records are read between two steps of what others must not wait for. */
const STEP_RECORDS = 4_096;

/** A state that a log was replayed to. */
export interface PastState {
  readonly state: State;
  /** Whether all tasks are in it that were remembered then. */
  readonly isWhole: boolean;
}

/** @returns undefined: no such task is in this state. @throws LogCorrupt */
export function storyIn(
  log: LogReader,
  { state, isWhole }: PastState,
  taskId: number,
): Explanation | undefined {
  const row = state.tasks.find(taskId);
  if (row === NONE) return undefined;
  const context = { state, knobs: PAST_KNOBS, read: (seq: number) => log.get(seq) };
  const stands = standing(context, row, state.lastAt, {});
  // Tasks that were ahead of it then may be missing in the state by now.
  const known = isWhole ? stands : { ...stands, ahead: undefined, aheadIsMore: false };
  return explain({ ...readStory(log, known), advisory: false });
}

/** Of the records after which a state is asked for: one that the log has had and lacks now. */
export function isRemoved(log: LogReader, seq: number): boolean {
  const end = log.dropped.endOfRange(seq);
  // A restored log never had the numbers that its first start skipped: after each of them, the
  // state is the one before that start.
  return end !== 0 && seq <= end - log.skippedBefore(end + 1);
}

export const removedText = (seq: number): string =>
  `Record ${seq} is forgotten and removed: what was true after it cannot be told.`;

/**
 * Looks for records that forgot tasks after `until`, and whose tasks may be removed by now.
 * @param removedAt how far the log went when history was last removed from it
 * @returns at its end whether the state after `until` can be rebuilt with all of its tasks
 */
export function* findingWhole(
  log: LogReader,
  until: number,
  removedAt: number,
): Generator<void, boolean> {
  // An archive that was begun after a removal may not have come to what had forgotten it.
  if (removedAt > log.lastNumber) return false;
  let records = 0;
  for (const { type } of log.read(until + 1, removedAt)) {
    if (type === 'HistoryForgotten') return false;
    records += 1;
    if (records % STEP_RECORDS === 0) yield;
  }
  return true;
}

export interface PastOf {
  readonly taskId: number;
  /** The record after which the story is told. */
  readonly until: number;
  /** How far the log went when history was last removed from it. */
  removedAt(): number;
}

/**
 * @param pause called every few thousand records: lets others run. Its false gives up.
 * @returns undefined: there was no such task after that record, or it was given up.
 * @throws LogCorrupt
 */
export async function storyAt(
  log: LogReader,
  { taskId, until, removedAt }: PastOf,
  pause: () => Promise<boolean>,
): Promise<Explanation | undefined> {
  const replayed = await inSteps(replaying(log, { digestText, until }), pause);
  if (replayed === undefined) return undefined;
  // After it was read: history may have been removed meanwhile.
  const isWhole = await inSteps(findingWhole(log, until, removedAt()), pause);
  if (isWhole === undefined) return undefined;
  return storyIn(log, { state: replayed.state, isWhole }, taskId);
}

/** @returns undefined: it was given up. */
async function inSteps<T>(
  steps: Generator<unknown, T>,
  pause: () => Promise<boolean>,
): Promise<T | undefined> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (!(await pause())) return undefined;
  }
}
