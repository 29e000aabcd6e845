// Owns when gathered messages leave a thread: once per turn of its event loop, or earlier when a
// batch is full or the owner flushes. A lone message waits for nothing but the callbacks of the
// same turn, so batches grow with load and cost no latency without it. (A microtask would send
// after every single callback, and measured slower for a lone message too.)

import type { MessagePort } from 'node:worker_threads';
import { BatchWriter, type MessageKind, type Write } from './frame.ts';

export class Outbox {
  readonly #writer: BatchWriter;
  #scheduled = false;

  constructor(port: MessagePort) {
    this.#writer = new BatchWriter((batch) => port.postMessage(batch, [batch]));
  }

  push(ticket: number, kind: MessageKind, message: Uint8Array): void {
    this.#writer.write(ticket, kind, message);
    this.#schedule();
  }

  /** The same for a message that `write` writes to where it is sent from. */
  compose<T>(ticket: number, kind: MessageKind, write: Write<T>, value: T): void {
    this.#writer.compose(ticket, kind, write, value);
    this.#schedule();
  }

  flush(): void {
    this.#writer.flush();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#writer.flush();
    });
  }
}
