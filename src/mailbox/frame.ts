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
const WORD_BYTES = 4;
/** UTF-8 of one code unit of a string. */
const CODE_UNIT_BYTES_MAX = 3;

/** What a message of so many bytes occupies in a batch, and so what it counts in the bound. */
export const frameBytes = (messageBytes: number): number => (messageBytes + HEADER_BYTES + 3) & ~3;

/**
 * A message, by its place in a batch: a view of its own for each would cost more than most messages
 * do. It is there until its owner goes on to the next one; who keeps its bytes keeps the batch.
 */
export interface Message {
  readonly bytes: Buffer;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export const viewOf = ({ bytes, from, to }: Message): Buffer => bytes.subarray(from, to);

/** Gathers frames in one buffer that is used again and again; what is sent is an exact copy. */
export class BatchWriter {
  readonly #send: (batch: ArrayBuffer) => void;
  readonly #buffer = new ArrayBuffer(BATCH_BYTES);
  readonly #words = new Uint32Array(this.#buffer);
  readonly #bytes = Buffer.from(this.#buffer);
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

  /**
   * A message of one word, low byte first, and a text in UTF-8. The text becomes bytes at the place
   * from which they are sent.
   */
  writeText(ticket: number, kind: MessageKind, word: number, text: string): void {
    const most = frameBytes(WORD_BYTES + text.length * CODE_UNIT_BYTES_MAX);
    if (most > BATCH_BYTES - this.#used) this.flush();
    if (most > BATCH_BYTES) return this.write(ticket, kind, ofWordAndText(word, text));
    const start = this.#used + HEADER_BYTES;
    this.#bytes.writeUInt32LE(word, start);
    const length = WORD_BYTES + this.#bytes.write(text, start + WORD_BYTES, 'utf8');
    putHeader(this.#words, this.#used, ticket, kind, length);
    this.#used += frameBytes(length);
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

function ofWordAndText(word: number, text: string): Uint8Array {
  const message = Buffer.allocUnsafe(WORD_BYTES + Buffer.byteLength(text));
  message.writeUInt32LE(word, 0);
  message.write(text, WORD_BYTES, 'utf8');
  return message;
}

function putHeader(
  words: Uint32Array,
  offset: number,
  ticket: number,
  kind: MessageKind,
  length: number,
): void {
  const word = offset >>> 2;
  words[word] = length;
  words[word + 1] = ticket;
  words[word + 2] = messageKinds.indexOf(kind);
}

function putFrame(
  words: Uint32Array,
  bytes: Uint8Array,
  offset: number,
  ticket: number,
  kind: MessageKind,
  message: Uint8Array,
): void {
  putHeader(words, offset, ticket, kind, message.length);
  bytes.set(message, offset + HEADER_BYTES);
}

/** Walks through a batch, and is itself the message at which it stands. */
export class BatchReader implements Message {
  readonly bytes: Buffer;
  readonly #words: Uint32Array;
  #offset = 0;
  ticket = 0;
  kind: MessageKind = 'request';
  from = 0;
  to = 0;

  constructor(batch: ArrayBuffer) {
    this.bytes = Buffer.from(batch);
    this.#words = new Uint32Array(batch);
  }

  get done(): boolean {
    return this.#offset >= this.bytes.length;
  }

  /** Steps to the next frame; false at the end. */
  next(): boolean {
    if (this.done) return false;
    const word = this.#offset >>> 2;
    const length = this.#words[word] as number;
    this.ticket = this.#words[word + 1] as number;
    this.kind = messageKinds[this.#words[word + 2] as number] as MessageKind;
    this.from = this.#offset + HEADER_BYTES;
    this.to = this.from + length;
    this.#offset += frameBytes(length);
    return true;
  }
}
