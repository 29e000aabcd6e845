// Owns the reading of request bodies. Each body is bounded by its route, and all unfinished bodies
// are bounded together, so that a thousand slow senders cannot fill the memory. It does not look
// into the bytes.

import type { IncomingMessage } from 'node:http';
import { type Refusal, rejected, unavailable } from '../../src/model/refusal.ts';

/** A body that is not taken; the refusal is its answer. */
export class BodyRefused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.detail);
    this.refusal = refusal;
  }
}

export type OnBody = (error: Error | null, body?: Buffer) => void;

export class BodyReader {
  readonly #heldMax: number;
  #held = 0;

  /** @param heldMax bytes of all bodies that have not come to their end. */
  constructor(heldMax: number) {
    this.#heldMax = heldMax;
  }

  /** @param limit bytes of this body. @param onBody called exactly once. */
  read(stream: IncomingMessage, limit: number, onBody: OnBody): void {
    if (Number(stream.headers['content-length'] ?? 0) > limit) return onBody(tooLarge(limit));
    const parts: Buffer[] = [];
    let length = 0;
    const settle = (error: Error | null, body?: Buffer): void => {
      stream.off('data', take).off('end', finish).off('error', broke);
      this.#held -= length;
      onBody(error, body);
    };
    const take = (part: Buffer): void => {
      length += part.length;
      this.#held += part.length;
      parts.push(part);
      if (length > limit) settle(tooLarge(limit));
      else if (this.#held > this.#heldMax) settle(tooMuch());
    };
    const finish = (): void => {
      const [first, ...more] = parts;
      settle(null, more.length === 0 ? (first ?? Buffer.alloc(0)) : Buffer.concat(parts, length));
    };
    // Nobody is there to read this answer; it only ends the request.
    const broke = (): void => settle(new BodyRefused(rejected('malformed', 'The body broke off.')));
    stream.on('data', take).on('end', finish).on('error', broke);
  }
}

const tooLarge = (limit: number): BodyRefused =>
  new BodyRefused(rejected('too_large', `The body is larger than ${limit} bytes.`));

const tooMuch = (): BodyRefused =>
  new BodyRefused(
    unavailable('mailbox_full', 'Too many bodies are on their way; nothing happened.'),
  );
