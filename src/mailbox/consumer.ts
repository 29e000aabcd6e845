// Owns the consumer's end: the one total order. The batches of all producers stand in one line,
// and `drain` takes from its head only, so no message overtakes another. Replies go back in
// batches. It decides nothing about a message. The coordinator drains when it is ready: no message
// is pushed to it.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { BatchReader, frameBytes, type Message, type MessageKind, type Write } from './frame.ts';
import { Admitted, Gauge } from './gauge.ts';
import type { MailboxEnd } from './mailbox.ts';
import { Outbox } from './outbox.ts';
import { listen } from './port.ts';

/** A producer as the consumer sees it; to be kept with a parked request. */
export class Peer {
  readonly name: string;
  readonly exempt: boolean;
  /** @internal */ readonly port: MessagePort;
  /** @internal */ readonly outbox: Outbox;
  /** @internal */ readonly admitted: Admitted;
  /** @internal */ takenRequests = 0;
  /** @internal */ takenBytes = 0;
  /** False as soon as its end is known to be gone, although messages of it may still be in line. */
  alive = true;

  constructor(end: MailboxEnd) {
    this.name = end.name;
    this.exempt = end.exempt;
    this.port = end.port;
    this.outbox = new Outbox(end.port);
    this.admitted = new Admitted(end.admitted);
  }
}

export interface MailboxSink {
  /** One message, to be used at once: copy what is kept. */
  take(from: Peer, ticket: number, kind: MessageKind, message: Message): void;
  /** The producer is gone; comes after its last message. What it has parked is to be withdrawn. */
  gone(from: Peer): void;
}

interface InLine {
  readonly from: Peer;
  /** Undefined: the notice that the producer is gone. */
  readonly batch: BatchReader | undefined;
}

/** What a drain may still take. */
interface Room {
  messages: number;
  bytes: number;
}

const STEPS_BEFORE_CUT = 1_024;

export class Consumer {
  readonly #onMessages: () => void;
  readonly #peers = new Set<Peer>();
  #gauge: Gauge | undefined;
  #line: InLine[] = [];
  #head = 0;
  #woken = false;
  #isDraining = false;

  /** @param onMessages called when there is something to drain, then not again before a drain. */
  constructor(onMessages: () => void) {
    this.#onMessages = onMessages;
  }

  /** Takes on the consumer's half of a connection; at any time. */
  add(end: MailboxEnd): Peer {
    const peer = new Peer(end);
    this.#gauge ??= new Gauge(end.gauge);
    this.#peers.add(peer);
    listen(
      end.port,
      (batch) => this.#arrive(peer, new BatchReader(batch)),
      () => this.#lose(peer),
    );
    return peer;
  }

  depth(): { requests: number; bytes: number } {
    return this.#gauge?.depth() ?? { requests: 0, bytes: 0 };
  }

  get refused(): number {
    return this.#gauge?.refused ?? 0;
  }

  /**
   * Takes what is there, also what has arrived but was not announced yet, up to the limits; at
   * least one message if there is any. Within a call of the sink nothing more is taken: the message
   * at hand stands in a batch that is not used up.
   * @returns true: there may be more, and it will not be announced again
   */
  drain(limitMessages: number, limitBytes: number, sink: MailboxSink): boolean {
    if (this.#isDraining) return true;
    this.#isDraining = true;
    try {
      return this.#drain({ messages: limitMessages, bytes: limitBytes }, sink);
    } finally {
      this.#isDraining = false;
    }
  }

  #drain(room: Room, sink: MailboxSink): boolean {
    this.#woken = false;
    while (room.messages > 0 && room.bytes > 0) {
      const first = this.#line[this.#head];
      if (first === undefined) {
        if (!this.#collect()) return false;
      } else if (first.batch === undefined) {
        this.#step();
        this.#reclaim(first.from);
        sink.gone(first.from);
      } else if (this.#takeFrom(first.from, first.batch, room, sink)) {
        this.#step();
      }
    }
    return true;
  }

  /** Gathers the one answer to a ticket; dropped when the producer is gone. */
  reply(to: Peer, ticket: number, message: Uint8Array): void {
    if (to.alive) to.outbox.push(ticket, 'reply', message);
  }

  /** The same for an answer that `write` writes to where it is sent from. */
  replyBy<T>(to: Peer, ticket: number, write: Write<T>, value: T): void {
    if (to.alive) to.outbox.compose(ticket, 'reply', write, value);
  }

  /** Sends what is gathered now, not at the end of the turn. */
  flushReplies(): void {
    for (const peer of this.#peers) peer.outbox.flush();
  }

  /** Sends what is gathered and ends all connections: each producer then reports what is open. */
  close(): void {
    this.flushReplies();
    for (const peer of this.#peers) peer.port.close();
  }

  #arrive(from: Peer, batch: BatchReader | undefined): void {
    this.#line.push({ from, batch });
    if (this.#woken) return;
    this.#woken = true;
    this.#onMessages();
  }

  #lose(peer: Peer): void {
    peer.alive = false;
    this.#peers.delete(peer);
    this.#arrive(peer, undefined);
  }

  /** Fetches one batch of each producer that the event loop has not delivered yet. */
  #collect(): boolean {
    const before = this.#line.length;
    for (const from of this.#peers) {
      const received = receiveMessageOnPort(from.port);
      if (received) this.#line.push({ from, batch: new BatchReader(received.message) });
    }
    return this.#line.length > before;
  }

  #step(): void {
    this.#head += 1;
    if (this.#head < this.#line.length && this.#head < STEPS_BEFORE_CUT) return;
    this.#line = this.#line.slice(this.#head);
    this.#head = 0;
  }

  /**
   * @returns true when the batch is used up. Room is given back for every message taken, even when
   * the sink throws.
   */
  #takeFrom(from: Peer, batch: BatchReader, room: Room, sink: MailboxSink): boolean {
    let requests = 0;
    let bytes = 0;
    try {
      while (room.messages > 0 && room.bytes > 0 && batch.next()) {
        const { kind } = batch;
        const size = frameBytes(batch.to - batch.from);
        room.messages -= 1;
        room.bytes -= size;
        if (kind === 'request' || kind === 'report') {
          requests += 1;
          bytes += size;
        }
        sink.take(from, batch.ticket, kind, batch);
      }
    } finally {
      if (!from.exempt) this.#release(from, requests, bytes);
    }
    return batch.done;
  }

  #release(from: Peer, requests: number, bytes: number): void {
    from.takenRequests += requests;
    from.takenBytes += bytes;
    this.#gauge?.release(requests, bytes);
  }

  /**
   * Gives back the room of messages that were admitted but died in their thread before they left
   * it.
   */
  #reclaim(from: Peer): void {
    const { requests, bytes } = from.admitted.ahead(from.takenRequests, from.takenBytes);
    if (requests > 0) this.#release(from, requests, bytes);
  }
}
