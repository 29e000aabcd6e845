// Owns how messages lie in a batch: frames of three 32-bit words (length, ticket, kind) and the
// message, padded to 4 bytes so that each header is aligned. It knows nothing of what a message
// says.

import { ByteWriter } from '../model/bytes.ts';

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
/** Of a writer: a message whose length is not known before may stand across the end of a batch. */
const BUFFER_BYTES = 2 * BATCH_BYTES;

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

/** Writes a message that is made of a value. The two are kept apart: a closure would be garbage. */
export type Write<T> = (out: ByteWriter, value: T) => void;

/** Gathers frames in one buffer that is used again and again; what is sent is an exact copy. */
export class BatchWriter {
  readonly #send: (batch: ArrayBuffer) => void;
  #out = new ByteWriter(BUFFER_BYTES);
  /** Where the last whole frame ends. */
  #used = 0;

  /** @param send called with each finished batch, oldest first. */
  constructor(send: (batch: ArrayBuffer) => void) {
    this.#send = send;
  }

  /** Copies the message: the caller may reuse its bytes at once. A full batch is sent. */
  write(ticket: number, kind: MessageKind, message: Uint8Array): void {
    if (frameBytes(message.length) > BATCH_BYTES - this.#used) this.flush();
    this.compose(ticket, kind, writeBytes, message);
  }

  /** A message whose length is known only when it stands at the place from which it is sent. */
  compose<T>(ticket: number, kind: MessageKind, write: Write<T>, value: T): void {
    const out = this.#out;
    // A message whose writing ended in an error stands there without a header: it is overwritten.
    out.length = this.#used;
    const start = out.claim(HEADER_BYTES);
    write(out, value);
    const length = out.length - start - HEADER_BYTES;
    out.claim(frameBytes(length) - length - HEADER_BYTES);
    out.setU32(start, length);
    out.setU32(start + 4, ticket);
    out.setU32(start + 8, messageKinds.indexOf(kind));
    this.#used = out.length;
    if (this.#used >= BATCH_BYTES) this.flush();
  }

  flush(): void {
    if (this.#used === 0) return;
    this.#out.length = this.#used;
    const batch = this.#out.copy();
    this.#used = 0;
    // It grew for a long message.
    if (batch.byteLength > BUFFER_BYTES) this.#out = new ByteWriter(BUFFER_BYTES);
    this.#send(batch);
  }
}

const writeBytes: Write<Uint8Array> = (out, message) => out.raw(message);

/** Walks through a batch, and is itself the message at which it stands. */
export class BatchReader implements Message {
  readonly bytes: Buffer;
  #offset = 0;
  ticket = 0;
  kind: MessageKind = 'request';
  from = 0;
  to = 0;

  constructor(batch: ArrayBuffer) {
    this.bytes = Buffer.from(batch);
  }

  get done(): boolean {
    return this.#offset >= this.bytes.length;
  }

  /** Steps to the next frame; false at the end. */
  next(): boolean {
    if (this.done) return false;
    const { bytes } = this;
    const start = this.#offset;
    const length = bytes.readUInt32LE(start);
    this.ticket = bytes.readUInt32LE(start + 4);
    this.kind = messageKinds[bytes.readUInt32LE(start + 8)] as MessageKind;
    this.from = start + HEADER_BYTES;
    this.to = this.from + length;
    this.#offset += frameBytes(length);
    return true;
  }
}
