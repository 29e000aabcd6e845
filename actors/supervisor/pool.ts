// Owns the threads of all actors but the coordinator. Each actor is a task of one pool, and the
// task resolves only when its actor was asked to stop. So a task that ends otherwise shows that
// the actor died.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { ActorControl } from '../shared/control.ts';
import { Control } from '../shared/control-port.ts';

/** Whatever an actor needs at its start, the control port excepted. */
export interface ActorSpec {
  readonly name: string;
  /** The module whose default export is the actor: (data) => a promise of its end. */
  readonly file: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Actor<C extends ActorControl> {
  readonly name: string;
  readonly control: Control<C>;
  /** Undefined: it ended because it was asked to; else what it died of. Never rejects. */
  readonly over: Promise<Error | undefined>;
}

export class ActorPool {
  readonly #pool: Piscina;

  constructor(threads: number) {
    this.#pool = new Piscina({
      minThreads: threads,
      maxThreads: threads,
      // The default parks a thread between tasks, which stops everything that it listens to.
      atomics: 'disabled',
      recordTiming: false,
    });
    // A crash rejects the task that it ended; without a listener the event would end the process.
    this.#pool.on('error', () => {});
  }

  start<C extends ActorControl>({ name, file, data }: ActorSpec): Actor<C> {
    const { port1, port2 } = new MessageChannel();
    const control = new Control<C>(name, port1);
    const over = this.#run(file, { ...data, control: port2 }, port2).finally(() => control.close());
    return { name, control, over };
  }

  /** Ends the threads, whatever they do: only after their actors were stopped or given up. */
  async destroy(): Promise<void> {
    await this.#pool.destroy();
  }

  async #run(filename: string, data: object, control: MessagePort): Promise<Error | undefined> {
    try {
      await this.#pool.run(data, { filename, transferList: [control] });
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }
}
