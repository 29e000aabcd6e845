// Owns the life of the HTTP ingress: listening, taking no more requests, ending. Ending is quick
// whatever clients do: finished answers are written out, unfinished requests and idle connections
// are cut.

import type { Socket } from 'node:net';
import type { MessagePort } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';
import { Gate } from '../ingress/gate.ts';
import { ReaderLink } from '../ingress/reader-link.ts';
import type { IngressConfig, ListenAddress } from '../ingress/start-data.ts';
import type { StartResult } from '../shared/control.ts';
import { listenText } from '../shared/listen-text.ts';
import { Progress } from '../shared/progress.ts';
import { createApp, type HttpTimeouts } from './http-app.ts';

/** Requests without an answer at a time over all connections, parked ones included. */
const OPEN_MAX = 32_768;
/** A client that does not read what it asked for is cut off after so long. */
const LAST_WORDS_MS = 500;

export interface HttpServerOptions {
  readonly progress: SharedArrayBuffer;
  readonly config: IngressConfig;
  readonly listen: ListenAddress;
  readonly timeouts?: HttpTimeouts;
}

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #progress: Progress;
  readonly #gate: Gate;
  readonly #reader: ReaderLink;
  readonly #sockets = new Set<Socket>();
  #app: FastifyInstance | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#progress = new Progress(options.progress);
    this.#gate = new Gate(this.#progress, OPEN_MAX);
    this.#reader = new ReaderLink(this.#gate);
  }

  connect(end: MailboxEnd): void {
    this.#gate.connect(end);
  }

  connectReader(port: MessagePort): void {
    this.#reader.connect(port);
  }

  async start(): Promise<StartResult> {
    const { config, listen, timeouts } = this.#options;
    const link = {
      gate: this.#gate,
      reader: this.#reader,
      progress: this.#progress,
      limits: config,
      batchMaxBytes: config.batchMaxBytes,
      shownConfig: config.shownConfig,
      version: config.version,
      config,
    };
    const app = await createApp(link, listen.host, timeouts);
    app.server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    try {
      const address = await app.listen({ host: listen.host, port: listen.port });
      this.#app = app;
      return { ok: true, address };
    } catch (error) {
      const { code = 'LISTEN' } = error as NodeJS.ErrnoException;
      return { ok: false, code, message: listenText(error as Error, '--http') };
    }
  }

  /** Ends every connection as it is, answered or not. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Connections that are there stay: what was asked on them is still answered. */
  quiesce(): void {
    this.#gate.refuseNew();
    this.#app?.server.close();
  }

  /** After the coordinator has answered everything. */
  async stop(): Promise<void> {
    this.quiesce();
    this.#gate.close();
    this.#reader.close();
    // What the closing gate answered is written at the end of this turn.
    await new Promise((resolve) => setImmediate(resolve));
    for (const socket of this.#sockets) socket.destroySoon();
    if (this.#sockets.size === 0) return;
    await new Promise<void>((resolve) => {
      const cut = setTimeout(() => {
        for (const socket of this.#sockets) socket.destroy();
      }, LAST_WORDS_MS);
      for (const socket of this.#sockets) {
        socket.once('close', () => {
          if (this.#sockets.size > 0) return;
          clearTimeout(cut);
          resolve();
        });
      }
    });
  }
}
