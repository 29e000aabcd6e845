// Owns an ingress thread's way to the reader. A route's question about the log goes to the
// reader's thread; where a task stands is asked of the coordinator first. A failure becomes an
// answer.

import type { MessagePort } from 'node:worker_threads';
import { type CoordinatorFigures, metricsText } from '../../src/metrics/metrics-text.ts';
import type { ThreadFigures } from '../../src/metrics/request-times.ts';
import { parseTaskId } from '../../src/model/ids.ts';
import { PAGE_DEFAULT } from '../../src/model/limits.ts';
import type { LogFields } from '../../src/model/request.ts';
import type { Standing } from '../../src/model/response.ts';
import type { LogQuery } from '../../src/reader/log-query.ts';
import { type LagWatch, watchLag } from '../shared/event-loop-lag.ts';
import { answerFigures } from '../shared/gathered-figures.ts';
import type { ReaderAnswer, ReaderGate, StoryForm } from '../shared/reader-gate.ts';
import type { FromReader, PageAnswer, ToReader } from '../shared/reader-messages.ts';
import { type AskedGate, askGate } from './ask-gate.ts';
import { CopyStream } from './copy-stream.ts';
import { endOfWait } from './end-of-wait.ts';
import type { Gate } from './gate.ts';
import { type AskPage, LogStream } from './log-stream.ts';
import {
  BYTES,
  broken,
  LINES,
  lost,
  PROMETHEUS,
  pageOf,
  problem,
  type Stood,
  story,
  unfit,
} from './reader-answers.ts';

type Asked = (answer: FromReader) => void;

export class ReaderLink implements ReaderGate {
  readonly #gate: GateLike;
  readonly #open = new Map<number, Asked>();
  readonly #lag: LagWatch;
  #port: MessagePort | undefined;
  #lastId = 0;

  /** @param actor what this thread is called in metrics. */
  constructor(gate: GateLike, actor = 'http') {
    this.#gate = gate;
    this.#lag = watchLag(actor);
  }

  /** The channel to use from now on; what is open on an earlier one is answered as lost. */
  connect(port: MessagePort): void {
    this.#lose();
    this.#port?.close();
    this.#port = port;
    answerFigures(port, () => this.#figures());
    port.on('message', (answer: FromReader) => {
      if (answer.kind === 'ask figures') return;
      const asked = this.#open.get(answer.id);
      this.#open.delete(answer.id);
      asked?.(answer);
    });
    port.once('close', () => {
      if (this.#port === port) this.#lose();
    });
  }

  close(): void {
    this.#lag.stop();
    this.#lose();
    this.#port?.close();
    this.#port = undefined;
  }

  async explain(
    taskId: number,
    form: StoryForm,
    columns?: number,
    at?: number,
  ): Promise<ReaderAnswer> {
    if (at !== undefined) {
      const told = await this.#ask({ kind: 'explain at', taskId, at, form, columns });
      return told.kind === 'text' ? story(told.body, form) : broken(told);
    }
    const standing = await askGate(this.#gate, { op: 'standing', taskId });
    if (standing.status !== 200) return problem(standing);
    const answer = await this.#ask({ kind: 'explain', standing: standing.text, form, columns });
    return answer.kind === 'text' ? story(answer.body, form) : broken(answer);
  }

  /**
   * One page: what fits, from `from` on, and where to go on.
   * @param waitMs how long an empty page is held back for something to show.
   * @param hurry aborts when an empty page is to be held back no longer.
   */
  async logPage(fields: LogFields, waitMs: number, hurry?: AbortSignal): Promise<ReaderAnswer> {
    const query = await this.#query(fields, waitMs > 0);
    if ('status' in query) {
      const isNone = query.status === 404 && waitMs === 0;
      return isNone ? pageOf('', fields.from ?? 1, false) : problem(query);
    }
    const late = waitMs > 0 ? endOfWait(waitMs, hurry) : undefined;
    // A page that is over late may have found records, and has come on in its search.
    const page = await this.#page(query, waitMs > 0, late?.signal, 'hurry');
    late?.undo();
    if (page.kind !== 'page') return broken(page);
    return pageOf(Buffer.from(page.body).toString('utf8'), page.next, page.next <= page.to);
  }

  async log(fields: LogFields): Promise<ReaderAnswer> {
    const query = await this.#query(fields, fields.follow === 'true');
    if ('status' in query) {
      // No record is about a task that nobody knows. To wait for one would be in vain.
      const isNone = query.status === 404 && fields.follow !== 'true';
      return isNone ? { status: 200, contentType: LINES, body: '' } : problem(query);
    }
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

  async copy(): Promise<ReaderAnswer> {
    this.#lastId += 1;
    const copy = this.#lastId;
    const ask = () => this.#ask({ kind: 'copy', copy });
    const first = await ask();
    if (first.kind !== 'chunk') return broken(first);
    const more = async (): Promise<Uint8Array | undefined> => {
      const answer = await ask();
      return answer.kind === 'chunk' ? answer.body : undefined;
    };
    const ended = () => this.#port?.postMessage({ kind: 'end copy', id: 0, copy });
    return { status: 200, contentType: BYTES, body: new CopyStream(more, first.body, ended) };
  }

  // Who never asks for metrics does not wait, at the start, for what gathers the process's own.
  /** Shows what can be had: the coordinator and the reader may be away, this thread is not. */
  async metrics(): Promise<ReaderAnswer> {
    const [answer, others, process] = await Promise.all([
      askGate(this.#gate, { op: 'metrics' }),
      this.#ask({ kind: 'figures' }),
      import('../shared/process-metrics.ts').then((own) => own.processMetrics()),
    ]);
    const coordinator =
      answer.status === 200 ? (JSON.parse(answer.text) as CoordinatorFigures) : undefined;
    const threads = others.kind === 'figures' ? others.threads : [];
    const cluster = this.#gate.cluster?.();
    const text = metricsText(coordinator, [this.#figures(), ...threads], cluster);
    return { status: 200, contentType: PROMETHEUS, body: text + process };
  }

  #figures(): ThreadFigures {
    return { ...this.#lag.figures(), requests: this.#gate.times.figures() };
  }

  /** @returns the refusal instead when the task is unknown, or nobody can say. */
  async #query(fields: LogFields, follows: boolean): Promise<LogQuery | Stood> {
    const doubt = follows ? undefined : await this.#doubt();
    if (doubt !== undefined) return doubt;
    const query: LogQuery = {
      from: fields.from ?? 1,
      limit: fields.limit ?? fields.tail ?? PAGE_DEFAULT,
      tail: fields.tail,
      queue: fields.queue,
      type: fields.type,
    };
    if (fields.task === undefined) return query;
    const taskId = parseTaskId(fields.task) ?? 0;
    const standing = await askGate(this.#gate, { op: 'standing', taskId });
    if (standing.status !== 200) return standing;
    const { lastRecord, lastExtension, asOf } = JSON.parse(standing.text) as Standing;
    return { ...query, taskId, chain: { lastRecord, lastExtension, asOf } };
  }

  /**
   * A page tells what the log is now, so a node of a cluster first makes sure that it still leads.
   * Who follows the log is told a beginning of it, whoever leads.
   */
  async #doubt(): Promise<Stood | undefined> {
    if (this.#gate.cluster?.() === undefined) return undefined;
    const confirmed = await askGate(this.#gate, { op: 'stats' });
    return confirmed.status === 200 ? undefined : confirmed;
  }

  readonly #askPage: AskPage = (query, wait, signal) => this.#page(query, wait, signal);

  async #page(
    query: LogQuery,
    wait: boolean,
    signal?: AbortSignal,
    atAbort?: AtAbort,
  ): Promise<PageOrFailure> {
    const answer = await this.#ask({ kind: 'page', query, wait }, signal, atAbort);
    return answer.kind === 'page' || answer.kind === 'failed' ? answer : unfit(answer.id);
  }

  #ask(
    question: Unnumbered,
    signal?: AbortSignal,
    atAbort: AtAbort = 'cancel',
  ): Promise<FromReader> {
    const port = this.#port;
    this.#lastId += 1;
    const id = this.#lastId;
    if (port === undefined) return Promise.resolve(lost(id));
    return new Promise((resolve) => {
      const abort = (): void => {
        port.postMessage({ kind: atAbort, id } satisfies ToReader);
        if (atAbort === 'cancel' && this.#open.delete(id)) resolve(lost(id));
      };
      this.#open.set(id, (answer) => {
        signal?.removeEventListener('abort', abort);
        resolve(answer);
      });
      port.postMessage({ ...question, id });
      signal?.addEventListener('abort', abort);
      if (signal?.aborted === true) abort();
    });
  }

  #lose(): void {
    const open = [...this.#open];
    this.#open.clear();
    for (const [id, asked] of open) asked(lost(id));
  }
}

type Unnumbered = ToReader extends infer M ? (M extends ToReader ? Omit<M, 'id'> : never) : never;
/** What the signal of a question means: nobody wants the answer, or it is to come now. */
type AtAbort = 'cancel' | 'hurry';
type GateLike = AskedGate & Pick<Gate, 'times'> & Partial<Pick<Gate, 'cluster'>>;
type PageOrFailure = PageAnswer | Extract<FromReader, { kind: 'failed' }>;
