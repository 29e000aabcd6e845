// Owns the question whether a history of calls and returns is linearizable, with the log as the
// witness of the order: the model that was written from the requirements plays the log record by
// record, and each answer must be the right one at its record; one that caused no record, at some
// moment between the call and the return.

import type { LogRecord } from '../../src/model/records.ts';
import type { LeaseRequest, Request } from '../../src/model/request.ts';
import type { Response } from '../../src/model/response.ts';
import { format } from '../../src/protocol/answer-text.ts';
import { parseRequest } from '../../src/protocol/fields-to-request.ts';
import { difference } from '../simulator/checkers/same.ts';
import { Book } from '../simulator/model/book.ts';
import {
  type ChangingRequest,
  decide,
  grantRecord,
  leaseAnswer,
  type ModelKnobs,
  roomFor,
  whyEmpty,
} from '../simulator/model/decide.ts';
import { showTask } from '../simulator/model/reads.ts';
import type { ModelTask } from '../simulator/model/tasks.ts';
import type { Fields } from '../support/server.ts';
import type { Asked } from './traffic.ts';

const LIMITS = { payloadMaxBytes: 1_048_576 };
/** Sentences, what HTTP adds, and what depends on the time between two records. */
const PASSED_OVER = ['type', 'title', 'status', 'detail', 'http_status', 'retry_after'];

/** One that caused no record: right at some number from `from` to `to`. */
interface Open {
  readonly asked: Asked;
  readonly request: Request;
  readonly from: number;
  readonly to: number;
}

export class Witness {
  readonly wrong: string[] = [];
  readonly #book = new Book();
  readonly #knobs: ModelKnobs;
  readonly #records: readonly LogRecord[];
  readonly #causes = new Map<number, Asked>();
  readonly #opening = new Map<number, Open[]>();
  #open: Open[] = [];

  constructor(knobs: ModelKnobs, records: readonly LogRecord[], history: readonly Asked[]) {
    this.#knobs = knobs;
    this.#records = records;
    for (const asked of history) {
      for (const seq of recordsOf(asked)) this.#causes.set(seq, asked);
    }
    for (const one of openIn(history, records.length)) {
      const there = this.#opening.get(one.from) ?? [];
      there.push(one);
      this.#opening.set(one.from, there);
    }
  }

  /** @returns a sentence for every answer that was not the right one. */
  look(): readonly string[] {
    this.#settle(0);
    for (const record of this.#records) {
      this.#happen(record);
      this.#book.settled(record.seq);
      this.#settle(record.seq);
    }
    return this.wrong;
  }

  #happen(record: LogRecord): void {
    const asked = this.#causes.get(record.seq);
    if (asked === undefined) return this.#book.apply(record);
    const request = requestOf(asked);
    const { at, seq } = record;
    if (request.op === 'lease') return this.#grant(asked, request, record);
    const decision = decide(this.#book, this.#knobs, request as ChangingRequest, at);
    const chosen = decision.record && { ...decision.record, seq };
    this.#compare(asked, 'the record', difference(chosen, record));
    this.#book.apply(record);
    this.#compare(asked, 'the answer', differs(asked, decision.answer(seq)));
  }

  #grant(asked: Asked, request: LeaseRequest, record: LogRecord): void {
    const { at, seq } = record;
    const first = this.#book.order.firstEligible(request.queues, at);
    const chosen = first && { ...grantRecord(this.#knobs, first, request, at), seq };
    if (roomFor(this.#book, request) <= 0) this.#compare(asked, 'the worker', 'it has no room');
    this.#compare(asked, 'the record', difference(chosen, record));
    this.#book.apply(record);
    if (record.type !== 'LeaseGranted') return;
    const task = this.#book.find(record.taskId) as ModelTask;
    const lease = leaseAnswer(this.#knobs, task, at);
    const { base64 } = request;
    const wanted: Response = { kind: 'leased', leases: [lease], waitedMs: 0, base64 };
    const leases = (asked.answer?.['leases'] ?? []) as Fields[];
    const given = leases.filter(({ lease_id: id }) => id === `L${seq}`);
    this.#compare(asked, 'the answer', differs({ ...asked, answer: { leases: given } }, wanted));
  }

  #compare(asked: Asked, what: string, different: string | undefined): void {
    if (different !== undefined) this.wrong.push(`${told(asked)}: ${what}: ${different}`);
  }

  /** Looks which open answers are right now that this record is the newest. */
  #settle(seq: number): void {
    this.#open.push(...(this.#opening.get(seq) ?? []));
    this.#open = this.#open.filter((one) => {
      const different = this.#differsNow(one, seq);
      if (different === undefined) return false;
      if (seq < one.to) return true;
      const when = `at no moment from record ${one.from} to ${one.to}`;
      this.wrong.push(`${told(one.asked)}: ${when} is this right; last: ${different}`);
      return false;
    });
  }

  #differsNow({ asked, request }: Open, seq: number): string | undefined {
    const book = this.#book;
    const now = book.lastAt;
    if (request.op === 'lease') {
      const hasRoom = roomFor(book, request) > 0;
      const first = hasRoom ? book.order.firstEligible(request.queues, now) : undefined;
      if (first !== undefined) return `task ${first.id} is eligible`;
      const { base64 } = request;
      const empty = whyEmpty(book, request, this.#decidedAt(asked, seq));
      return differs(asked, { kind: 'leased', leases: [], empty, waitedMs: 0, base64 });
    }
    if (request.op === 'task') {
      const task = book.find(request.taskId);
      return task === undefined ? 'no such task' : differs(asked, showTask(task, request));
    }
    const decision = decide(book, this.#knobs, request as ChangingRequest, now);
    if (decision.record !== undefined) return `it would cause a ${decision.record.type}`;
    return differs(asked, decision.answer(0));
  }

  /** An answer that tells a time was decided then, or at the next record at the latest. */
  #decidedAt({ answer }: Asked, seq: number): number {
    const { next_eligible_at: told } = (answer?.['empty'] ?? {}) as Fields;
    const next = this.#records[seq]?.at ?? Number.POSITIVE_INFINITY;
    return typeof told === 'number' ? Math.min(told, next) : this.#book.lastAt;
  }
}

function requestOf({ op, params }: Asked): Request {
  const request = parseRequest(op, params, LIMITS);
  if (!('op' in request)) throw new Error(`malformed: ${op}`);
  return request;
}

function differs({ answer = {} }: Pick<Asked, 'answer'>, wanted: Response): string | undefined {
  const expected = JSON.parse(format(wanted)) as Fields;
  return difference(comparable(expected), comparable(answer));
}

function comparable(answer: Fields): Fields {
  const copy = { ...answer };
  for (const name of PASSED_OVER) delete copy[name];
  if (copy['record'] === null) delete copy['lease_ms'];
  const { leases } = copy;
  if (Array.isArray(leases)) {
    copy['leases'] = (leases as Fields[]).map((lease) => ({ ...lease, waited_ms: 0 }));
  }
  return copy;
}

const told = ({ op, params, answer }: Asked): string =>
  `${op} ${JSON.stringify(params)} → ${JSON.stringify(answer)}`;

const numberOf = (id: unknown): number => Number(String(id).slice(1));

/** The records that a request caused, by what it was told. */
export function recordsOf({ op, answer = {} }: Asked): number[] {
  if (op === 'lease') {
    return ((answer['leases'] ?? []) as Fields[]).map(({ lease_id: id }) => numberOf(id));
  }
  return typeof answer['record'] === 'number' ? [answer['record']] : [];
}

/** Answers without a record, each with the numbers between which it was decided. */
function openIn(history: readonly Asked[], last: number): Open[] {
  const byReturn = history.filter(({ returned }) => returned !== undefined);
  const byCall = history.filter((asked) => recordsOf(asked).length > 0);
  // The greatest record told of before a moment, and the smallest of what was called after it.
  const before = running(
    byReturn.toSorted((a, b) => (a.returned as number) - (b.returned as number)),
    ({ returned }) => returned as number,
    (asked) => Math.max(0, ...recordsOf(asked)),
    Math.max,
    0,
  );
  const after = running(
    byCall.toSorted((a, b) => b.called - a.called),
    ({ called }) => -called,
    (asked) => Math.min(...recordsOf(asked)),
    Math.min,
    last + 1,
  );
  return history.flatMap((asked) => {
    if (asked.answer === undefined || recordsOf(asked).length > 0) return [];
    const from = before(asked.called);
    const to = Math.max(from, after(-(asked.returned as number)) - 1);
    return [{ asked, request: requestOf(asked), from, to }];
  });
}

/** @returns what a running extreme was before some place in an ascending order. */
function running(
  inOrder: readonly Asked[],
  placeOf: (asked: Asked) => number,
  valueOf: (asked: Asked) => number,
  extreme: (a: number, b: number) => number,
  start: number,
): (place: number) => number {
  const places: number[] = [];
  const values: number[] = [];
  let value = start;
  for (const asked of inOrder) {
    value = extreme(value, valueOf(asked));
    places.push(placeOf(asked));
    values.push(value);
  }
  return (place) => {
    let low = 0;
    let high = places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] as number) < place) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? start : (values[low - 1] as number);
  };
}
