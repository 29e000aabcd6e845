// Owns one life of the coordinator's thread and its mailbox: it starts the thread, hands
// connections over, and tells how the thread ended. It never terminates the thread: termination
// during an LMDB write aborts the whole process.

import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type TransferListItem,
  Worker,
} from 'node:worker_threads';
import type { MailboxLimits } from '../../src/mailbox/gauge.ts';
import { createMailbox, type Mailbox, type MailboxEnd } from '../../src/mailbox/mailbox.ts';
import type {
  CoordinatorData,
  CoordinatorFatal,
  FromCoordinator,
  ToCoordinator,
} from '../shared/control.ts';

export interface CoordinatorPlan {
  readonly file: string;
  readonly data: Omit<CoordinatorData, 'ends' | 'control'>;
  readonly mailbox: MailboxLimits;
}

export type CoordinatorEnd =
  /** It was asked to stop and did. */
  | { readonly kind: 'stopped' }
  /** Starting it anew would not help, or would harm. */
  | CoordinatorFatal
  /** It died without a word of its own. */
  | { readonly kind: 'died'; readonly error: Error };

/** A thread that has said its last words ends within this, unless a write of it hangs. */
const ENDS_WITHIN_MS = 5_000;

export class CoordinatorThread {
  readonly mailbox: Mailbox;
  /** Resolves when the thread is gone, or does not end after its last words. Never rejects. */
  readonly over: Promise<CoordinatorEnd>;
  /** False until the thread is gone: ending the process would wait for it as long as that lasts. */
  gone = false;
  readonly #control: MessagePort;
  readonly #worker: Worker;
  #end: CoordinatorEnd | undefined;
  #giveUp: (end: CoordinatorEnd) => void = () => {};

  constructor(plan: CoordinatorPlan, hear: (message: FromCoordinator) => void) {
    const { port1, port2 } = new MessageChannel();
    this.mailbox = createMailbox(plan.mailbox);
    this.#control = port1;
    const data: CoordinatorData = { ...plan.data, ends: [], control: port2 };
    this.#worker = new Worker(plan.file, { workerData: data, transferList: [port2] });
    const take = (message: FromCoordinator): void => {
      if (message.kind === 'fatal' || message.kind === 'stopped') this.#end ??= message;
      if (message.kind === 'fatal') {
        setTimeout(() => this.#giveUp(message), ENDS_WITHIN_MS).unref();
      }
      hear(message);
    };
    port1.on('message', take);
    this.over = this.#watch(take);
  }

  /** @returns the producer's half of a new connection. */
  connect(name: string, options: { exempt: boolean }): MailboxEnd {
    const { producer, consumer } = this.mailbox.connect(name, options);
    this.#say({ kind: 'attach', end: consumer }, [consumer.port]);
    return producer;
  }

  stop(): void {
    this.#say({ kind: 'stop' });
  }

  #say(message: ToCoordinator, transfer: TransferListItem[] = []): void {
    this.#control.postMessage(message, transfer);
  }

  #watch(take: (message: FromCoordinator) => void): Promise<CoordinatorEnd> {
    return new Promise((resolve) => {
      this.#giveUp = resolve;
      let error: Error | undefined;
      this.#worker.once('error', (thrown) => {
        error = thrown instanceof Error ? thrown : new Error(String(thrown));
      });
      this.#worker.once('exit', (code) => {
        this.gone = true;
        // Its last words may still lie in the port when its end is announced, for however many
        // turns of the event loop: they are taken out.
        let left = receiveMessageOnPort(this.#control);
        for (; left !== undefined; left = receiveMessageOnPort(this.#control)) take(left.message);
        this.#control.close();
        const died = error ?? new Error(`the coordinator's thread exited with ${code}`);
        resolve(this.#end ?? { kind: 'died', error: died });
      });
    });
  }
}
