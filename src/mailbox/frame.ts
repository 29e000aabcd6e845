// Owns how messages lie in a batch: frames of three 32-bit words (length, ticket, kind) and the
// message, padded to 4 bytes so that headers are read and written as words. It knows nothing of
// what a message says. Both ends live in one process, so the machine's byte order is the order.

/**
 * request: counts against the bound.
 * report: as request, and may use the last eighth: a heartbeat, complete or fail keeps or ends a
 * lease, and new work must not shut it out.
 * withdraw: the client of the ticket is gone and wants no answer.
 * hasten: the ticket must not wait any longer.
 * reply: the one answer to a ticket.
 */
export const messageKinds = ['request', 'report', 'withdraw', 'hasten', 'reply'] as const;
export type MessageKind = (typeof messageKinds)[number];

const HEADER_BYTES = 12;
// Small enough that the other thread has something to do while a burst is still being written.
const BATCH_BYTES = 16 * 1024;
const EMPTY = new Uint8Array(0);

/** What a message of so many bytes occupies in a batch, and so what it counts in the bound. */
export const frameBytes = (messageBytes: number): number => (messageBytes + HEADER_BYTES + 3) & ~3;

/** Gathers frames in one buffer that is used again and again; what is sent is an exact copy. */
export class BatchWriter {
  readonly #send: (batch: ArrayBuffer) => void;
  readonly #buffer = new ArrayBuffer(BATCH_BYTES);
  readonly #words = new Uint32Array(this.#buffer);
  readonly #bytes = new Uint8Array(this.#buffer);
  #used = 0;

  /** @param send called with each finished batch, oldest first. */
  constructor(send: (batch: ArrayBuffer) => void) {
    this.#send = send;
  }

  /** Copies the message: the caller may reuse its bytes at once. A full batch is sent. */
  write(ticket: number, kind: MessageKind, message: Uint8Array): void {
    const size = frameBytes(message.length);
    if (size > BATCH_BYTES - this.#used) this.flush();
    if (size > BATCH_BYTES) return this.#sendAlone(ticket, kind, message);
    putFrame(this.#words, this.#bytes, this.#used, ticket, kind, message);
    this.#used += size;
  }

  flush(): void {
    if (this.#used === 0) return;
    const batch = this.#buffer.slice(0, this.#used);
    this.#used = 0;
    this.#send(batch);
  }

  #sendAlone(ticket: number, kind: MessageKind, message: Uint8Array): void {
    const buffer = new ArrayBuffer(frameBytes(message.length));
    putFrame(new Uint32Array(buffer), new Uint8Array(buffer), 0, ticket, kind, message);
    this.#send(buffer);
  }
}

function putFrame(
  words: Uint32Array,
  bytes: Uint8Array,
  offset: number,
  ticket: number,
  kind: MessageKind,
  message: Uint8Array,
): void {
  const word = offset >>> 2;
  words[word] = message.length;
  words[word + 1] = ticket;
  words[word + 2] = messageKinds.indexOf(kind);
  bytes.set(message, offset + HEADER_BYTES);
}

/** Walks through a batch. `message` is a view into it: who keeps it keeps the whole batch. */
export class BatchReader {
  readonly #bytes: Buffer;
  readonly #words: Uint32Array;
  #offset = 0;
  ticket = 0;
  kind: MessageKind = 'request';
  message: Uint8Array = EMPTY;

  constructor(batch: ArrayBuffer) {
    this.#bytes = Buffer.from(batch);
    this.#words = new Uint32Array(batch);
  }

  get done(): boolean {
    return this.#offset >= this.#bytes.length;
  }

  /** Steps to the next frame; false at the end. */
  next(): boolean {
    if (this.done) return false;
    const word = this.#offset >>> 2;
    const length = this.#words[word] as number;
    this.ticket = this.#words[word + 1] as number;
    this.kind = messageKinds[this.#words[word + 2] as number] as MessageKind;
    const start = this.#offset + HEADER_BYTES;
    this.message = this.#bytes.subarray(start, start + length);
    this.#offset += frameBytes(length);
    return true;
  }
}
