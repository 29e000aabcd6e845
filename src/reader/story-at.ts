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

/** @returns undefined: no such task is in this state. @throws LogCorrupt */
export function storyIn(log: LogReader, state: State, taskId: number): Explanation | undefined {
  const row = state.tasks.find(taskId);
  if (row === NONE) return undefined;
  const context = { state, knobs: PAST_KNOBS, read: (seq: number) => log.get(seq) };
  const stands = standing(context, row, state.lastAt, {});
  return explain({ ...readStory(log, stands), advisory: false });
}

/**
 * @param pause called every few thousand records: lets others run. Its false gives up.
 * @returns undefined: there was no such task after that record, or it was given up.
 * @throws LogCorrupt
 */
export async function storyAt(
  log: LogReader,
  taskId: number,
  until: number,
  pause: () => Promise<boolean>,
): Promise<Explanation | undefined> {
  const steps = replaying(log, { digestText, until });
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return storyIn(log, step.value.state, taskId);
    if (!(await pause())) return undefined;
  }
}
