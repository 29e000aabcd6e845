// Owns the threads in which the handlers of a CPU-bound worker run, one task at a time each. The
// thread's side is handler-thread.ts.

import { extname } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { PermanentFailure, TaskAborted } from './errors.ts';
import type { HandlerContext, HandlerHost } from './handler.ts';
import type { FromHandler, HandlerResult, HandlerTask, ToHandler } from './handler-messages.ts';
import type { Lease } from './lease.ts';
import { onAbort } from './transport.ts';

export class HandlerPool implements HandlerHost {
  readonly #pool: Piscina;
  readonly #moduleUrl: string;

  constructor(moduleUrl: URL, threads: number) {
    this.#moduleUrl = moduleUrl.href;
    this.#pool = new Piscina({
      filename: new URL(`./handler-thread${extname(import.meta.url)}`, import.meta.url).href,
      minThreads: threads,
      maxThreads: threads,
      // The default parks an idle thread, and what its handler left running would stand still.
      atomics: 'disabled',
    });
  }

  async run(task: Lease, context: HandlerContext): Promise<Buffer | undefined> {
    const { port1: ours, port2: port } = new MessageChannel();
    const tell = (message: ToHandler): void => ours.postMessage(message);
    ours.on('message', ({ ask }: FromHandler) => {
      void context.stillMine().then((isHeld) => tell({ kind: 'beaten', ask, isHeld }));
    });
    const undo = onAbort(context.signal, () => {
      const why = context.signal.reason;
      if (why instanceof TaskAborted) tell({ kind: 'abort', code: why.code, reason: why.reason });
    });
    try {
      const work: HandlerTask = { moduleUrl: this.#moduleUrl, lease: { ...task }, port };
      const result: HandlerResult = await this.#pool.run(work, { transferList: [port] });
      if (result.kind === 'threw') {
        throw result.isPermanent ? new PermanentFailure(result.message) : new Error(result.message);
      }
      if (result.bytes === undefined) return undefined;
      return Buffer.from(result.bytes.buffer, result.bytes.byteOffset, result.bytes.byteLength);
    } finally {
      undo();
      ours.close();
    }
  }

  /** Ends the threads, whatever they are doing. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
