// Owns the wiring of the mailbox, which carries everything that crosses threads in the data plane.
// It has many producers, one consumer and one total order. It is bounded and batched, and it
// notices the death of either end. The supervisor creates it and hands the ends to the threads;
// the supervisor sees no message.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Admitted, Gauge, type GaugeShare, type MailboxLimits, shareGauge } from './gauge.ts';

/**
 * One half of a connection, as data: give it to a thread with `port` in the transfer list. The
 * transfer throws DataCloneError when the other half is gone already.
 */
export interface MailboxEnd {
  readonly name: string;
  readonly port: MessagePort;
  readonly gauge: GaugeShare;
  readonly admitted: SharedArrayBuffer;
  /** Not counted against the bound; has one message outstanding at most (the timer's ticks). */
  readonly exempt: boolean;
}

export interface Connection {
  readonly producer: MailboxEnd;
  readonly consumer: MailboxEnd;
}

export interface Mailbox {
  /** A new producer and the consumer's half of it; also while the mailbox is in use. */
  connect(name: string, options?: { exempt?: boolean }): Connection;
  depth(): { requests: number; bytes: number };
  readonly refused: number;
}

/** @throws RangeError when a limit cannot work. */
export function createMailbox(limits: MailboxLimits): Mailbox {
  const share = shareGauge(limits);
  const gauge = new Gauge(share);
  return {
    connect(name, { exempt = false } = {}) {
      const { port1, port2 } = new MessageChannel();
      const common = { name, gauge: share, admitted: Admitted.share(), exempt };
      return { producer: { ...common, port: port1 }, consumer: { ...common, port: port2 } };
    },
    depth: () => gauge.depth(),
    get refused() {
      return gauge.refused;
    },
  };
}
