// Owns the threads in which the handlers of a CPU-bound worker run, one task at a time each. The
// thread's side is handler-thread.ts.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { traceparentInHand } from './attempt-span.ts';
import { LeaseholdError, PermanentFailure, TaskAborted } from './errors.ts';
import type { HandlerContext, HandlerHost } from './handler.ts';
import type { FromHandler, HandlerResult, HandlerTask, ToHandler } from './handler-messages.ts';
import type { Lease } from './lease.ts';
import { threadFlags } from './node-flags.ts';
import { onAbort } from './on-abort.ts';
import { reasonOf } from './reason.ts';
import { threadModule } from './thread-module.ts';

export class HandlerPool implements HandlerHost {
  readonly #moduleUrl: string;
  readonly #threads: number;
  #pool: Piscina | undefined;
  #isClosed = false;

  constructor(moduleUrl: URL, threads: number) {
    this.#moduleUrl = moduleUrl.href;
    this.#threads = threads;
  }

  async prepare(): Promise<void> {
    // Loaded here, so that nobody else pays for what starts the threads.
    const { Piscina: Pool } = await import('piscina');
    if (this.#isClosed) return;
    try {
      this.#pool = this.#start(Pool);
    } catch (cause) {
      throw wrongMachine(`a thread cannot be started: ${reasonOf(cause)}`, cause);
    }
    const work: HandlerTask = { moduleUrl: this.#moduleUrl };
    const result = await this.#ask(this.#pool, work).catch((cause: unknown): HandlerResult => {
      return { kind: 'unusable', message: `its thread ended: ${reasonOf(cause)}` };
    });
    if (result.kind !== 'unusable') return;
    const text = `Worker: handler: ${this.#moduleUrl}: ${result.message}`;
    throw new LeaseholdError('INVALID_OPTION', text);
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
      const attempt = { lease: { ...task }, port, traceparent: traceparentInHand(task) };
      const work: HandlerTask = { moduleUrl: this.#moduleUrl, attempt };
      return bytesOf(await this.#ask(this.#pool as Piscina, work, [port]));
    } finally {
      undo();
      ours.close();
    }
  }

  /** Ends the threads, whatever they are doing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.destroy();
  }

  #start(Pool: typeof Piscina): Piscina {
    const flags = threadFlags(process.execArgv);
    return new Pool({
      filename: threadModule('handler-thread').href,
      minThreads: this.#threads,
      maxThreads: this.#threads,
      // The default parks an idle thread, and what its handler left running would stand still.
      atomics: 'disabled',
      ...(flags === undefined ? {} : { execArgv: flags }),
    });
  }

  #ask(pool: Piscina, work: HandlerTask, transferList: readonly MessagePort[] = []) {
    return pool.run(work, { transferList: [...transferList] }) as Promise<HandlerResult>;
  }
}

function bytesOf(result: HandlerResult): Buffer | undefined {
  // The module could be loaded at the start: now it is this thread that cannot.
  if (result.kind === 'unusable') throw wrongMachine(result.message);
  if (result.kind === 'threw') {
    const { message, isPermanent, isWrongMachine } = result;
    if (isWrongMachine) throw wrongMachine(message);
    throw isPermanent ? new PermanentFailure(message) : new Error(message);
  }
  if (result.bytes === undefined) return undefined;
  return Buffer.from(result.bytes.buffer, result.bytes.byteOffset, result.bytes.byteLength);
}

const wrongMachine = (text: string, cause?: unknown): LeaseholdError =>
  new LeaseholdError('WRONG_MACHINE', text, { cause });
