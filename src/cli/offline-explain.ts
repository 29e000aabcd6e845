// Owns `explain --data-dir`: the same story as from a server, read from the log itself, as of the
// newest record or of any earlier one.

import type { State } from '../core/state.ts';
import { NONE } from '../core/task-table.ts';
import type { Explanation } from '../explain/explanation.ts';
import { explanationJson } from '../explain/page-json.ts';
import { explanationSvg } from '../explain/page-svg.ts';
import { explanationText } from '../explain/page-text.ts';
import type { DirectoryReader } from '../log/lmdb-reader.ts';
import type { LogReader } from '../log/log.ts';
import { replay } from '../loop/replay.ts';
import { formatTaskId } from '../model/ids.ts';
import type { LogRecord } from '../model/records.ts';
import { notRemembered } from '../model/refusal.ts';
import { digestText } from '../reader/digest-text.ts';
import { findingWhole, isRemoved, removedText, storyIn } from '../reader/story-at.ts';
import { CliError, EXIT, type Io, say } from './command.ts';
import {
  dataDirOf,
  type OfflineOptions,
  removedText as orRemovedText,
  stateAt,
  untilOf,
  withLog,
} from './offline.ts';
import { writeSvg } from './svg-file.ts';
import { columnsOf } from './words.ts';

export interface OfflineExplainOptions extends OfflineOptions {
  readonly svg?: string;
}

export async function explainOffline(
  taskId: number,
  options: OfflineExplainOptions,
  io: Io,
): Promise<void> {
  const { svg, json } = options;
  const told = await withLog(dataDirOf(options, io), async (log) => {
    const until = untilOf(options, log);
    if (isRemoved(log, until)) throw new CliError(EXIT.usage, `--at: ${removedText(until)}`);
    const state = await stateOf(log, taskId, until, io);
    return tell(log, state, taskId);
  });
  if (svg !== undefined) writeSvg(svg, explanationSvg(told), io);
  if (json === true) say(io.stdout, explanationJson(told).replace(/\n$/, ''));
  else if (svg === undefined)
    say(io.stdout, explanationText(told, columnsOf(io)).replace(/\n$/, ''));
}

/** The state in which the task is still remembered, where its history is in the log. */
async function stateOf(log: LogReader, taskId: number, until: number, io: Io): Promise<State> {
  const state = await stateAt(log, until, io);
  if (state.tasks.find(taskId) !== NONE || log.get(taskId)?.type !== 'TaskCreated') return state;
  let by = 0;
  const isEnough = ({ tasks }: State, { type, seq }: LogRecord): boolean => {
    if (type === 'HistoryForgotten' && seq > taskId && tasks.find(taskId) === NONE) by = seq;
    return by !== 0;
  };
  replay(log, { digestText, until, isEnough });
  if (by === 0) return state;
  const before = `this is its story as of record ${by - 1}`;
  say(io.stderr, `${formatTaskId(taskId)} was forgotten by record ${by}; ${before}.`);
  return stateAt(log, by - 1, io);
}

function tell(log: DirectoryReader, state: State, taskId: number): Explanation {
  const told = storyIn(log, { state, isWhole: isWhole(log, state.lastSeq) }, taskId);
  if (told !== undefined) return told;
  const text = `${notRemembered(taskId)} after record ${state.lastSeq}`;
  throw new CliError(EXIT.failed, `leasehold: ${text}${orRemovedText(log, taskId)}`);
}

/** Asked after the state was read: a server may have removed something meanwhile. */
function isWhole(log: DirectoryReader, until: number): boolean {
  const steps = findingWhole(log, until, log.removedAt);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}
