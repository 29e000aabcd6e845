// Owns a client's way to several nodes: it stays with one until that one refuses or does not
// answer, and then asks the next one. What may be sent again is sent until somebody decides it;
// then the history has one request, from its first try to its answer.

import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../simulator/random.ts';
import { Cut, HttpLink, type Link, type Op } from '../support/links.ts';
import type { Fields } from '../support/server.ts';

/** A second kill would be rejected because of the first, and a second lease is another one. */
const SENT_AGAIN: readonly Op[] = ['submit', 'heartbeat', 'complete', 'fail', 'task'];
const ANSWER_MS = 1_500;

export class NodesLink implements Link {
  readonly #ports: readonly number[];
  readonly #dice: Random;
  readonly #answerMs: number;
  #at: number;
  #link: HttpLink;
  #isOver = false;

  /** @param ports of all nodes; of one, for a client that asks that one alone. */
  constructor(ports: readonly number[], dice: Random, answerMs = ANSWER_MS) {
    this.#ports = ports;
    this.#dice = dice;
    this.#answerMs = answerMs;
    this.#at = dice.below(ports.length);
    this.#link = this.#open();
  }

  async call(op: Op, params: Fields): Promise<Fields> {
    const isSentAgain = this.#ports.length > 1 && SENT_AGAIN.includes(op);
    for (;;) {
      try {
        const answer = await this.#once(op, params);
        if (answer['outcome'] !== 'UNAVAILABLE') return answer;
        await this.#moveOn();
        if (!isSentAgain || this.#isOver) return answer;
      } catch (error) {
        if (!(error instanceof Cut)) throw error;
        await this.#moveOn();
        if (!isSentAgain || this.#isOver) throw error;
      }
    }
  }

  close(): void {
    this.#isOver = true;
    this.#link.close();
  }

  async #once(op: Op, params: Fields): Promise<Fields> {
    const link = this.#link;
    const timer = setTimeout(() => link.close(), this.#answerMs);
    try {
      return await link.call(op, params);
    } finally {
      clearTimeout(timer);
    }
  }

  async #moveOn(): Promise<void> {
    this.#link.close();
    this.#at += 1;
    this.#link = this.#open();
    await pause(this.#dice.between(20, 80));
  }

  #open(): HttpLink {
    return new HttpLink(this.#ports[this.#at % this.#ports.length] as number);
  }
}
