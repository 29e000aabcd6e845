// Owns the explanation as a page of plain text for a terminal of a certain width. The page shows
// the data of explanation.ts and adds nothing. Every page has the same parts in the same order.

import { formatTaskId } from '../model/ids.ts';
import { COLUMNS_DEFAULT, COLUMNS_MAX, COLUMNS_MIN } from '../model/limits.ts';
import { dayText, timeText } from '../model/time-text.ts';
import type { Explanation, Topic } from './explanation.ts';
import { citing, plural } from './names.ts';
import { gantt } from './page-chart.ts';
import { recordLines } from './page-rows.ts';
import { UNBROKEN, wrap } from './wrap.ts';

/**
 * @param columns the width of the terminal
 * @returns the page, which ends with a newline; no line is longer than `columns`, unless a single
 *   word is
 */
export function explanationText(given: Explanation, columns = COLUMNS_DEFAULT): string {
  const width = Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, columns));
  const bullets = (texts: readonly string[]): string[] =>
    texts.flatMap((text) => wrap(`- ${text}`, width, 4, 2));
  const told = (wanted: (topic: Topic) => boolean): string[] =>
    given.statements.filter(({ topic }) => wanted(topic)).map(citing);
  const { now } = given;
  const lines = [
    ...header(given, width),
    ...section('Records', recordLines(given, width)),
    ...section('Attempts', gantt(given, width)),
    ...section('Why', bullets(told((topic) => topic !== 'overlap' && topic !== 'effect'))),
    ...section('At the same time', bullets(told((topic) => topic === 'overlap'))),
    ...section('Effects', bullets(told((topic) => topic === 'effect'))),
    ...section(`Now (${timeText(now.at, given.createdAt)})`, [
      ...bullets(now.facts.map(citing)),
      ...bullets([`Next: ${citing(now.next)}`]),
    ]),
  ];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

function header(given: Explanation, width: number): string[] {
  const count = given.records.length + given.recordsLeftOut;
  const starts = given.starts.length + given.startsLeftOut;
  const between = starts === 0 ? '' : `, besides ${plural(starts, 'start')} of the coordinator`;
  const parts = [formatTaskId(given.taskId), `queue ${given.queue}`, given.state];
  if (given.originTaskId !== undefined)
    parts.push(`redrive of ${formatTaskId(given.originTaskId)}`);
  return [
    parts.join(' · '),
    ...wrap(given.summary, width, 0),
    ...wrap(
      `The log has ${plural(count, 'record')} of it${between}. Numbers in brackets name the ` +
        'records that a statement rests on; ' +
        `\`leasehold log --from N\``.replaceAll(' ', UNBROKEN) +
        ' shows those that are not on this page. ' +
        `Times are coordinator time in UTC, ${dayText(given.createdAt)} unless they say otherwise.`,
      width,
      0,
    ),
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];
