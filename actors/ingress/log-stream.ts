// Owns a stream of log lines. Each page is asked for when the client has taken the page before, so
// a slow client holds one page here and nothing anywhere else. The stream ends with its client,
// its range or its limit.

import { Readable } from 'node:stream';
import { goOn, type LogQuery } from '../../src/reader/log-query.ts';
import type { FromReader, PageAnswer } from '../shared/reader-messages.ts';

export type AskPage = (
  query: LogQuery,
  wait: boolean,
  signal?: AbortSignal,
) => Promise<PageAnswer | Extract<FromReader, { kind: 'failed' }>>;

export interface LogStreamOptions {
  readonly query: LogQuery;
  /** Records at most. */
  readonly left: number;
  readonly follow: boolean;
}

/** A follower without a limit of its own asks for so many records at a time. */
const PAGE_RECORDS = 5_000;

/** The log could not be read on: the client resumes after the last line that it got. */
export class LogStreamBroken extends Error {
  override readonly name = 'LogStreamBroken';
  readonly code = 'LOG_STREAM_BROKEN';
}

export class LogStream extends Readable {
  readonly #ask: AskPage;
  readonly #follow: boolean;
  readonly #abort = new AbortController();
  #query: LogQuery;
  #left: number;
  #first: PageAnswer | undefined;
  #over = false;

  /** @param first a page that was asked for already. */
  constructor(ask: AskPage, { query, left, follow }: LogStreamOptions, first?: PageAnswer) {
    super({ highWaterMark: 1 });
    this.#ask = ask;
    this.#follow = follow;
    this.#query = query;
    this.#left = left;
    this.#first = first;
    if (first !== undefined) this.#count(first);
  }

  /** The first page was all. */
  get isOver(): boolean {
    return this.#over;
  }

  override _read(): void {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined && first.records > 0) this.push(Buffer.from(first.body));
    else if (this.#over) this.push(null);
    else void this.#more();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#abort.abort();
    done(error);
  }

  async #more(): Promise<void> {
    const query = { ...this.#query, limit: Math.min(this.#left, PAGE_RECORDS) };
    const page = await this.#ask(query, this.#follow, this.#abort.signal);
    if (this.destroyed) return;
    if (page.kind === 'failed') {
      this.destroy(new LogStreamBroken(page.message));
      return;
    }
    this.#count(page);
    if (page.records > 0) this.push(Buffer.from(page.body));
    else if (this.#over) this.push(null);
    else void this.#more();
  }

  #count(page: PageAnswer): void {
    this.#left -= page.records;
    // A range that was open is closed by its first page, so that a read ends on a growing log.
    const to = this.#follow ? undefined : page.to;
    this.#query = { ...goOn(this.#query, page.next), to };
    this.#over = this.#left <= 0 || (!this.#follow && page.next > page.to);
  }
}
