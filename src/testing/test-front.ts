// Owns the real HTTP server in front of the coordinator of a test, on a free port, and the reader
// behind that server. Both run in the test's own thread.

import { HttpServer } from '../../actors/http/http-server.ts';
import type { HttpIngressData } from '../../actors/ingress/start-data.ts';
import { type Reading, serveReader, type Waiter } from '../../actors/reader/session.ts';
import { watchLag } from '../../actors/shared/event-loop-lag.ts';
import { FiguresHub } from '../../actors/shared/gathered-figures.ts';
import { queueNames } from '../reader/queue-names.ts';
import type { MemoryLoop } from './memory-loop.ts';

export class TestFront {
  readonly #loop: MemoryLoop;
  readonly #http: HttpServer;
  readonly #waiters = new Set<Waiter>();
  readonly #lag = watchLag('reader');
  readonly #ports = new MessageChannel();
  #durable = 0;
  #url = '';

  constructor(loop: MemoryLoop, data: Omit<HttpIngressData, 'control'>) {
    this.#loop = loop;
    this.#http = new HttpServer({ ...data, listen: { ...data.listen, port: 0 } });
  }

  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    serveReader(this.#ports.port2, () => this.#reading());
    new FiguresHub(() => ({ ...this.#lag.figures(), requests: [] })).attach(this.#ports.port2);
    this.#http.connectReader(this.#ports.port1);
    this.connect();
    const started = await this.#http.start();
    if (!started.ok) throw new Error(started.message);
    this.#url = started.address ?? '';
  }

  /** To the loop as it is now; what was asked of an earlier one is answered as not known. */
  connect(): void {
    this.#http.connect(this.#loop.connect('http'));
  }

  /** Cuts every connection: whoever waits for an answer does not get it. */
  cut(): void {
    this.#http.cut();
  }

  /** Records up to this one may be shown. */
  durable(seq: number): void {
    this.#durable = seq;
    for (const waiter of this.#waiters) {
      if (waiter.from > seq) continue;
      this.#waiters.delete(waiter);
      waiter.wake();
    }
  }

  async stop(): Promise<void> {
    await this.#http.stop();
    this.#lag.stop();
    this.#ports.port1.close();
    this.#ports.port2.close();
  }

  #reading(): Reading {
    const { log } = this.#loop;
    return {
      log,
      queueOf: queueNames(log),
      removedAt: () => log.removedAt(),
      durable: () => this.#durable,
      wait: (waiter) => void this.#waiters.add(waiter),
      forget: (waiter) => void this.#waiters.delete(waiter),
    };
  }
}
