// Owns the gathering of the figures that the threads measure: the reader's thread asks every other
// thread. A thread that does not answer in time is left out of that scrape.

import type { MessagePort } from 'node:worker_threads';
import type { ThreadFigures } from '../../src/metrics/request-times.ts';
import type { FromReader, ToReader } from './reader-messages.ts';

const ANSWER_MAX_MS = 500;

/** The other side: answers over a thread's channel to the reader what that thread has measured. */
export function answerFigures(port: MessagePort, own: () => ThreadFigures): void {
  port.on('message', ({ kind, id }: FromReader) => {
    if (kind !== 'ask figures') return;
    port.postMessage({ kind: 'own figures', id, figures: own() } satisfies ToReader);
  });
}

export class FiguresHub {
  readonly #ports = new Set<MessagePort>();
  readonly #open = new Map<number, (figures: ThreadFigures | undefined) => void>();
  readonly #own: () => ThreadFigures;
  #lastId = 0;

  /** @param own the reader's own figures. */
  constructor(own: () => ThreadFigures) {
    this.#own = own;
  }

  attach(port: MessagePort): void {
    this.#ports.add(port);
    port.on('message', (message: ToReader) => {
      if (message.kind === 'own figures') this.#open.get(message.id)?.(message.figures);
      if (message.kind === 'figures') void this.#gather(port, message.id);
    });
    port.once('close', () => this.#ports.delete(port));
  }

  async #gather(asker: MessagePort, id: number): Promise<void> {
    const others = [...this.#ports].filter((port) => port !== asker);
    const found = await Promise.all(others.map((port) => this.#ask(port)));
    const threads = [this.#own(), ...found.filter((figures) => figures !== undefined)];
    asker.postMessage({ kind: 'figures', id, threads } satisfies FromReader);
  }

  #ask(port: MessagePort): Promise<ThreadFigures | undefined> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const late = setTimeout(() => settle(undefined), ANSWER_MAX_MS);
      const settle = (figures: ThreadFigures | undefined): void => {
        clearTimeout(late);
        this.#open.delete(id);
        resolve(figures);
      };
      this.#open.set(id, settle);
      port.postMessage({ kind: 'ask figures', id } satisfies FromReader);
    });
  }
}
