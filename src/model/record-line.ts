// Owns how one record reads on a line: number, time, type, task, the change of the task's state,
// and the facts that matter. The words come from record-words.ts.

import { describeRecord } from './record-words.ts';
import { lineText } from './safe-text.ts';
import { clockText, dateText, orUnknown, timeText } from './time-text.ts';

type Fields = Readonly<Record<string, unknown>>;

/** `57 10:02:11.204 LeaseGranted T42 WAITING → LEASED L57 w1 attempt 1, until 10:02:16.204` */
export function recordLine(record: Fields, paint: Paint = plain): string {
  const { seq, at, type, task_id } = record;
  const words = describeRecord(camelCased(record), speakerAt(at));
  const { change, lease, worker, kind, reason, fact, more } = words;
  const why = kind === undefined ? reason : `${kind}: ${reason}`;
  const head = [
    seq,
    orUnknown(clockText)(at),
    paint(String(type)),
    task_id,
    change,
    lease,
    worker,
    why,
    fact,
  ];
  return [head.filter((part) => part !== undefined).join(' '), ...more].join(', ');
}

/** Colours the name of a record's type, or does not. */
export type Paint = (type: string) => string;
const plain: Paint = (type) => type;

/** A time of another day than the record's has its day. */
const speakerAt = (at: unknown) => ({
  time: orUnknown((time) => (typeof at === 'number' ? timeText(time, at) : clockText(time))),
  date: orUnknown(dateText),
  name: lineText,
  text: lineText,
});

/** The stored names of the wire, `lease_expiry`, as the description has them: `leaseExpiry`. */
const camelCased = (record: Fields): Fields =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
