// Owns the explanation as a page of plain text for a terminal. It shows what explanation.ts holds,
// and folds what nobody would read: long rows of heartbeats and hundreds of attempts.

import { formatTaskId } from '../model/ids.ts';
import { dayText, durationText, timeText } from '../model/time-text.ts';
import type {
  ExplainedRecord,
  ExplainedStart,
  Explanation,
  Statement,
  Topic,
} from './explanation.ts';
import { gantt } from './page-chart.ts';

const COLUMNS = 100;
/** Of so many heartbeats in a row the first and the last are shown. */
const BEATS_SHOWN = 4;

/**
 * @returns the page, each line at most 100 columns unless a word is longer, with a last
 * newline.
 */
export function explanationText(given: Explanation): string {
  const lines = [
    ...header(given),
    ...section('Records', recordLines(given)),
    ...section('Attempts', gantt(given)),
    ...section(
      'Why',
      told(given, (topic) => topic !== 'overlap' && topic !== 'effect'),
    ),
    ...section('At the same time', atTheSameTime(given)),
    ...section(
      'Effects',
      told(given, (topic) => topic === 'effect'),
    ),
    ...section(`Now (${timeText(given.now.at, given.createdAt)})`, now(given)),
  ];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

function header(given: Explanation): string[] {
  const count = given.records.length + given.recordsLeftOut;
  const parts = [formatTaskId(given.taskId), `queue ${given.queue}`, given.state];
  if (given.originTaskId !== undefined)
    parts.push(`redrive of ${formatTaskId(given.originTaskId)}`);
  return [
    parts.join(' · '),
    ...wrap(given.summary, 0),
    ...wrap(
      `The log has ${count === 1 ? '1 record' : `${count} records`} of it; numbers in brackets ` +
        `name those that a statement rests on. ` +
        `Times are coordinator time in UTC, ${dayText(given.createdAt)} unless they say otherwise.`,
      0,
    ),
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];

/** Records and starts by their numbers; letters lead to the rules below. */
function recordLines(given: Explanation): string[] {
  const rules = [...new Set(given.records.map(ruleLine))];
  const rows: Row[] = [
    ...fold(given.records).map((entry) => recordRow(entry, given, rules)),
    ...given.starts.map((start) => startRow(start, given)),
  ].toSorted((a, b) => a.seq - b.seq);
  const width = (pick: (row: Row) => string): number =>
    rows.reduce((most, row) => Math.max(most, pick(row).length), 0);
  const seq = width((row) => String(row.seq));
  const time = width((row) => row.time);
  // A start has no change of state; its longer name may run into that column.
  const type = width((row) => (row.change === '' ? '' : row.type));
  const change = width((row) => row.change);
  return [
    ...rows.map((row) => {
      const head =
        `  ${String(row.seq).padStart(seq)}  ${row.time.padStart(time)}  ` +
        `${row.rule}  ${`${row.type.padEnd(type)}  ${row.change}`.padEnd(type + change + 2)}  `;
      return cutLine(head + row.text);
    }),
    '',
    ...rules.flatMap((rule, index) => wrap(`${letter(index)}  ${rule}`, 5, 2)),
  ];
}

/** A record stays one line: what is cut off stands in full in the JSON, and a reason under Why. */
const cutLine = (line: string): string =>
  line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line;

interface Row {
  readonly seq: number;
  readonly time: string;
  readonly rule: string;
  readonly type: string;
  readonly change: string;
  readonly text: string;
}

const ruleLine = ({ before, after, type, rule }: ExplainedRecord): string =>
  `${type}, ${change(before, after)}: ${rule}`;
const letter = (index: number): string => String.fromCharCode(97 + index);
const change = (before: string, after: string): string =>
  before === 'NONE' ? `new → ${after}` : before === after ? before : `${before} → ${after}`;

/** A record, or what stands for a row of heartbeats that are not shown. */
interface Entry {
  readonly record: ExplainedRecord;
  readonly folded: number;
}

function fold(records: readonly ExplainedRecord[]): Entry[] {
  const entries: Entry[] = [];
  let run: ExplainedRecord[] = [];
  const flush = (): void => {
    if (run.length <= BEATS_SHOWN) {
      entries.push(...run.map((record) => ({ record, folded: 0 })));
    } else {
      const [first, second] = run as [ExplainedRecord, ExplainedRecord];
      entries.push({ record: first, folded: 0 }, { record: second, folded: run.length - 2 });
      entries.push({ record: run.at(-1) as ExplainedRecord, folded: 0 });
    }
    run = [];
  };
  for (const record of records) {
    if (record.type === 'LeaseExtended') run.push(record);
    else {
      flush();
      entries.push({ record, folded: 0 });
    }
  }
  flush();
  return entries;
}

function recordRow({ record, folded }: Entry, given: Explanation, rules: readonly string[]): Row {
  const { seq, type, before, after } = record;
  const shown = {
    seq,
    type,
    change: change(before, after),
    rule: letter(rules.indexOf(ruleLine(record))),
  };
  if (folded > 0) return { ...shown, time: '⋮', text: `${folded} heartbeats` };
  return { ...shown, time: timeText(record.at, given.createdAt), text: record.text };
}

const startRow = (start: ExplainedStart, given: Explanation): Row => ({
  seq: start.seq,
  time: timeText(start.at, given.createdAt),
  rule: ' ',
  type: 'CoordinatorStarted',
  change: '',
  text:
    start.lastAliveAt === undefined
      ? ''
      : `down for ${durationText(start.at - start.lastAliveAt)} at most`,
});

function told(given: Explanation, wanted: (topic: Topic) => boolean): string[] {
  return given.statements
    .filter(({ topic }) => wanted(topic))
    .flatMap((statement) => bullet(`${statement.text} ${cited(statement)}`));
}

const CITED_MAX = 12;
function cited({ records }: Statement): string {
  const shown = records.length > CITED_MAX ? [...records.slice(0, CITED_MAX - 1), '…'] : records;
  return `[${shown.join(', ')}]`;
}

function atTheSameTime(given: Explanation): string[] {
  const lines = told(given, (topic) => topic === 'overlap');
  if (lines.length > 0 || given.attempts.length < 2) return lines;
  return bullet(
    'No overlap shows: each attempt was reported, in time or late, before the next one began, ' +
      'and a worker that keeps the protocol has stopped when it reports.',
  );
}

function now({ now: standing }: Explanation): string[] {
  return [...standing.facts.flatMap((fact) => bullet(fact)), ...bullet(`Next: ${standing.next}`)];
}

const bullet = (text: string): string[] => wrap(`- ${text}`, 4, 2);

/**
 * Breaks a text at spaces; `hanging` columns before each line but the first, `first` before
 * that.
 */
function wrap(text: string, hanging: number, first = 0): string[] {
  const lines: string[] = [];
  let line = ' '.repeat(first);
  let empty = true;
  for (const word of text.split(' ')) {
    if (!empty && line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = ' '.repeat(hanging);
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  return [...lines, line];
}
