// Owns `explain --data-dir`: the same story, read from the log itself, as of its newest record or
// of any earlier one.

import { writeFileSync } from 'node:fs';
import { explain } from '../core/explain.ts';
import type { State } from '../core/state.ts';
import { NONE } from '../core/task-table.ts';
import { standing } from '../core/views.ts';
import type { LogReader } from '../log/log.ts';
import { explanationJson } from '../protocol/explanation-json.ts';
import { explanationSvg } from '../protocol/explanation-svg.ts';
import { explanationText } from '../protocol/explanation-text.ts';
import { formatTaskId } from '../protocol/ids.ts';
import { readStory } from '../reader/task-story.ts';
import { CliError, EXIT, type Io, say, usage } from './command.ts';
import {
  dataDirOf,
  OFFLINE_KNOBS,
  type OfflineOptions,
  stateAt,
  untilOf,
  withLog,
} from './offline.ts';

export interface OfflineExplainOptions extends OfflineOptions {
  readonly svg?: string;
}

export async function explainOffline(
  taskId: number,
  options: OfflineExplainOptions,
  io: Io,
): Promise<void> {
  const text = await withLog(dataDirOf(options, io), async (log) => {
    const state = await stateAt(log, untilOf(options, log), io);
    return tell(log, state, taskId, options);
  });
  if (options.svg === undefined) return say(io.stdout, text.replace(/\n$/, ''));
  try {
    writeFileSync(options.svg, text);
  } catch (error) {
    throw usage(`--svg: ${(error as Error).message}`);
  }
}

function tell(
  log: LogReader,
  state: State,
  taskId: number,
  { svg, json }: OfflineExplainOptions,
): string {
  if (state.tasks.find(taskId) === NONE) {
    const id = formatTaskId(taskId);
    throw new CliError(EXIT.failed, `leasehold: there is no task ${id} at record ${state.lastSeq}`);
  }
  const context = { state, knobs: OFFLINE_KNOBS, read: (seq: number) => log.get(seq) };
  const request = { op: 'standing', taskId } as const;
  const stands = standing(context, request, state.lastAt, undefined);
  const told = explain({ ...readStory(log, stands), advisory: false });
  if (svg !== undefined) return explanationSvg(told);
  return json === true ? explanationJson(told) : explanationText(told);
}
