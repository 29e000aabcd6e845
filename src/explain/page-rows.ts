// Owns the table of records on the page: one row for each record. A row that is too long for a
// narrow page goes on below itself and is never cut. Of a long run of heartbeats only the first
// and the last are shown. Also owns the list of rules that the letters in the table stand for.

import { timeText } from '../model/time-text.ts';
import type { ExplainedRecord, ExplainedStart, Explanation } from './explanation.ts';
import { downText, plural } from './names.ts';
import { UNBROKEN, wrap } from './wrap.ts';

/** Of so many heartbeats, or starts, in a row all are shown, of more the first and the last. */
const ALIKE_SHOWN = 4;
const FOLD = '⋮';

interface Row {
  readonly seq: string;
  readonly time: string;
  readonly letter: string;
  readonly text: string;
}

type Line = ExplainedRecord | ExplainedStart;
/** A record of the task, a start of the coordinator, or several of them that are folded. */
type Entry = Line | readonly Line[];

export function recordLines(given: Explanation, columns: number): string[] {
  const entries = [...given.records, ...given.starts].toSorted((a, b) => a.seq - b.seq);
  const rows = fold(entries).map((entry) => rowOf(entry, given));
  const width = (pick: (row: Row) => string): number =>
    rows.reduce((most, row) => Math.max(most, pick(row).length), 0);
  const seq = width((row) => row.seq);
  const time = width((row) => row.time);
  return [
    ...rows.flatMap((row) => {
      const head = `  ${row.seq.padStart(seq)}  ${row.time.padEnd(time)}  ${row.letter}  `;
      const [first = '', ...more] = wrap(row.text, columns, head.length, head.length);
      return [head + first.slice(head.length), ...more];
    }),
    ...leftOutLines(given, columns),
    '',
    ...legend(given, rows, columns),
  ];
}

function isStart(entry: Line): entry is ExplainedStart {
  return 'clockOffsetMs' in entry;
}

/** Heartbeats, or starts, between which nothing else happened: any other record ends their row. */
function fold(entries: readonly Line[]): Entry[] {
  const folded: Entry[] = [];
  let run: Line[] = [];
  const flush = (): void => {
    const [first, last] = [run[0], run.at(-1)];
    if (run.length <= ALIKE_SHOWN || first === undefined || last === undefined) {
      folded.push(...run);
    } else {
      folded.push(first, run.slice(1, -1), last);
    }
    run = [];
  };
  for (const entry of entries) {
    const kind = kindOf(entry);
    if (kind === undefined || (run[0] !== undefined && kindOf(run[0]) !== kind)) flush();
    if (kind === undefined) folded.push(entry);
    else run.push(entry);
  }
  flush();
  return folded;
}

/** What may be folded with its like. */
function kindOf(entry: Line): 'start' | 'heartbeat' | undefined {
  if (isStart(entry)) return 'start';
  return entry.type === 'LeaseExtended' ? 'heartbeat' : undefined;
}

function rowOf(entry: Entry, given: Explanation): Row {
  if ('length' in entry) return foldRow(entry, given);
  return isStart(entry) ? startRow(entry, given) : recordRow(entry, given);
}

function recordRow(record: ExplainedRecord, { createdAt }: Explanation): Row {
  const { seq, at, letter, text } = record;
  return {
    seq: String(seq),
    time: timeText(at, createdAt),
    letter,
    text: `${text} ·${UNBROKEN}${changeText(record)}`,
  };
}

/** Two types of record are named for something else than what they do to the task. */
function changeText({ type, before, after, kind }: ExplainedRecord): string {
  if (type === 'TaskCancelled') return `${type}; the task stays ${after}`;
  const what = kind === 'released' ? `${type} as given back` : type;
  return (before === after ? what : `${what} → ${after}`).replaceAll(' ', UNBROKEN);
}

function startRow(start: ExplainedStart, { createdAt }: Explanation): Row {
  const { seq, at } = start;
  const down = downText(start);
  const what = `coordinator started${down === '' ? '' : `: ${down}`}`;
  const text = `${what} ·${UNBROKEN}CoordinatorStarted`;
  return { seq: String(seq), time: timeText(at, createdAt), letter: ' ', text };
}

function foldRow(run: readonly Line[], { createdAt }: Explanation): Row {
  const [first, last] = [run[0], run.at(-1)] as [Line, Line];
  const time = (at: number): string => timeText(at, createdAt);
  const [what, letter, type] = isStart(first)
    ? ['start', ' ', 'CoordinatorStarted']
    : ['heartbeat', first.letter, first.type];
  const text =
    `${plural(run.length, what)}: from record ${first.seq} at ${time(first.at)} to record ` +
    `${last.seq} at ${time(last.at)} ·${UNBROKEN}${type}`;
  return { seq: FOLD, time: FOLD, letter, text };
}

/** What is in no row is said: heartbeats that the log dropped or that are too many to read. */
function leftOutLines(given: Explanation, columns: number): string[] {
  const lines: string[] = [];
  if (given.recordsLeftOut > 0) {
    lines.push(
      `${plural(given.recordsLeftOut, 'record')} of the task, older heartbeats mostly, are not ` +
        'shown: they are too many, or the log has dropped them.',
    );
  }
  if (given.startsLeftOut > 0) {
    lines.push(
      `${plural(given.startsLeftOut, 'older start')} of the coordinator are not shown either.`,
    );
  }
  return lines.length === 0 ? [] : ['', ...lines.flatMap((line) => wrap(line, columns, 2, 2))];
}

/** The rules of the letters in use, in the order of the letters, and what else stands in a row. */
function legend(given: Explanation, rows: readonly Row[], columns: number): string[] {
  const rules = new Map<string, string>();
  for (const { letter, type, before, after, rule } of given.records) {
    const change =
      before === 'NONE' ? `new → ${after}` : before === after ? before : `${before} → ${after}`;
    rules.set(letter, `${type}, ${change}: ${rule}`);
  }
  const lines = [...rules].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (rows.some(({ seq }) => seq === FOLD)) {
    lines.push([FOLD, 'the records from the first to the last that the row names, not shown']);
  }
  return lines.flatMap(([letter, text]) => wrap(`${letter}  ${text}`, columns, 5, 2));
}
