// What the HTTP tests share: a real server on a real port before a coordinator that answers what it
// is told to, over a real mailbox; and a client that sends any bytes.

import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { HttpTimeouts } from '../../actors/http/http-app.ts';
import { HttpServer } from '../../actors/http/http-server.ts';
import type { IngressConfig } from '../../actors/ingress/start-data.ts';
import { type Phase, Progress } from '../../actors/shared/progress.ts';
import { Consumer, type Peer } from '../../src/mailbox/consumer.ts';
import { viewOf } from '../../src/mailbox/frame.ts';
import { createMailbox } from '../../src/mailbox/mailbox.ts';
import { rejected } from '../../src/model/refusal.ts';
import type { Request } from '../../src/model/request.ts';
import type { Response } from '../../src/model/response.ts';
import { writeAnswer } from '../../src/protocol/answer-frame.ts';
import { decodeRequest } from '../../src/protocol/request-codec.ts';

/** @returns undefined: the request stays open. */
export type Decide = (request: Request, ticket: number) => Response | undefined;

export interface Asked {
  readonly request: Request;
  readonly ticket: number;
}

/** Remembers what it was asked, answers by `decide`. */
export class FakeCoordinator {
  readonly asked: Asked[] = [];
  readonly withdrawn: number[] = [];
  readonly hastened: number[] = [];
  readonly mailbox = createMailbox({ maxRequests: 64, maxBytes: 2 ** 24 });
  readonly #consumer: Consumer;
  readonly #open = new Map<number, Peer>();
  decide: Decide;
  /** While true nothing is taken out of the mailbox. */
  asleep = false;

  constructor(decide: Decide) {
    this.decide = decide;
    this.#consumer = new Consumer(() => this.drain());
  }

  drain(): void {
    if (this.asleep) return;
    this.#consumer.drain(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, {
      take: (from, ticket, kind, message) => {
        if (kind === 'withdraw') this.withdrawn.push(ticket);
        else if (kind === 'hasten') this.hastened.push(ticket);
        else {
          const request = decodeRequest(Uint8Array.from(viewOf(message)));
          this.asked.push({ request, ticket });
          this.#open.set(ticket, from);
          const answer = this.decide(request, ticket);
          if (answer !== undefined) this.answer(ticket, answer);
        }
      },
      gone: () => {},
    });
  }

  answer(ticket: number, response: Response): void {
    const peer = this.#open.get(ticket);
    if (peer === undefined) throw new Error(`ticket ${ticket} is not open`);
    this.#open.delete(ticket);
    this.#consumer.replyBy(peer, ticket, writeAnswer, response);
  }

  connect(name: string) {
    const { producer, consumer } = this.mailbox.connect(name);
    this.#consumer.add(consumer);
    return producer;
  }

  /** As if its thread ended. */
  die(): void {
    this.#consumer.close();
  }
}

export interface Setup {
  readonly decide?: Decide;
  readonly config?: Partial<IngressConfig>;
  readonly phase?: Phase;
  readonly timeouts?: HttpTimeouts;
}

export interface Stage {
  readonly server: HttpServer;
  readonly coordinator: FakeCoordinator;
  readonly progress: Progress;
  readonly port: number;
}

export async function startServer(setup: Setup = {}): Promise<Stage> {
  const { decide, config, phase = 'ready', timeouts } = setup;
  const share = Progress.share();
  const progress = new Progress(share);
  progress.phase = phase;
  const coordinator = new FakeCoordinator(decide ?? (() => rejected('unknown_task', 'No task.')));
  const server = new HttpServer({
    progress: share,
    listen: { host: '127.0.0.1', port: 0 },
    ...(timeouts === undefined ? {} : { timeouts }),
    config: {
      payloadMaxBytes: 1_000,
      batchMaxBytes: 200_000,
      shownConfig: { knob: 1 },
      version: '0.0.0',
      ...config,
    },
  });
  const started = await server.start();
  if (!started.ok) throw new Error(started.message);
  server.connect(coordinator.connect('http'));
  const port = Number(new URL(started.address ?? '').port);
  return { server, coordinator, progress, port };
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into any answer.
  readonly json: any;
}

export function send(
  port: number,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: '127.0.0.1', method, path, headers, agent: false });
    request.once('error', reject);
    request.once('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.once('error', reject);
      response.once('end', () => {
        const text = Buffer.concat(parts).toString();
        const type = response.headers['content-type'] ?? '';
        const json = type.includes('json') && text !== '' ? JSON.parse(text) : undefined;
        const status = response.statusCode ?? 0;
        resolve({ status, type, headers: response.headers, text, json });
      });
    });
    const raw = typeof body === 'string' || Buffer.isBuffer(body);
    request.end(body === undefined ? undefined : raw ? body : JSON.stringify(body));
  });
}

/** A connection on which any bytes are sent, and all that comes is gathered. */
export class Wire {
  readonly socket: Socket;
  text = '';
  closed = false;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1' });
    this.socket.on('data', (part) => {
      this.text += part.toString('latin1');
    });
    this.socket.on('error', () => {});
    this.socket.once('close', () => {
      this.closed = true;
    });
  }

  static async open(port: number): Promise<Wire> {
    const wire = new Wire(port);
    await once(wire.socket, 'connect');
    return wire;
  }

  write(text: string): void {
    this.socket.write(text);
  }
}

/** Resolves once the condition holds; asks again every few milliseconds. */
export async function until(condition: () => boolean, what: string, limitMs = 90_000) {
  const started = performance.now();
  while (!condition()) {
    if (performance.now() - started > limitMs) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
