// Owns which of several servers is asked: always the same one, until that server does not answer or
// says that another one leads. It is also left while it is silent and another one leads. Whether a
// request is sent again is decided in resend.ts.

import { LeaderLook } from './leader-look.ts';
import { onAbort } from './on-abort.ts';
import {
  type Answer,
  type Call,
  type SendOptions,
  type Transport,
  TransportFailure,
  type Wire,
} from './transport.ts';

export interface ListedServer {
  readonly url: string;
  readonly transport: Transport;
}

export class ServerList implements Transport {
  readonly #servers: readonly ListedServer[];
  readonly #look: LeaderLook<ListedServer>;
  readonly #open = new Map<AbortController, ListedServer>();
  #current: ListedServer;

  /** @param servers at least one; the first is asked first */
  constructor(servers: readonly ListedServer[]) {
    this.#servers = servers;
    this.#current = servers[0] as ListedServer;
    this.#look = new LeaderLook(
      servers,
      () => this.#current,
      (server, leader) => this.#giveUp(server, leader),
    );
  }

  async send(call: Call, options: SendOptions): Promise<Answer> {
    const [answer] = await this.#ask(options.signal, async ({ transport }, signal) => [
      await transport.send(call, { ...options, signal }),
    ]);
    return answer as Answer;
  }

  sendBatch(calls: readonly Call[], options: SendOptions): Promise<Answer[]> {
    return this.#ask(options.signal, ({ transport }, signal) =>
      transport.sendBatch(calls, { ...options, signal }),
    );
  }

  async *follow(params: Wire, signal?: AbortSignal): AsyncGenerator<Wire> {
    const server = this.#current;
    const opened = this.#opened(server, signal);
    try {
      yield* server.transport.follow(params, opened.signal);
    } catch (error) {
      const told = opened.givenUp() ?? error;
      this.#leaveIfFailed(server, told);
      throw told;
    } finally {
      opened.close();
    }
  }

  close(): void {
    for (const { transport } of this.#servers) transport.close();
  }

  async #ask(
    given: AbortSignal | undefined,
    send: (server: ListedServer, signal: AbortSignal) => Promise<Answer[]>,
  ): Promise<Answer[]> {
    const server = this.#current;
    const { signal, close } = this.#opened(server, given);
    try {
      const answers = await send(server, signal);
      const refusal = answers.find(({ body }) => body['reason'] === 'not_leader');
      if (refusal !== undefined) this.#leave(server, refusal.body['leader']);
      return answers;
    } catch (error) {
      this.#leaveIfFailed(server, error);
      throw error;
    } finally {
      close();
    }
  }

  /** A request goes out; its signal also aborts when its server is given up. */
  #opened(server: ListedServer, given: AbortSignal | undefined) {
    const own = new AbortController();
    const undo = onAbort(given, () => own.abort(given?.reason));
    const over = this.#look.begin();
    this.#open.set(own, server);
    return {
      signal: own.signal,
      givenUp: () =>
        own.signal.aborted && given?.aborted !== true ? own.signal.reason : undefined,
      close: () => {
        undo();
        over();
        this.#open.delete(own);
      },
    };
  }

  /** Whatever waits there would wait for as long as that machine sleeps. */
  #giveUp(server: ListedServer, leader: string): void {
    this.#leave(server, leader);
    const failure = new TransportFailure(`it does not answer, and ${leader} leads`, true);
    for (const [own, at] of this.#open) if (at === server) own.abort(failure);
  }

  #leaveIfFailed(server: ListedServer, error: unknown): void {
    if (error instanceof TransportFailure) this.#leave(server);
  }

  /** For the one that is named, if it is in the list, else for the next one. */
  #leave(server: ListedServer, named?: unknown): void {
    // Many requests may fail at the same time. Only the first one changes the server; otherwise
    // the others would skip servers that nobody has tried.
    if (server !== this.#current) return;
    const at = this.#servers.indexOf(server);
    const next = this.#servers[(at + 1) % this.#servers.length] as ListedServer;
    this.#current = this.#servers.find(({ url }) => url === named && url !== server.url) ?? next;
  }
}
