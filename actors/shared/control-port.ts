// Owns the two ends of a control port. Comlink carries the calls but does not notice the death of
// the other side: an open call would hang for ever. Here every open call is rejected when the
// other side dies.

import type { MessagePort } from 'node:worker_threads';
import * as Comlink from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';

/** The actor is dead, or its control port is closed: whether the call was heard is not known. */
export class ActorGone extends Error {
  override readonly name = 'ActorGone';
  readonly code = 'ACTOR_GONE';
  constructor(actor: string) {
    super(`the ${actor} actor is gone`);
  }
}

/** The supervisor's end. */
export class Control<C extends object> {
  readonly #actor: string;
  readonly #port: MessagePort;
  readonly #remote: C;
  readonly #open = new Set<(error: Error) => void>();
  #gone = false;

  constructor(actor: string, port: MessagePort) {
    this.#actor = actor;
    this.#port = port;
    this.#remote = Comlink.wrap(nodeEndpoint(port)) as unknown as C;
    port.once('close', () => this.#die());
  }

  /** @throws ActorGone */
  async call<R>(ask: (remote: C) => Promise<R> | R): Promise<R> {
    if (this.#gone) throw new ActorGone(this.#actor);
    // Comlink's own types split unions apart; what is called here are plain methods.
    const { promise, reject } = withReject<R>();
    this.#open.add(reject);
    try {
      return await Promise.race([ask(this.#remote), promise]);
    } finally {
      this.#open.delete(reject);
    }
  }

  close(): void {
    this.#port.close();
    this.#die();
  }

  #die(): void {
    this.#gone = true;
    for (const reject of this.#open) reject(new ActorGone(this.#actor));
    this.#open.clear();
  }
}

/** The actor's end: from now on the port's calls are calls of `actor`. */
export function serveControl(port: MessagePort, actor: object): void {
  Comlink.expose(actor, nodeEndpoint(port));
}

/** Marks a value whose ports move to the other side instead of being copied. */
export const moved = <T>(value: T, ports: MessagePort[]): T =>
  Comlink.transfer(value as T & object, ports) as T;

function withReject<R>(): { promise: Promise<R>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<R>((_, no) => {
    reject = no;
  });
  return { promise, reject };
}
