// Owns an ingress thread's way to the reader: what the routes ask of the log becomes questions to the
// reader's thread, and where a task stands is asked of the coordinator first. Trouble is an answer.

import type { MessagePort } from 'node:worker_threads';
import type { RecordType } from '../src/core/records.ts';
import type { Answer } from '../src/protocol/answer-frame.ts';
import { parseTaskId } from '../src/protocol/ids.ts';
import { PAGE_DEFAULT } from '../src/protocol/limits.ts';
import { formatRefusal } from '../src/protocol/problem.ts';
import { unavailable } from '../src/protocol/response.ts';
import type { LogFields } from '../src/protocol/schemas.ts';
import { parseStanding } from '../src/protocol/standing-json.ts';
import type { LogQuery } from '../src/reader/log-query.ts';
import type { Gate } from './gate.ts';
import { type AskPage, LogStream } from './log-stream.ts';
import type { ReaderAnswer, ReaderGate, StoryForm } from './reader-gate.ts';
import type { FromReader, PageAnswer, ToReader } from './reader-messages.ts';

const TYPES: Readonly<Record<StoryForm, string>> = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  svg: 'image/svg+xml',
};
const PROBLEM = 'application/problem+json';
const LINES = 'application/x-ndjson';

type Asked = (answer: FromReader) => void;

export class ReaderLink implements ReaderGate {
  readonly #gate: Pick<Gate, 'ask'>;
  readonly #open = new Map<number, Asked>();
  #port: MessagePort | undefined;
  #lastId = 0;

  constructor(gate: Pick<Gate, 'ask'>) {
    this.#gate = gate;
  }

  /** The channel to use from now on; what is open on an earlier one is answered as lost. */
  connect(port: MessagePort): void {
    this.#lose();
    this.#port?.close();
    this.#port = port;
    port.on('message', (answer: FromReader) => {
      const asked = this.#open.get(answer.id);
      this.#open.delete(answer.id);
      asked?.(answer);
    });
    port.once('close', () => {
      if (this.#port === port) this.#lose();
    });
  }

  close(): void {
    this.#lose();
    this.#port?.close();
    this.#port = undefined;
  }

  async explain(taskId: number, form: StoryForm): Promise<ReaderAnswer> {
    const standing = await this.#standing(taskId);
    if (standing.status !== 200) return problem(standing);
    const answer = await this.#ask({ kind: 'explain', standing: standing.text, form });
    if (answer.kind !== 'text') return broken(answer);
    return { status: 200, contentType: TYPES[form], body: Buffer.from(answer.body) };
  }

  async log(fields: LogFields): Promise<ReaderAnswer> {
    const query = await this.#query(fields);
    if (query === undefined) return { status: 200, contentType: LINES, body: '' };
    if ('status' in query) return problem(query);
    if (fields.follow === 'true') {
      const left = fields.limit ?? Number.POSITIVE_INFINITY;
      const stream = new LogStream(this.#askPage, { query, left, follow: true });
      return { status: 200, contentType: LINES, body: stream };
    }
    // The first page is asked for here, so that trouble still has a status of its own.
    const page = await this.#page(query, false);
    if (page.kind !== 'page') return broken(page);
    const stream = new LogStream(this.#askPage, { query, left: query.limit, follow: false }, page);
    if (!stream.isOver) return { status: 200, contentType: LINES, body: stream };
    stream.destroy();
    return { status: 200, contentType: LINES, body: Buffer.from(page.body) };
  }

  async metrics(): Promise<ReaderAnswer> {
    return LOST;
  }

  /** @returns undefined: the task is unknown, so no record is about it. */
  async #query(fields: LogFields): Promise<LogQuery | Stood | undefined> {
    const query: LogQuery = {
      from: fields.from ?? 1,
      limit: fields.limit ?? fields.tail ?? PAGE_DEFAULT,
      tail: fields.tail,
      queue: fields.queue,
      type: fields.type as RecordType | undefined,
    };
    if (fields.task === undefined) return query;
    const taskId = parseTaskId(fields.task) ?? 0;
    const standing = await this.#standing(taskId);
    if (standing.status === 404) return undefined;
    if (standing.status !== 200) return standing;
    const { lastRecord, lastExtension, asOf } = parseStanding(standing.text);
    return { ...query, taskId, chain: { lastRecord, lastExtension, asOf } };
  }

  #standing(taskId: number): Promise<Stood> {
    return new Promise((resolve) => {
      this.#gate.ask({ op: 'standing', taskId }, ({ status, body, retryAfterSeconds }: Answer) =>
        resolve({ status, retryAfterSeconds, text: body.toString('utf8') }),
      );
    });
  }

  readonly #askPage: AskPage = (query, wait, signal) => this.#page(query, wait, signal);

  async #page(query: LogQuery, wait: boolean, signal?: AbortSignal): Promise<PageOrFailure> {
    const answer = await this.#ask({ kind: 'page', query, wait }, signal);
    return answer.kind === 'text' ? { ...answer, kind: 'failed', message: 'not a page' } : answer;
  }

  #ask(question: Unnumbered, signal?: AbortSignal): Promise<FromReader> {
    const port = this.#port;
    this.#lastId += 1;
    const id = this.#lastId;
    if (port === undefined) return Promise.resolve(lost(id));
    return new Promise((resolve) => {
      const cancel = (): void => {
        if (!this.#open.delete(id)) return;
        port.postMessage({ kind: 'cancel', id } satisfies ToReader);
        resolve(lost(id));
      };
      this.#open.set(id, (answer) => {
        signal?.removeEventListener('abort', cancel);
        resolve(answer);
      });
      port.postMessage({ ...question, id });
      signal?.addEventListener('abort', cancel);
    });
  }

  #lose(): void {
    const open = [...this.#open];
    this.#open.clear();
    for (const [id, asked] of open) asked(lost(id));
  }
}

/** The coordinator's answer to where a task stands. */
interface Stood {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly text: string;
}

type Unnumbered = ToReader extends infer M ? (M extends ToReader ? Omit<M, 'id'> : never) : never;
type PageOrFailure = PageAnswer | Extract<FromReader, { kind: 'failed' }>;

const lost = (id: number): FromReader => ({
  kind: 'failed',
  id,
  message: 'the reader is not there; ask again',
});

const problem = ({ status, text }: Stood): ReaderAnswer => ({
  status,
  contentType: PROBLEM,
  body: text,
});

const broken = (answer: FromReader): ReaderAnswer => ({
  status: 503,
  contentType: PROBLEM,
  body: formatRefusal(
    unavailable(
      'log_unavailable',
      answer.kind === 'failed' ? `The log could not be read: ${answer.message}.` : 'Not an answer.',
    ),
  ),
});

const LOST = broken(lost(0));
