// What the mailbox tests share: a consumer that answers everything and writes down what it took,
// and waits that end by themselves.

import { Consumer, type MailboxSink, type Peer } from '../../src/mailbox/consumer.ts';
import { type MessageKind, viewOf } from '../../src/mailbox/frame.ts';

export interface Taken {
  readonly from: string;
  readonly ticket: number;
  readonly kind: MessageKind | 'gone';
  readonly text: string;
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** A consumer that drains whenever it is woken; `onTake` may answer. */
export function recordingConsumer(
  onTake: (consumer: Consumer, from: Peer, ticket: number, message: Uint8Array) => void = () => {},
) {
  const taken: Taken[] = [];
  const sink: MailboxSink = {
    take(from, ticket, kind, message) {
      taken.push({ from: from.name, ticket, kind, text: textOf(viewOf(message)) });
      onTake(consumer, from, ticket, viewOf(message));
    },
    gone(from) {
      taken.push({ from: from.name, ticket: -1, kind: 'gone', text: '' });
    },
  };
  const consumer: Consumer = new Consumer(() => {
    consumer.drain(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, sink);
  });
  return { consumer, taken, sink };
}

/** Resolves once the condition holds; asks again each turn of the event loop. */
export async function until(condition: () => boolean, what: string, limitMs = 90_000) {
  const started = performance.now();
  while (!condition()) {
    if (performance.now() - started > limitMs) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets both ends of ports in this thread do what they have to do. */
export async function turns(count = 5) {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
