// Owns which of several servers is asked: always the same one, until that server does not answer
// or says that another one leads. Whether a request is sent again is decided in retry.ts.

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
  #current: ListedServer;

  /** @param servers at least one; the first is asked first */
  constructor(servers: readonly ListedServer[]) {
    this.#servers = servers;
    this.#current = servers[0] as ListedServer;
  }

  async send(call: Call, options: SendOptions): Promise<Answer> {
    const [answer] = await this.#ask(async ({ transport }) => [
      await transport.send(call, options),
    ]);
    return answer as Answer;
  }

  sendBatch(calls: readonly Call[], options: SendOptions): Promise<Answer[]> {
    return this.#ask(({ transport }) => transport.sendBatch(calls, options));
  }

  async *follow(params: Wire, signal?: AbortSignal): AsyncGenerator<Wire> {
    const server = this.#current;
    try {
      yield* server.transport.follow(params, signal);
    } catch (error) {
      this.#leaveIfFailed(server, error);
      throw error;
    }
  }

  close(): void {
    for (const { transport } of this.#servers) transport.close();
  }

  async #ask(send: (server: ListedServer) => Promise<Answer[]>): Promise<Answer[]> {
    const server = this.#current;
    try {
      const answers = await send(server);
      const refusal = answers.find(({ body }) => body['reason'] === 'not_leader');
      if (refusal !== undefined) this.#leave(server, refusal.body['leader']);
      return answers;
    } catch (error) {
      this.#leaveIfFailed(server, error);
      throw error;
    }
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
