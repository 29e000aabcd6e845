// Owns the bound of the mailbox: how many requests and bytes may lie in it, shared by all threads.
// Admission costs a few atomic operations and no message. When the mailbox is full an offer is
// refused at once: it never waits.

export interface MailboxLimits {
  /** Messages that may lie in the mailbox, at least 8. */
  readonly maxRequests: number;
  /** Their bytes, frames included, at most 1 GiB. */
  readonly maxBytes: number;
}

/** What a thread needs to open the gauge; crosses threads as it is. */
export interface GaugeShare extends MailboxLimits {
  readonly words: SharedArrayBuffer;
}

const REQUESTS = 0;
const BYTES = 1;
const REFUSED = 2;
const WORDS = 3;
const MAX_BYTES = 2 ** 30;

/** @throws RangeError when a limit cannot work. */
export function shareGauge({ maxRequests, maxBytes }: MailboxLimits): GaugeShare {
  const whole = Number.isSafeInteger(maxRequests) && Number.isSafeInteger(maxBytes);
  if (!whole || maxRequests < 8 || maxRequests > MAX_BYTES || maxBytes < 1 || maxBytes > MAX_BYTES)
    throw new RangeError(`mailbox: bad limits ${maxRequests} requests, ${maxBytes} bytes`);
  return { maxRequests, maxBytes, words: new SharedArrayBuffer(WORDS * 4) };
}

export class Gauge {
  readonly #words: Int32Array;
  readonly #reportRequests: number;
  readonly #reportBytes: number;
  readonly #requestRequests: number;
  readonly #requestBytes: number;

  constructor(share: GaugeShare) {
    this.#words = new Int32Array(share.words);
    this.#reportRequests = share.maxRequests;
    this.#reportBytes = share.maxBytes;
    // The last eighth of both bounds is open to reports only.
    this.#requestRequests = share.maxRequests - Math.ceil(share.maxRequests / 8);
    this.#requestBytes = share.maxBytes - Math.ceil(share.maxBytes / 8);
  }

  /** Takes room for one message, or refuses: then nothing has changed but the refusals counted. */
  admit(bytes: number, report: boolean): boolean {
    const maxRequests = report ? this.#reportRequests : this.#requestRequests;
    const maxBytes = report ? this.#reportBytes : this.#requestBytes;
    if (Atomics.load(this.#words, REQUESTS) < maxRequests) {
      const requests = Atomics.add(this.#words, REQUESTS, 1) + 1;
      const before = Atomics.add(this.#words, BYTES, bytes);
      // A message larger than the whole bound passes when the mailbox is empty. Otherwise it could
      // never be sent, and each refusal would tell its sender to try again.
      if (requests <= maxRequests && (before + bytes <= maxBytes || before === 0)) return true;
      this.release(1, bytes);
    }
    Atomics.add(this.#words, REFUSED, 1);
    return false;
  }

  release(requests: number, bytes: number): void {
    Atomics.sub(this.#words, REQUESTS, requests);
    Atomics.sub(this.#words, BYTES, bytes);
  }

  depth(): { requests: number; bytes: number } {
    return {
      requests: Atomics.load(this.#words, REQUESTS),
      bytes: Atomics.load(this.#words, BYTES),
    };
  }

  /** Refusals since the start; wraps at 2^32. */
  get refused(): number {
    return Atomics.load(this.#words, REFUSED) >>> 0;
  }
}

/**
 * How many messages and bytes of one producer were ever admitted. Only the producer writes it.
 * When the producer has died, the consumer reads it to give back the room of messages that died
 * with it.
 */
export class Admitted {
  readonly #words: Uint32Array;

  constructor(words: SharedArrayBuffer) {
    this.#words = new Uint32Array(words);
  }

  static share(): SharedArrayBuffer {
    return new SharedArrayBuffer(8);
  }

  add(bytes: number): void {
    this.#words[0] = (this.#words[0] as number) + 1;
    this.#words[1] = (this.#words[1] as number) + bytes;
  }

  /** @returns how far it is ahead of what was taken; all four numbers wrap at 2^32. */
  ahead(takenRequests: number, takenBytes: number): { requests: number; bytes: number } {
    return {
      requests: ((this.#words[0] as number) - takenRequests) >>> 0,
      bytes: ((this.#words[1] as number) - takenBytes) >>> 0,
    };
  }
}
