// Owns the sentences about effects that may have happened more than once: what the records show,
// what they cannot show, and under which other tasks the same content may have had its effect.

import { formatTaskId } from '../model/ids.ts';
import type { TaskCreated } from '../model/records.ts';
import type { ExplainedAttempt, Statement } from './explanation.ts';
import { attemptsText, listText, nameText, plural, recordsOf } from './names.ts';
import type { Run } from './overlaps.ts';
import { byWhatIsLeft, EFFECT_LACKS, restoresOf } from './restores.ts';

/** How often the task may have taken effect, as far as its own records and relatives tell. */
export function effectStatements(
  created: TaskCreated,
  own: Run,
  redrivenAs: number | undefined,
  relatives: readonly Run[],
): Statement[] {
  const { attempts, restores } = own;
  const tokens = attempts.map(({ leaseId }) => leaseId);
  const elsewhere = elsewhereText(created, own, redrivenAs, relatives);
  const records = recordsOf(created.seq, created.originTaskId);
  const told = ownText(attempts, restores);
  const text = restores.length === 0 ? told : `${told} ${EFFECT_LACKS}`;
  const lacks = [...own.redrivesLost, ...restoresOf(relatives)];
  const behind = tokens.length === 0 ? records : tokens;
  return [
    { topic: 'effect', text, records: recordsOf(...behind, ...restores) },
    { topic: 'effect', text: elsewhere, records: recordsOf(...records, ...lacks) },
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
  own: Run,
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
        `top${sumText(own, ids, relatives)}. `;
  const repeated =
    requestId === undefined
      ? 'It was submitted without a request id, so a repeated submit would have made another task. '
      : `It was submitted under request id ${nameText(requestId)}: a submit repeated under that ` +
        'id is answered with this task and leaves no record, so it made no second one, however ' +
        'often it came. Under another id, or none, or after a task under this id was forgotten ' +
        '(retention) or lost (a restore), it would have made another task. ';
  return (
    `${redrive}${lackText(own, relatives)}` +
    `${redrive !== '' && requestId === undefined ? '' : repeated}` +
    'Another task may carry the same content: find it by the payloads that ' +
    `\`leasehold log --json --from 1 --type TaskCreated --queue ${queue}\` prints.`
  );
}

/** What restores took besides the task's own attempts, of which it is said where they are told. */
function lackText(own: Run, relatives: readonly Run[]): string {
  const isTold = own.restores.length > 0;
  const isNew = !isTold && relatives.some(({ restores }) => restores.length > 0);
  const redriven = [own, ...relatives].filter(({ redrivesLost }) => redrivesLost.length > 0);
  const names = listText(redriven.map(({ taskId }) => formatTaskId(taskId)));
  const redrives =
    redriven.length === 0
      ? ''
      : `Whether ${names} was redriven as another task in the time that a restore lost, nobody ` +
        'can tell: what was done as such a task comes on top, too. ';
  return `${isNew ? `${EFFECT_LACKS} ` : ''}${redrives}`;
}

/** The sum over this task and its neighbours by redrive, where the records of all are known. */
function sumText(own: Run, ids: readonly number[], relatives: readonly Run[]): string {
  const found = ids.map((taskId) => relatives.find((one) => one.taskId === taskId));
  const runs = [own, ...found.filter((run) => run !== undefined)];
  if (runs.length <= ids.length) return '';
  const times = runs.reduce((sum, { attempts }) => sum + timesOf(attempts), 0);
  const names = listText([...ids, own.taskId].toSorted((a, b) => a - b).map(formatTaskId));
  const isLess = runs.some(({ restores }) => restores.length > 0);
  const left = isLess ? 'by the records that are left, ' : '';
  return `: ${left}${names} together may have had the effect up to ${plural(times, 'time')}`;
}

/** An attempt that was given back counts for none. */
const timesOf = (attempts: readonly ExplainedAttempt[]): number =>
  attempts.filter(({ ended }) => ended !== 'released').length;

/** How often another task may have had its effect. */
function timesText({ attempts, restores }: Run): string {
  const times = timesOf(attempts);
  const records = restores.length === 0 ? 'its records' : 'the records that are left';
  if (times === 0) {
    return restores.length === 0 ? 'which no worker has kept so far' : `never by ${records}`;
  }
  return `${times === 1 ? 'once' : plural(times, 'time')} at most by ${records}`;
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
