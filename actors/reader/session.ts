// Owns one ingress's conversation with the reader: each question gets one answer, a follower waits
// here for the next durable record and costs nothing meanwhile.

import type { MessagePort } from 'node:worker_threads';
import { explain } from '../../src/explain/explain-task.ts';
import type { Explanation } from '../../src/explain/explanation.ts';
import { explanationJson } from '../../src/explain/page-json.ts';
import { explanationSvg } from '../../src/explain/page-svg.ts';
import { explanationText } from '../../src/explain/page-text.ts';
import type { LogReader } from '../../src/log/log.ts';
import type { Standing } from '../../src/model/response.ts';
import { type Paging, readPage } from '../../src/reader/log-pages.ts';
import { goOn, type QueueOf } from '../../src/reader/log-query.ts';
import { readStory } from '../../src/reader/task-story.ts';
import type { CopiesNote } from '../shared/copies-note.ts';
import type { StoryForm } from '../shared/reader-gate.ts';
import type { FromReader, ToReader } from '../shared/reader-messages.ts';
import { Copies } from './copies.ts';
import { PastStories } from './past-story.ts';

/** What all sessions of the reader share. */
export interface Reading {
  readonly log: LogReader;
  readonly queueOf: QueueOf;
  /** The newest record that may be shown. */
  durable(): number;
  /** How far the log went when history was last removed from it; 0: never. */
  removedAt(): number;
  /** The waiter is woken as soon as the record `waiter.from` is durable. */
  wait(waiter: Waiter): void;
  forget(waiter: Waiter): void;
}

/** Somebody who waits for a record; `wake` is called once. */
export interface Waiter {
  readonly from: number;
  wake(): void;
}

const FORMS: Readonly<Record<StoryForm, (told: Explanation, columns?: number) => string>> = {
  json: explanationJson,
  text: explanationText,
  svg: explanationSvg,
};

/**
 * Answers what comes over the port until it closes.
 * @param dataDir absent: the log is in no directory, and cannot be copied.
 * @param current the log as it is open now; undefined: not yet, and the question is told so.
 * @param sent where a node's copies are noted
 */
export function serveReader(
  port: MessagePort,
  current: () => Reading | undefined | Promise<Reading | undefined>,
  dataDir?: string,
  sent?: CopiesNote,
): void {
  const open = new Map<number, Asked>();
  const copies = new Copies(dataDir, sent);
  const answer = (message: FromReader): void => {
    const { buffer } = 'body' in message ? message.body : { buffer: undefined };
    port.postMessage(message, buffer instanceof ArrayBuffer ? [buffer] : []);
  };
  port.on('message', (message: ToReader) => {
    const { id } = message;
    if (message.kind === 'cancel') return open.get(id)?.cancel();
    if (message.kind === 'hurry') return open.get(id)?.hurry();
    if (message.kind === 'copy') return answer(chunkOf(copies, message));
    if (message.kind === 'end copy') return copies.end(message.copy);
    if (!isQuestion(message)) return;
    const asked = new Asked();
    open.set(id, asked);
    void Promise.resolve(current())
      .then((reading) => take(asked, message, reading))
      .catch((error: Error): FromReader => ({ kind: 'failed', id, message: error.message }))
      .then((found) => {
        open.delete(id);
        return asked.cancelled ? undefined : answer(found);
      });
  });
  port.once('close', () => {
    for (const asked of open.values()) asked.cancel();
    copies.close();
  });
}

function chunkOf(copies: Copies, { id, copy }: { readonly id: number; readonly copy: number }) {
  try {
    return { kind: 'chunk', id, body: copies.next(copy) } as const;
  } catch (error) {
    return { kind: 'failed', id, message: (error as Error).message } as const;
  }
}

/** A question that is not answered yet; a follower's may be open for days. */
class Asked {
  cancelled = false;
  /** It waits for nothing, and is answered. */
  hurries = false;
  #stopWaiting: (() => void) | undefined;

  cancel(): void {
    this.cancelled = true;
    this.#stopWaiting?.();
  }

  hurry(): void {
    this.hurries = true;
    this.#stopWaiting?.();
  }

  /** Resolves when the record `from` is durable, or when nobody waits any more. */
  until(from: number, reading: Reading): Promise<void> {
    if (reading.durable() >= from || this.cancelled || this.hurries) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter: Waiter = {
        from,
        wake: () => {
          this.#stopWaiting = undefined;
          resolve();
        },
      };
      this.#stopWaiting = () => {
        reading.forget(waiter);
        waiter.wake();
      };
      reading.wait(waiter);
    });
  }
}

type Question = Extract<ToReader, { kind: 'page' | 'explain' | 'explain at' }>;

const isQuestion = (message: ToReader): message is Question =>
  message.kind === 'page' || message.kind === 'explain' || message.kind === 'explain at';

async function take(
  asked: Asked,
  message: Question,
  reading: Reading | undefined,
): Promise<FromReader> {
  if (reading === undefined) {
    return { kind: 'failed', id: message.id, message: 'it is not open yet' };
  }
  if (message.kind === 'page') return page(asked, message, reading);
  if (message.kind === 'explain at') return pastStory(asked, message, reading);
  const told = explain(readStory(reading.log, JSON.parse(message.standing) as Standing));
  return { kind: 'text', id: message.id, body: bytes(FORMS[message.form](told, message.columns)) };
}

const past = new PastStories();

async function pastStory(
  asked: Asked,
  { id, taskId, at, form, columns }: Extract<Question, { kind: 'explain at' }>,
  reading: Reading,
): Promise<FromReader> {
  const question = { taskId, at, isCancelled: () => asked.cancelled };
  const told = await past.tell(question, reading);
  if ('kind' in told) return { kind: 'refused', id, refusal: told };
  return { kind: 'text', id, body: bytes(FORMS[form](told, columns)) };
}

async function page(
  asked: Asked,
  { id, query: first, wait }: Extract<Question, { kind: 'page' }>,
  reading: Reading,
): Promise<FromReader> {
  const paging: Paging = {
    log: reading.log,
    queueOf: reading.queueOf,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
    cancelled: () => asked.cancelled,
  };
  for (let query = first; ; ) {
    const { text, records, next, to } = await readPage(paging, query, reading.durable());
    if (records > 0 || !wait || asked.hurries || asked.cancelled) {
      return { kind: 'page', id, body: bytes(text), records, next, to };
    }
    query = goOn(query, next);
    await paging.pause();
    await asked.until(next, reading);
  }
}

/** A buffer of its own, so that it can be moved to the other thread. */
const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
