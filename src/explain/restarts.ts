// Owns what each start of the coordinator meant for the task: how long the coordinator was down at
// most, whether a lease outlived that time or ended in it, and how the coordinator's clock stands
// to the wall clock.

import { formatLeaseId } from '../model/ids.ts';
import type { LogRecord } from '../model/records.ts';
import type { ExplainedAttempt, ExplainedStart, Statement } from './explanation.ts';
import {
  durationAtMostText,
  durationText,
  isDownHidden,
  OFFSET_TOLD_MS,
  recordsOf,
  type Teller,
} from './names.ts';
import { copyClause } from './restores.ts';
import { endSeenFrom, isDuring } from './silences.ts';
import type { EndRecord } from './summary.ts';

/** How the task ended, and what it was redriven as, as far as either happened. */
interface Ended {
  readonly over: EndRecord | undefined;
  readonly redrivenAs: number | undefined;
}

/** So many starts in a row, without a record of the task between them, get a statement each. */
const EACH_MAX = 3;

/** What each start meant for the task; of a loop of crashes the first and the last is told. */
export function startStatements(
  starts: readonly ExplainedStart[],
  records: readonly LogRecord[],
  attempts: readonly ExplainedAttempt[],
  ended: Ended,
  tell: Teller,
): Statement[] {
  const rows: ExplainedStart[][] = [];
  for (const start of starts) {
    const row = rows.at(-1);
    const last = row?.at(-1)?.seq ?? 0;
    const isTold = start.restored !== undefined || row?.at(-1)?.restored !== undefined;
    const apart = isTold || records.some(({ seq }) => seq > last && seq < start.seq);
    if (row === undefined || apart) rows.push([start]);
    else row.push(start);
  }
  return rows.flatMap((row) => {
    const [first, last] = [row[0], row.at(-1)];
    const one = (start: ExplainedStart): Statement => startOf(start, attempts, ended, tell);
    if (row.length <= EACH_MAX || first === undefined || last === undefined) return row.map(one);
    return [one(first), between(row.slice(1, -1), tell), one(last)];
  });
}

/** Said where no start is told, so that the page answers whether there was a coordinator. */
export function noStart(records: readonly LogRecord[]): Statement {
  const [first, last] = [records[0]?.seq, records.at(-1)?.seq];
  const text =
    'The coordinator was not restarted in this history: no start is recorded between its first ' +
    'and its newest record.';
  return { topic: 'restart', record: last, text, records: recordsOf(first, last) };
}

/** Starts of which nothing else is to be told. */
function between(row: readonly ExplainedStart[], tell: Teller): Statement {
  const [first, last] = [row[0], row.at(-1)] as [ExplainedStart, ExplainedStart];
  const downMs = row.reduce((sum, { at, lastAliveAt = at }) => sum + at - lastAliveAt, 0);
  const down = row.some(isDownHidden)
    ? 'how long it was down before these starts cannot be told: the wall clock had been set back'
    : `it was down before these starts for ${durationAtMostText(downMs)} in all at most by the ` +
      'wall clock';
  const text =
    `The coordinator started anew ${row.length} times more, from ${tell.at(first.at)} to ` +
    `${tell.at(last.at)}, with no record of the task in between; ${down}.`;
  return { topic: 'restart', record: first.seq, text, records: row.map(({ seq }) => seq) };
}

/** What a start of the coordinator meant for the lease that was held, if one was. */
function startOf(
  start: ExplainedStart,
  attempts: readonly ExplainedAttempt[],
  ended: Ended,
  tell: Teller,
): Statement {
  const held = attempts.find((one) => isDuring(start, one.leaseId, one.endRecord));
  const { seq, at } = start;
  const isOver = ended.over !== undefined && ended.over.seq < seq;
  const meant = isOver ? meantForEnded(start, ended) : meantFor(start, held, tell);
  return {
    topic: 'restart',
    record: seq,
    text: `The coordinator started anew at ${tell.at(at)}${downClause(start, tell)}. ${meant}`,
    records: recordsOf(
      held?.leaseId,
      seq,
      ranOutWhileDown(held, start) ? held?.endRecord : undefined,
    ),
  };
}

/** A task that is COMPLETED stays so; one that failed may have been redriven in the time lost. */
function meantForEnded({ restored, seq }: ExplainedStart, { over, redrivenAs }: Ended): string {
  const isRedriven = redrivenAs !== undefined && redrivenAs < seq;
  if (restored === undefined || over?.type === 'TaskCompleted' || isRedriven) {
    return 'The task was over before that.';
  }
  return (
    'The task was over before that. Whether it was redriven in the time that is lost, no record ' +
    'tells: its content may have run once more then.'
  );
}

function downClause(start: ExplainedStart, tell: Teller): string {
  const { at, lastAliveAt, restored } = start;
  if (restored !== undefined) return copyClause(restored, tell);
  if (lastAliveAt === undefined) return '';
  const before = `. The newest record before it is of ${tell.at(lastAliveAt)}`;
  return isDownHidden(start)
    ? `${before}. How long it was down cannot be told: the wall clock had been set back, and ` +
        'coordinator time stood still until that start'
    : `${before}, so it was down, or its log took no records, for ` +
        `${durationAtMostText(at - lastAliveAt)} at most by the wall clock`;
}

const ranOutWhileDown = (held: ExplainedAttempt | undefined, start: ExplainedStart): boolean =>
  held !== undefined && endSeenFrom(held, start) === 'down';

function meantFor(start: ExplainedStart, held: ExplainedAttempt | undefined, tell: Teller): string {
  if (start.restored !== undefined) return lostFor(start, held, tell);
  if (held === undefined) return 'Nobody held the task then; it went on waiting.';
  const lease = formatLeaseId(held.leaseId);
  const expiry = tell.at(held.leaseExpiry);
  const seen = endSeenFrom(held, start);
  if (seen === 'before') {
    return `${lease} had run out at ${expiry}, before that start, and was recorded after it.`;
  }
  if (seen === 'up') {
    const left = durationText(held.leaseExpiry - start.at);
    const until =
      held.ended === 'expired' ? ` It ran out at ${expiry}, ${left} after that start.` : '';
    return (
      `${lease} was held then and stayed valid: a restart neither ends nor renews a ` +
      `lease.${until}`
    );
  }
  return (
    `${lease} ran out at ${expiry}, while the coordinator was down or just before that: one that ` +
    'runs records that within --tick-ms, but the record comes after that start.'
  );
}

/** In the time that is lost anything may have happened to the task. */
function lostFor(start: ExplainedStart, held: ExplainedAttempt | undefined, tell: Teller): string {
  const given = 'Whether a worker was given the task in that time, and reported, no record tells';
  if (held === undefined) return `${given}; by the copy nobody held it, and it went on waiting.`;
  const expiry = tell.at(held.leaseExpiry);
  const ends =
    held.leaseExpiry <= start.at
      ? `it had run out at ${expiry}, before that start`
      : 'it stayed valid at that start';
  return (
    `By the copy ${formatLeaseId(held.leaseId)} was held, and ${ends}. Whether its worker sent ` +
    'heartbeats or reported in the time that is lost, no record tells.'
  );
}

/** Coordinator time never runs backward, so after the wall clock was set back it is ahead of it. */
export function clockOf(start: ExplainedStart, tell: Teller): Statement | undefined {
  const offset = start.clockOffsetMs;
  if (Math.abs(offset) < OFFSET_TOLD_MS) return undefined;
  const direction = offset > 0 ? 'ahead of' : 'behind';
  return {
    topic: 'clock',
    record: start.seq,
    text:
      `At the start of ${tell.at(start.at)} coordinator time was ` +
      `${durationText(Math.abs(offset))} ${direction} the wall clock; it never runs backward, ` +
      'and all times here are coordinator time.',
    records: [start.seq],
  };
}
