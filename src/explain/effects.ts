// Owns the sentences about effects that may have happened more than once: what the records show,
// what they cannot show, and under which other tasks the same content may have had its effect.

import { formatTaskId } from '../model/ids.ts';
import type { TaskCreated } from '../model/records.ts';
import type { ExplainedAttempt, Statement } from './explanation.ts';
import { attemptsText, listText, nameText, plural, recordsOf } from './names.ts';
import type { Run } from './overlaps.ts';
import { byWhatIsLeft, EFFECT_LACKS } from './restores.ts';

/** How often the task may have taken effect, as far as its own records and relatives tell. */
export function effectStatements(
  created: TaskCreated,
  attempts: readonly ExplainedAttempt[],
  redrivenAs: number | undefined,
  relatives: readonly Run[],
  restores: readonly number[],
): Statement[] {
  const tokens = attempts.map(({ leaseId }) => leaseId);
  const elsewhere = elsewhereText(created, timesOf(attempts), redrivenAs, relatives);
  const records = recordsOf(created.seq, created.originTaskId);
  const own = ownText(attempts, restores);
  const text = restores.length === 0 ? own : `${own} ${EFFECT_LACKS}`;
  const behind = tokens.length === 0 ? records : tokens;
  return [
    { topic: 'effect', text, records: recordsOf(...behind, ...restores) },
    { topic: 'effect', text: elsewhere, records },
  ];
}

function ownText(attempts: readonly ExplainedAttempt[], restores: readonly number[]): string {
  if (attempts.length === 0) {
    return byWhatIsLeft(restores, 'None by this task: it was never given to a worker.');
  }
  const back = attempts.filter(({ ended }) => ended === 'released');
  const count = timesOf(attempts);
  const happened = byWhatIsLeft(restores, happenedText(count, back));
  const tokens = attempts.map(({ leaseId }) => String(leaseId));
  const shown = tokens.length > 4 ? [tokens[0], tokens[1], '…', tokens.at(-1)] : tokens;
  return [
    `The log shows who held the task, not what was done with it. ${happened}`,
    ...effectTexts(attempts.filter(({ ended }) => ended !== 'released')),
    attempts.length === 1
      ? `Its fencing token is ${tokens[0]}.`
      : `A store can refuse all but the newest by the fencing tokens ${shown.join(' < ')}.`,
  ].join(' ');
}

/** @param back the attempts that were given back, which count for nothing. */
function happenedText(count: number, back: readonly ExplainedAttempt[]): string {
  const given = attemptsText(back.map(({ attempt }) => attempt));
  if (count === 0) {
    const was = back.length === 1 ? 'was' : 'were';
    return `The effect should not have happened: ${given} ${was} given back as unharmed.`;
  }
  const times =
    count === 1 ? 'at most once, in the one attempt' : `up to ${count} times, once in each attempt`;
  const less = back.length === 0 ? '' : `, not counting ${given}, given back as unharmed`;
  return `So the effect may have happened ${times}${less}.`;
}

/** Where the same content may have had its effect besides: this task's own records do not tell. */
function elsewhereText(
  created: TaskCreated,
  ownTimes: number,
  redrivenAs: number | undefined,
  relatives: readonly Run[],
): string {
  const { originTaskId, requestId, queue } = created;
  const ids = [originTaskId, redrivenAs].filter((id) => id !== undefined);
  const others = ids.map((taskId) => {
    const run = relatives.find((one) => one.taskId === taskId);
    return `${formatTaskId(taskId)}${run === undefined ? '' : ` (${timesText(run)})`}`;
  });
  const redrive =
    others.length === 0
      ? ''
      : `Whatever was done as ${listText(others)}, with the same content by redrive, comes on ` +
        `top${sumText(created.seq, ownTimes, ids, relatives)}. `;
  const repeated =
    requestId === undefined
      ? 'It was submitted without a request id, so a repeated submit would have made another task. '
      : `It was submitted under request id ${nameText(requestId)}: a submit repeated under that ` +
        'id is answered with this task and leaves no record, so it made no second one, however ' +
        'often it came. Under another id, or none, or after a task under this id was forgotten ' +
        '(retention), it would have made another task. ';
  return (
    `${redrive}${redrive !== '' && requestId === undefined ? '' : repeated}` +
    'Another task may carry the same content: find it by the payloads that ' +
    `\`leasehold log --json --from 1 --type TaskCreated --queue ${queue}\` prints.`
  );
}

/** The sum over this task and its neighbours by redrive, where the records of all are known. */
function sumText(
  own: number,
  ownTimes: number,
  ids: readonly number[],
  relatives: readonly Run[],
): string {
  const runs = ids.map((taskId) => relatives.find((one) => one.taskId === taskId));
  if (runs.includes(undefined)) return '';
  const times = runs.reduce((sum, run) => sum + timesOf(run?.attempts ?? []), ownTimes);
  const names = listText([...ids, own].toSorted((a, b) => a - b).map(formatTaskId));
  return `: ${names} together may have had the effect up to ${plural(times, 'time')}`;
}

/** An attempt that was given back counts for none. */
const timesOf = (attempts: readonly ExplainedAttempt[]): number =>
  attempts.filter(({ ended }) => ended !== 'released').length;

/** How often another task may have had its effect. */
function timesText({ attempts }: Run): string {
  const times = timesOf(attempts);
  if (times === 0) return 'which no worker has kept so far';
  return `${times === 1 ? 'once' : plural(times, 'time')} at most by its records`;
}

/** What attempts left behind, those alike in one sentence. */
function effectTexts(attempts: readonly ExplainedAttempt[]): string[] {
  const alike = new Map<string, number[]>();
  for (const attempt of attempts) {
    const text = effectText(attempt);
    alike.set(text, [...(alike.get(text) ?? []), attempt.attempt]);
  }
  return [...alike].map(([text, numbers]) => {
    const names = attemptsText(numbers);
    return numbers.length === 1 ? `A${names.slice(1)} ${text}` : `Each of the ${names} ${text}`;
  });
}

function effectText({ ended, evidence, report }: ExplainedAttempt): string {
  switch (ended) {
    case 'failed':
      return 'failed, and may have had its effect before.';
    case 'completed':
      return 'was accepted as complete.';
    case 'released':
      return 'was given back as unharmed.';
    default:
  }
  const over = ended === 'killed' ? 'although the task was killed' : 'although its report was late';
  if (report?.verb === 'complete') return `says that it was done, ${over}.`;
  if (report?.verb === 'fail')
    return 'says, late, that it failed, and may have had its effect before.';
  if (ended === undefined) {
    return evidence === 'none'
      ? 'has its lease still, and shows nothing but its grant so far.'
      : 'has its lease still, and may have had its effect already.';
  }
  return evidence === 'none'
    ? 'shows nothing but its grant: perhaps it never ran.'
    : 'may have had its effect.';
}
