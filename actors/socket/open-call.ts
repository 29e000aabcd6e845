// Owns one call of a connection from its line to its answer: one object, which the connection, the
// gate and the mailbox keep meanwhile. What the call asks for is decided in methods.ts.

import type { Answer } from '../../src/protocol/answer-frame.ts';
import { type ByteText, byteTextOf, inBytes } from '../../src/protocol/byte-text.ts';
import { RESULT_END, resultStart } from '../../src/protocol/jsonrpc.ts';
import { Asker } from '../ingress/gate.ts';

/** The connection, as its calls see it. */
export interface Settling {
  /** Called once for each call. */
  settle(call: OpenCall, answer: ByteText): void;
}

/** Where answers are written to: a line for each, or one line for all of a batch. */
export interface AnswerLines {
  put(index: number, answer: ByteText): void;
}

export class OpenCall extends Asker {
  readonly weight: number;
  readonly lines: AnswerLines;
  /** Of the call within its batch. */
  readonly index: number;
  /** By which its request can be withdrawn or hastened; 0: none. */
  ticket = 0;
  readonly #id: string;
  readonly #peer: Settling;

  /** @param id the JSON text of the call's id */
  constructor(peer: Settling, id: string, weight: number, lines: AnswerLines, index: number) {
    super();
    this.#peer = peer;
    this.#id = id;
    this.weight = weight;
    this.lines = lines;
    this.index = index;
  }

  answered({ byteText }: Answer): void {
    this.#result(byteText);
  }

  /** @param json the result, as text of letters or as bytes */
  show(json: string | Buffer): void {
    this.#result(typeof json === 'string' ? inBytes(json) : byteTextOf(json));
  }

  /** @param answer all of the answer, as text of letters */
  reply(answer: string): void {
    this.#peer.settle(this, inBytes(answer));
  }

  #result(json: ByteText): void {
    const start = inBytes(resultStart(this.#id));
    this.#peer.settle(this, (start + json + RESULT_END) as ByteText);
  }
}

/** One line in, one line out: the answers stand in the order of the calls. */
export class BatchLine implements AnswerLines {
  readonly #answers: ByteText[];
  #missing: number;
  readonly #lines: AnswerLines;

  /** @param lines take the line when its last answer is there */
  constructor(count: number, lines: AnswerLines) {
    this.#answers = new Array(count);
    this.#missing = count;
    this.#lines = lines;
  }

  put(index: number, answer: ByteText): void {
    this.#answers[index] = answer;
    this.#missing -= 1;
    if (this.#missing === 0) this.#lines.put(0, `[${this.#answers.join(',')}]` as ByteText);
  }
}
