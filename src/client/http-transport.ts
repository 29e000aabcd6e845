// Owns the way of a request over HTTP: which route it takes, one kept-alive pool of connections,
// and what counts as an answer. It decides nothing about outcomes and retries nothing.

import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { LeaseholdError } from './errors.ts';
import { monotonicMs } from './local-clock.ts';
import {
  type Answer,
  abortReason,
  type Call,
  END_WAIT_MS,
  onAbort,
  type SendOptions,
  type Transport,
  TransportFailure,
  type Wire,
} from './transport.ts';

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Wire | undefined;
}

export class HttpTransport implements Transport {
  readonly #url: URL;
  readonly #token: string | undefined;
  readonly #agent: Agent;
  readonly #open = new Set<ClientRequest>();

  constructor(url: URL, token: string | undefined) {
    this.#url = url;
    this.#token = token;
    const options = { keepAlive: true, scheduling: 'fifo' as const };
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
      const timer = setTimeout(() => {
        request.destroy(new Error(`no answer within ${Math.ceil(options.timeoutMs)} ms`));
      }, options.timeoutMs);
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        for (const take of undo) take();
        this.#open.delete(request);
        settle();
      };
      request.on('socket', (socket) => {
        const connected = (): void => {
          written = true;
        };
        if (socket.connecting) socket.once('connect', connected);
        else connected();
      });
      request.on('error', (cause) => {
        finish(() => reject(new TransportFailure(cause.message, written, { cause })));
      });
      request.on('response', (response) => {
        collect(response).then(
          (answer) => finish(() => resolve({ ...answer, sentAtMs })),
          (cause: Error) => finish(() => reject(cause)),
        );
      });
      request.end(data);
    });
  }

  #start(route: Route, data: Buffer | undefined): ClientRequest {
    const headers: Record<string, string> = { accept: 'application/json' };
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

async function collect(response: IncomingMessage): Promise<Omit<Answer, 'sentAtMs'>> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of response) pieces.push(piece as Buffer);
  } catch (cause) {
    throw new TransportFailure('the answer was cut', true, { cause });
  }
  const status = response.statusCode ?? 0;
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch {
    body = undefined;
  }
  const isAnswer = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (status === 401) throw new LeaseholdError('UNAUTHORIZED', 'the token is missing or wrong');
  if (isAnswer && (status < 400 || 'outcome' in (body as Wire))) {
    const seconds = Number(response.headers['retry-after'] ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
    return { body: body as Wire, retryAfterMs };
  }
  // Not ours: a proxy between us and the coordinator. 5xx is trouble on the way, else misuse.
  if (status >= 500) throw new TransportFailure(`status ${status} from something between`, true);
  throw new LeaseholdError('PROTOCOL', `status ${status} is no answer of a coordinator`);
}

function routeOf({ op, params }: Call): Route {
  const { task_id: task, lease_id: lease, ...rest } = params;
  const taskPath = `/v1/tasks/${encodeURIComponent(String(task))}`;
  switch (op) {
    case 'submit':
      return { method: 'POST', path: '/v1/tasks', body: params };
    case 'lease':
      return { method: 'POST', path: '/v1/leases', body: params };
    case 'heartbeat':
    case 'complete':
    case 'fail': {
      const path = `/v1/leases/${encodeURIComponent(String(lease))}/${op}`;
      return { method: 'POST', path, body: { task_id: task, ...rest } };
    }
    case 'kill':
    case 'redrive':
      return { method: 'POST', path: `${taskPath}/${op}`, body: rest };
    case 'task':
      return { method: 'GET', path: taskPath + query(rest) };
    case 'explain':
      return { method: 'GET', path: `${taskPath}/explain` };
    case 'tasks':
      return { method: 'GET', path: `/v1/tasks${query(params)}` };
    case 'stats':
    case 'config':
      return { method: 'GET', path: `/v1/${op}` };
    default:
      throw new LeaseholdError('INVALID_ARGUMENT', `no request is called ${op}`);
  }
}

function query(params: Wire): string {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) given.set(key, String(value));
  return given.size === 0 ? '' : `?${given}`;
}
