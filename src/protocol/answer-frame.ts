// Owns how an answer lies in the mailbox: its HTTP status, the seconds after which to try again,
// and its JSON text. The coordinator's thread makes the text, so that the ingresses only pass it
// on.

import type { ByteWriter } from '../model/bytes.ts';
import { REASONS } from '../model/refusal.ts';
import type { Response } from '../model/response.ts';
import { format, writeBody } from './answer-text.ts';
import { type ByteText, byteTextOf } from './byte-text.ts';

/**
 * What an ingress gets. The body is one JSON object in UTF-8. It lies in a batch of the mailbox,
 * which lives as long as somebody keeps the answer.
 */
export class Answer {
  readonly status: number;
  /** 0: do not say when to try again. */
  readonly retryAfterSeconds: number;
  /** The URL of the node to ask instead, at once. */
  readonly leader: string | undefined;
  readonly #bytes: Buffer;
  readonly #from: number;
  readonly #to: number;

  constructor(
    status: number,
    retryAfterSeconds: number,
    bytes: Buffer,
    from = 0,
    to = bytes.length,
    leader?: string,
  ) {
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.leader = leader;
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
  }

  get bodyBytes(): number {
    return this.#to - this.#from;
  }

  /** A view. */
  get body(): Buffer {
    return this.#bytes.subarray(this.#from, this.#to);
  }

  get text(): string {
    return this.#bytes.toString('utf8', this.#from, this.#to);
  }

  /** The body as a text of bytes; see byte-text.ts. */
  get byteText(): ByteText {
    return byteTextOf(this.#bytes, this.#from, this.#to);
  }

  /** The same answer with another status and body. */
  with(status: number, body: string): Answer {
    const bytes = Buffer.from(body);
    return new Answer(status, this.retryAfterSeconds, bytes, 0, bytes.length, this.leader);
  }
}

/** Status and seconds make one word; the text follows. */
const HEAD_BYTES = 4;
const SECONDS_UNIT = 0x1_0000;
const SECONDS_MAX = 0xffff;

/** Writes an answer as it lies in the mailbox. */
export function writeAnswer(out: ByteWriter, response: Response): void {
  out.u32(httpStatus(response) + retryAfterSeconds(response) * SECONDS_UNIT);
  writeBody(out, response);
}

/** @param bytes the message is the part from..to (exclusive) */
export function decodeAnswer(bytes: Buffer, from: number, to: number): Answer {
  const head = bytes.readUInt32LE(from);
  return new Answer(head % SECONDS_UNIT, head >>> 16, bytes, from + HEAD_BYTES, to);
}

/** @returns the same answer as if it had come through the mailbox. */
export function answerOf(response: Response): Answer {
  const bytes = Buffer.from(format(response));
  const leader = response.kind === 'refusal' ? response.leader : undefined;
  const seconds = leader === undefined ? retryAfterSeconds(response) : 0;
  return new Answer(httpStatus(response), seconds, bytes, 0, bytes.length, leader);
}

function retryAfterSeconds(response: Response): number {
  if (response.kind !== 'refusal' || response.retryAfterMs === undefined) return 0;
  return Math.min(Math.max(Math.ceil(response.retryAfterMs / 1_000), 1), SECONDS_MAX);
}

/** @returns the status of HTTP: 201 only where this very request made a task. */
export function httpStatus(response: Response): number {
  switch (response.kind) {
    case 'refusal':
      return REASONS[response.reason].status;
    case 'submitted':
    case 'redriven':
      return response.deduplicated ? 200 : 201;
    default:
      return 200;
  }
}
