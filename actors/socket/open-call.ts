// Owns one call of a connection from its line to its answer: one object, which the connection, the
// gate and the mailbox keep meanwhile. What the call asks for is decided in methods.ts.

import type { Answer } from '../../src/protocol/answer-frame.ts';
import { type AnswerBytes, type ByteText, inBytes } from '../../src/protocol/byte-text.ts';
import { RESULT_END, resultStart } from '../../src/protocol/jsonrpc.ts';
import { Asker } from '../ingress/gate.ts';

/**
 * A longer answer stays a buffer. Texts lie in the heap of the engine, which is bounded, and all of
 * a batch's answers may be more than one text can hold.
 */
const TEXT_MAX_BYTES = 65_536;
const END = Buffer.from(RESULT_END);

/** The connection, as its calls see it. */
export interface Settling {
  /** Called once for each call. */
  settle(call: OpenCall, answer: AnswerBytes): void;
}

/** Where answers are written to: a line for each, or one line for all of a batch. */
export interface AnswerLines {
  put(index: number, answer: AnswerBytes): void;
}

/** Takes bytes in the order in which they leave. */
export interface BytesOut {
  add(bytes: AnswerBytes): void;
}

export class OpenCall extends Asker {
  readonly weight: number;
  readonly lines: AnswerLines;
  /** Of the call within its batch. */
  readonly index: number;
  /** By which its request can be withdrawn or hastened; 0: none. */
  ticket = 0;
  /** Told what the answer came to; absent: nobody asks. */
  onSettled: ((bytes: number) => void) | undefined;
  readonly #id: ByteText;
  readonly #peer: Settling;
  #hurry: AbortController | undefined;

  /** @param id the JSON text of the call's id */
  constructor(peer: Settling, id: string, weight: number, lines: AnswerLines, index: number) {
    super();
    this.#peer = peer;
    this.#id = inBytes(id);
    this.weight = weight;
    this.lines = lines;
    this.index = index;
  }

  /** Aborts when a call that waits without a ticket is to wait no longer. */
  get hurry(): AbortSignal {
    this.#hurry ??= new AbortController();
    return this.#hurry.signal;
  }

  hasten(): void {
    this.#hurry?.abort();
  }

  answered(answer: Answer): void {
    this.#result(answer.bodyBytes <= TEXT_MAX_BYTES ? answer.byteText : answer.body);
  }

  /** @param json the result, as text of letters or as bytes */
  show(json: string | Buffer): void {
    this.#result(typeof json === 'string' ? inBytes(json) : json);
  }

  /** @param answer all of the answer, as text of letters */
  reply(answer: string): void {
    this.#peer.settle(this, inBytes(answer));
  }

  #result(json: AnswerBytes): void {
    const start = resultStart(this.#id) as ByteText;
    const isText = typeof json === 'string';
    const answer = isText
      ? ((start + json + RESULT_END) as ByteText)
      : Buffer.concat([Buffer.from(start, 'latin1'), json, END]);
    this.#peer.settle(this, answer);
  }
}

/** One line in, one line out: the answers stand in the order of the calls. */
export class BatchLine implements AnswerLines {
  readonly #answers: AnswerBytes[];
  #missing: number;
  readonly #out: BytesOut;

  /** @param out takes the line when its last answer is there */
  constructor(count: number, out: BytesOut) {
    this.#answers = new Array(count);
    this.#missing = count;
    this.#out = out;
  }

  put(index: number, answer: AnswerBytes): void {
    this.#answers[index] = answer;
    this.#missing -= 1;
    if (this.#missing > 0) return;
    for (const [place, each] of this.#answers.entries()) {
      this.#out.add(inBytes(place === 0 ? '[' : ','));
      this.#out.add(each);
    }
    this.#out.add(inBytes(']\n'));
  }
}
