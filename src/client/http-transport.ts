// Owns the sending of requests over HTTP: the route of each, one pool of kept-alive connections,
// and what counts as an answer. This file judges no outcome and retries nothing.

import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { TLSSocket } from 'node:tls';
import { httpPlaceIn } from '../protocol/wrong-port.ts';
import { LeaseholdError, RefusedError } from './errors.ts';
import { ACCEPT, bodyIn, parsed, query, type Route, routeOf } from './http-route.ts';
import { after, monotonicMs } from './local-clock.ts';
import { onAbort } from './on-abort.ts';
import { reasonOf } from './reason.ts';
import {
  type Answer,
  abortReason,
  type Call,
  END_WAIT_MS,
  type SendOptions,
  type Transport,
  TransportFailure,
  type Wire,
} from './transport.ts';
import type { Refused } from './types.ts';

/**
 * A connection that nothing was asked over for so long is closed. Each of many tasks that end at
 * the same time opens one; kept, they would be descriptors that the process's own work may lack.
 */
const IDLE_MS = 4_000;

export class HttpTransport implements Transport {
  readonly #url: URL;
  readonly #token: string | undefined;
  readonly #agent: Agent;
  readonly #open = new Set<ClientRequest>();

  /** @param idleMs after which a connection is closed. */
  constructor(url: URL, token: string | undefined, idleMs = IDLE_MS) {
    this.#url = url;
    this.#token = token;
    const options = { keepAlive: true, scheduling: 'fifo' as const, timeout: idleMs };
    this.#agent = url.protocol === 'https:' ? new TlsAgent(options) : new Agent(options);
  }

  send(call: Call, options: SendOptions): Promise<Answer> {
    return this.#exchange(routeOf(call), options);
  }

  async sendBatch(calls: readonly Call[], options: SendOptions): Promise<Answer[]> {
    const requests = calls.map(({ op, params }) => ({ op, ...params }));
    const route: Route = { method: 'POST', path: '/v1/batch', body: { requests } };
    const { body, sentAtMs, retryAfterMs } = await this.#exchange(route, options);
    if (!Array.isArray(body.answers)) {
      // The whole batch was refused, for example because the mailbox is full.
      return calls.map(() => ({ body, sentAtMs, retryAfterMs }));
    }
    return body.answers.map((answer: Wire) => ({ body: answer, sentAtMs }));
  }

  async *follow(params: Wire, signal?: AbortSignal): AsyncGenerator<Wire> {
    const path = `/v1/log${query({ ...params, follow: true })}`;
    const response = await this.#streamed({ method: 'GET', path, form: 'lines' }, signal);
    const failure = (cause?: unknown): TransportFailure =>
      new TransportFailure('the connection broke', true, { cause });
    // readline would let the error of a cut stream go unheard.
    let rest = '';
    try {
      for await (const piece of response.setEncoding('utf8')) {
        const lines = (rest + String(piece)).split('\n');
        rest = lines.pop() as string;
        for (const line of lines) if (line !== '') yield JSON.parse(line) as Wire;
      }
    } catch (cause) {
      signal?.throwIfAborted();
      throw failure(cause);
    } finally {
      response.destroy();
    }
    throw failure();
  }

  /** @returns an answer whose body is still coming. */
  async #streamed(route: Route, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    const request = this.#start(route, undefined);
    this.#open.add(request);
    const undo = onAbort(signal, () => request.destroy());
    request.once('close', () => {
      undo();
      this.#open.delete(request);
    });
    request.end();
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', (cause) => {
        reject(new TransportFailure(reasonOf(cause), false, { cause }));
      });
    });
    if (response.statusCode === 200) return response;
    const { body } = await collect(response, undefined);
    throw new RefusedError('log', body as unknown as Refused);
  }

  close(): void {
    for (const request of this.#open) request.destroy(new Error('the client was closed'));
    this.#agent.destroy();
  }

  #exchange(route: Route, options: SendOptions): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const data = route.body === undefined ? undefined : Buffer.from(JSON.stringify(route.body));
      const sentAtMs = monotonicMs();
      const request = this.#start(route, data);
      let written = false;
      this.#open.add(request);
      const undo = [
        onAbort(options.signal, () => {
          finish(() => reject(abortReason(options.signal)));
          request.destroy();
        }),
        onAbort(options.endWait, () => {
          setTimeout(() => request.destroy(new Error('the wait was ended')), END_WAIT_MS).unref();
          halfClose(request);
        }),
      ];
      const cancelTimeout = after(options.timeoutMs, () => {
        request.destroy(new Error(`no answer within ${Math.ceil(options.timeoutMs)} ms`));
      });
      const finish = (settle: () => void): void => {
        cancelTimeout();
        for (const take of undo) take();
        this.#open.delete(request);
        settle();
      };
      request.on('socket', (socket) => {
        const connected = (): void => {
          written = true;
        };
        // Over TLS nothing is written before both sides agree on the keys.
        const event = socket instanceof TLSSocket ? 'secureConnect' : 'connect';
        if (socket.connecting) socket.once(event, connected);
        else connected();
      });
      request.on('error', (cause) => {
        finish(() => reject(new TransportFailure(reasonOf(cause), written, { cause })));
      });
      request.on('response', (response) => {
        collect(response, route.form).then(
          (answer) => finish(() => resolve({ ...answer, sentAtMs })),
          (cause: Error) => finish(() => reject(cause)),
        );
      });
      request.end(data);
    });
  }

  #start(route: Route, data: Buffer | undefined): ClientRequest {
    const headers: Record<string, string> = { accept: ACCEPT[route.form ?? 'json'] };
    if (data !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = String(data.length);
    }
    if (this.#token !== undefined) headers.authorization = `Bearer ${this.#token}`;
    const path = this.#url.pathname.replace(/\/$/, '') + route.path;
    const send = this.#url.protocol === 'https:' ? httpsRequest : httpRequest;
    const { hostname, port } = this.#url;
    const host = hostname.replace(/^\[|\]$/g, '');
    return send({ host, port, path, method: route.method, headers, agent: this.#agent });
  }
}

/** The coordinator answers a parked request whose client has half-closed at once. */
function halfClose(request: ClientRequest): void {
  const end = (): void => {
    request.socket?.end();
  };
  if (request.writableFinished) end();
  else request.once('finish', end);
}

async function collect(
  response: IncomingMessage,
  form: Route['form'],
): Promise<Omit<Answer, 'sentAtMs'>> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of response) pieces.push(piece as Buffer);
  } catch (cause) {
    throw new TransportFailure('the answer was cut', true, { cause });
  }
  const status = response.statusCode ?? 0;
  const text = Buffer.concat(pieces).toString('utf8');
  if (form !== undefined && status === 200) return { body: bodyIn(form, text) };
  const body = parsed(text);
  const isAnswer = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (status === 401) throw new LeaseholdError('UNAUTHORIZED', 'the token is missing or wrong');
  if (isAnswer && (status < 400 || 'outcome' in body)) {
    const seconds = Number(response.headers['retry-after'] ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
    return { body: body as Wire, retryAfterMs };
  }
  // Not ours: a proxy between us and the coordinator. 5xx is trouble on the way, else misuse.
  if (status >= 500) throw new TransportFailure(`status ${status} from something between`, true);
  const place = httpPlaceIn(text);
  const why =
    place === undefined
      ? `status ${status} is no answer of a coordinator`
      : `this is the port for tcp:, which takes JSON-RPC; HTTP is spoken ${place}`;
  throw new LeaseholdError('PROTOCOL', why);
}
