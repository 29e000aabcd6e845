// Owns the reading of the log in pages: the matching records in ascending order, up to a bound of
// records and letters, and the number to go on from. A long search is done in slices, so that it
// does not hold up the reader's other questions.

import type { LogReader } from '../log/log.ts';
import type { LogRecord } from '../model/records.ts';
import { formatRecord } from '../protocol/record-json.ts';
import { isFiltered, type LogQuery, matches, type QueueOf, type TaskChain } from './log-query.ts';
import { taskRecordsBackward } from './task-records.ts';

export interface LogPage {
  /** One JSON object a line. */
  readonly text: string;
  readonly records: number;
  /** Ask from here for what follows. */
  readonly next: number;
  /** The newest number that was looked at, or would have been if the page were not full. */
  readonly to: number;
}

export interface Paging {
  readonly log: LogReader;
  readonly queueOf: QueueOf;
  /** Lets others run between two slices of a long search. */
  readonly pause: () => Promise<void>;
  /** Asked after each pause: true ends the search, nobody waits for its outcome any more. */
  readonly cancelled?: () => boolean;
}

/** Of the lines of one page, unless a single one is longer. */
export const PAGE_LETTERS = 256 * 1024;
const SLICE_RECORDS = 4_096;

/**
 * @param durable the newest record that may be shown
 * @throws LogCorrupt
 */
export async function readPage(paging: Paging, query: LogQuery, durable: number): Promise<LogPage> {
  const newest = Math.max(durable, query.chain?.asOf ?? 0);
  const to = Math.min(query.to ?? query.chain?.asOf ?? newest, newest);
  const from = query.tail === undefined ? query.from : await tailStart(paging, query, to);
  const page = new PageWriter(query.limit);
  const next =
    query.chain === undefined
      ? await readForward(paging, query, Math.max(from, 1), to, page)
      : await readChain(paging, query, from, to, page);
  return { text: page.text, records: page.records, next: Math.max(next, query.from), to };
}

/** @returns the number to go on from. */
async function readForward(
  paging: Paging,
  query: LogQuery,
  start: number,
  to: number,
  page: PageWriter,
): Promise<number> {
  // A durable record may not be visible in this handle yet: then the page ends before it.
  const end = Math.min(to, paging.log.lastNumber);
  let from = start;
  while (from <= end) {
    let read = 0;
    for (const record of paging.log.read(from, end)) {
      if (matches(query, record, paging.queueOf) && !page.add(record)) return record.seq;
      from = record.seq + 1;
      read += 1;
      if (read === SLICE_RECORDS) break;
    }
    if (read < SLICE_RECORDS) return end + 1;
    if (page.full) return from;
    await paging.pause();
    if (paging.cancelled?.() === true) return from;
  }
  return from;
}

async function readChain(
  paging: Paging,
  query: LogQuery,
  from: number,
  to: number,
  page: PageWriter,
): Promise<number> {
  const found = await ofTask(paging, query, from, to, query.limit, 'oldest');
  for (const seq of found) {
    const record = paging.log.get(seq);
    if (record !== undefined && !page.add(record)) return seq;
  }
  return page.full ? (found.at(-1) ?? to) + 1 : to + 1;
}

/** @returns the number from which on `tail` records match. */
async function tailStart(paging: Paging, query: LogQuery, to: number): Promise<number> {
  const tail = query.tail as number;
  if (query.chain !== undefined) {
    const found = await ofTask(paging, query, query.from, to, tail, 'newest');
    return found[0] ?? to + 1;
  }
  let missing = tail;
  let seq = to;
  for (let steps = 1; seq >= Math.max(query.from, 1) && missing > 0; steps += 1) {
    const record = paging.log.get(seq);
    if (record === undefined) seq = beforeHole(paging.log, seq);
    else {
      if (!isFiltered(query) || matches(query, record, paging.queueOf)) missing -= 1;
      seq -= 1;
    }
    if (steps % SLICE_RECORDS === 0) {
      await paging.pause();
      if (paging.cancelled?.() === true) break;
    }
  }
  return seq + 1;
}

function beforeHole({ dropped }: LogReader, seq: number): number {
  const range = dropped.ranges.find(([from, to]) => from <= seq && seq <= to);
  return (range?.[0] ?? seq) - 1;
}

/** @returns numbers of the task's records that match, ascending: the oldest or newest `keep`. */
async function ofTask(
  paging: Paging,
  query: LogQuery,
  from: number,
  to: number,
  keep: number,
  which: 'oldest' | 'newest',
): Promise<number[]> {
  const get = (seq: number): LogRecord | undefined => paging.log.get(seq);
  const kept = (numbers: number[]): number[] => {
    const sorted = numbers.toSorted((a, b) => a - b);
    return which === 'oldest' ? sorted.slice(0, keep) : sorted.slice(-keep);
  };
  let found: number[] = [];
  let steps = 0;
  for (const record of taskRecordsBackward(get, query.chain as TaskChain, (seq) => seq >= from)) {
    // Extensions of a lease lie before the record that ended it and after its grant.
    if (record.seq < from && record.type !== 'LeaseExtended') break;
    if (record.seq >= from && record.seq <= to && matches(query, record, paging.queueOf)) {
      found.push(record.seq);
      if (found.length > 4 * keep + SLICE_RECORDS) found = kept(found);
    }
    steps += 1;
    if (steps % SLICE_RECORDS === 0) {
      await paging.pause();
      if (paging.cancelled?.() === true) break;
    }
  }
  return kept(found);
}

/** Gathers lines up to the bounds; a record larger than a page is a page of its own. */
class PageWriter {
  readonly #limit: number;
  readonly #lines: string[] = [];
  #letters = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get text(): string {
    return this.#lines.length === 0 ? '' : `${this.#lines.join('\n')}\n`;
  }

  get records(): number {
    return this.#lines.length;
  }

  get full(): boolean {
    return this.#lines.length >= this.#limit;
  }

  /** @returns false: there is no room, and this record is the next page's first. */
  add(record: LogRecord): boolean {
    const line = formatRecord(record);
    const room = this.#letters === 0 || this.#letters + line.length < PAGE_LETTERS;
    if (this.full || !room) return false;
    this.#lines.push(line);
    this.#letters += line.length;
    return true;
  }
}
