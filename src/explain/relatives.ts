// Owns the sentences about the tasks that a redrive connects with this one: how the origin ended,
// and what became of the task that was made from this one.

import { formatTaskId } from '../model/ids.ts';
import type { LogRecord, TaskCreated } from '../model/records.ts';
import type { Relative } from '../model/response.ts';
import { attemptsOf } from './attempts.ts';
import type { Statement } from './explanation.ts';
import { reasonText, recordsOf, type Teller } from './names.ts';
import type { Run } from './overlaps.ts';
import { lostOf } from './restores.ts';
import { type EndRecord, overBy } from './summary.ts';

/** A relative's own records, as far as the log still has them: ascending, its TaskCreated first. */
export interface RelativeStory extends Pick<Relative, 'role' | 'taskId' | 'state'> {
  readonly records: readonly LogRecord[];
  /** Of an origin: starts on a restored log before its redrive was made. */
  readonly restores?: readonly number[] | undefined;
}

/**
 * @param restored starts on a restored log since the task that is explained was made
 * @returns the attempts of a relative, none when its records are gone. Whether an heir was redriven
 *   in a time that is lost is left to its own story.
 */
export function runOf(
  { role, taskId, records, restores = [] }: RelativeStory,
  restored: readonly number[],
): Run {
  const [created] = records;
  const attempts = created?.type === 'TaskCreated' ? attemptsOf(created, records) : [];
  const over = overBy(records);
  if (role === 'origin') return { taskId, attempts, ...lostOf(restores, over) };
  const since = restored.filter((seq) => seq > taskId);
  return { taskId, attempts, ...lostOf(since, over), redrivesLost: [] };
}

export function originStatement(
  created: TaskCreated,
  origin: RelativeStory | undefined,
  isKept: boolean,
  tell: Teller,
): Statement[] {
  const { originTaskId, seq } = created;
  if (originTaskId === undefined) return [];
  const name = formatTaskId(originTaskId);
  const end = origin === undefined ? undefined : overBy(origin.records);
  const ended =
    end === undefined
      ? 'which had ended as FAILED or DEAD'
      : `which had ended as ${end.type === 'TaskDead' ? 'DEAD' : 'FAILED'} at ${tell.at(end.at)} ` +
        `(record ${end.seq}): ${endReason(end)}`;
  const text =
    `${formatTaskId(seq)} is a redrive: it has the content of ${name}, ${ended}. ` +
    `${lostText(name, origin?.restores ?? [], end)}${toldWhere(name, isKept)}`;
  const records = recordsOf(originTaskId, end?.seq, ...(origin?.restores ?? []), seq);
  return [{ topic: 'origin', record: seq, text, records }];
}

function lostText(name: string, restored: readonly number[], over: EndRecord | undefined): string {
  const { restores, redrivesLost } = lostOf(restored, over);
  const given = restores.length === 0 ? [] : ['given out'];
  const redriven = redrivesLost.length === 0 ? [] : ['redriven as another task'];
  const what = [...given, ...redriven].join(' or ');
  if (what === '') return '';
  return (
    `The log was restored from a copy between the submit of ${name} and this redrive: whether ` +
    `${name} was ${what} in the time that is lost, no record tells. `
  );
}

/** A task that is forgotten has no story any more. The heir is kept for as long as its origin. */
const toldWhere = (name: string, isKept: boolean): string =>
  isKept
    ? `What was done as ${name} is told by \`leasehold explain ${name}\`.`
    : `${name} is forgotten by now: what was done as ${name}, only an archive can tell ` +
      '(--archive-dir).';

function endReason(end: EndRecord): string {
  if (end.type === 'TaskFailed') return reasonText(end.failureReason);
  return end.type === 'TaskDead' ? reasonText(end.reason) : 'it was complete';
}

export function heirStatement(
  redrivenAs: number | undefined,
  heir: RelativeStory | undefined,
  tell: Teller,
): Statement[] {
  if (redrivenAs === undefined) return [];
  const name = formatTaskId(redrivenAs);
  const [created] = heir?.records ?? [];
  const when = created === undefined ? '' : ` at ${tell.at(created.at)}`;
  const stands = heir === undefined ? '' : ` It is ${heir.state} now.`;
  const told = toldWhere(name, true);
  const text = `The task was redriven${when}: ${name} has its content.${stands} ${told}`;
  return [{ topic: 'heir', record: redrivenAs, text, records: recordsOf(redrivenAs) }];
}
