// Owns a producer's end: offers messages, hands over their replies, and when the other side is gone
// reports every ticket still open, so that no request is left without an answer. It does not know
// what a message says, and it never waits: an offer is taken or refused at once.

import type { MessagePort } from 'node:worker_threads';
import { BatchReader, frameBytes, type Message } from './frame.ts';
import { Admitted, Gauge } from './gauge.ts';
import type { MailboxEnd } from './mailbox.ts';
import { Outbox } from './outbox.ts';
import { listen } from './port.ts';

/** `Asked` is what the owner keeps with a message until its reply is there. */
export interface ProducerEvents<Asked> {
  /** Exactly once for each message offered and not withdrawn, unless onDeath names it. The reply is
   * to be used at once: copy what is kept. */
  onReply(asked: Asked, reply: Message): void;
  /** The other side is gone, or this end is closed; `open` get no reply. Called once. */
  onDeath(open: readonly Asked[]): void;
}

const NOTHING = new Uint8Array(0);

export class Producer<Asked> {
  readonly #port: MessagePort;
  readonly #gauge: Gauge;
  readonly #admitted: Admitted;
  readonly #exempt: boolean;
  readonly #outbox: Outbox;
  readonly #events: ProducerEvents<Asked>;
  readonly #open = new Map<number, Asked>();
  #alive = true;
  #dead = false;

  constructor(end: MailboxEnd, events: ProducerEvents<Asked>) {
    this.#port = end.port;
    this.#gauge = new Gauge(end.gauge);
    this.#admitted = new Admitted(end.admitted);
    this.#exempt = end.exempt;
    this.#outbox = new Outbox(end.port);
    this.#events = events;
    listen(
      this.#port,
      (batch) => this.#receive(batch),
      () => this.#die(),
    );
  }

  /** False: the other side is gone or this end is closed, and every offer is refused. */
  get alive(): boolean {
    return this.#alive;
  }

  /** Tickets without a reply yet. */
  get openTickets(): number {
    return this.#open.size;
  }

  depth(): { requests: number; bytes: number } {
    return this.#gauge.depth();
  }

  /**
   * Offers one message; it leaves this thread in the same turn, in the order of the offers.
   * @param ticket an unsigned 32-bit number that is not open at present
   * @param asked given back with the reply
   * @returns false: refused, nothing was sent and the ticket is not open
   * @throws RangeError when the ticket is open already
   */
  offer(ticket: number, kind: 'request' | 'report', message: Uint8Array, asked: Asked): boolean {
    if (!this.#alive) return false;
    if (this.#open.has(ticket)) throw new RangeError(`mailbox: ticket ${ticket} is open already`);
    if (this.#exempt) {
      if (this.#open.size > 0) return false;
    } else {
      const bytes = frameBytes(message.length);
      if (!this.#gauge.admit(bytes, kind === 'report')) return false;
      this.#admitted.add(bytes);
    }
    this.#open.set(ticket, asked);
    this.#outbox.push(ticket, kind, message);
    return true;
  }

  isOpen(ticket: number): boolean {
    return this.#open.has(ticket);
  }

  /** The asker is gone: no reply to this ticket is handed over any more. */
  withdraw(ticket: number): void {
    if (this.#open.delete(ticket)) this.#outbox.push(ticket, 'withdraw', NOTHING);
  }

  /** Withdraws every ticket without a reply. @returns what was kept with them. */
  withdrawAll(): Asked[] {
    const open = [...this.#open];
    for (const [ticket] of open) this.withdraw(ticket);
    return open.map(([, asked]) => asked);
  }

  /** The request must be parked no longer; its reply still comes. */
  hasten(ticket: number): void {
    if (this.#open.has(ticket)) this.#outbox.push(ticket, 'hasten', NOTHING);
  }

  /** Sends what is gathered and ends the connection; what is open is told to onDeath, now. */
  close(): void {
    this.#outbox.flush();
    this.#port.close();
    this.#die();
  }

  #receive(batch: ArrayBuffer): void {
    const reader = new BatchReader(batch);
    while (reader.next()) {
      const { ticket } = reader;
      const asked = this.#open.get(ticket);
      if (this.#open.delete(ticket)) this.#events.onReply(asked as Asked, reader);
    }
  }

  #die(): void {
    this.#alive = false;
    if (this.#dead) return;
    this.#dead = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    this.#events.onDeath(open);
  }
}
