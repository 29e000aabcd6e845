// Owns the two ways in which the proofs speak to a server, HTTP and the socket, as one: a verb with
// its fields goes in, an answer's fields come out. It knows no more about the protocol than that.

import http from 'node:http';
import net from 'node:net';
import type { Fields } from './server.ts';

export type Op =
  | 'submit'
  | 'lease'
  | 'heartbeat'
  | 'complete'
  | 'fail'
  | 'kill'
  | 'redrive'
  | 'task'
  | 'tasks'
  | 'stats';

export interface Link {
  /** @throws Error when there is no answer: the request may have happened or not. */
  call(op: Op, params: Fields): Promise<Fields>;
  close(): void;
}

/** The connection broke before the answer came. */
export class Cut extends Error {
  override readonly name = 'Cut';
}

const ANSWER_MS = 90_000;

type Route = (params: Fields) => [method: string, path: string, body?: Fields];
const without = (params: Fields, ...names: string[]): Fields =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !names.includes(name)));
const onLease =
  (verb: string): Route =>
  (params) => ['POST', `/v1/leases/${params['lease_id']}/${verb}`, without(params, 'lease_id')];
const onTask =
  (verb: string): Route =>
  (params) => ['POST', `/v1/tasks/${params['task_id']}/${verb}`, without(params, 'task_id')];

const ROUTES: Record<Op, Route> = {
  submit: (params) => ['POST', '/v1/tasks', params],
  lease: (params) => ['POST', '/v1/leases', params],
  heartbeat: onLease('heartbeat'),
  complete: onLease('complete'),
  fail: onLease('fail'),
  kill: onTask('kill'),
  redrive: onTask('redrive'),
  task: (params) => ['GET', `/v1/tasks/${params['task_id']}`],
  tasks: (params) => ['GET', `/v1/tasks?${new URLSearchParams(params as Record<string, string>)}`],
  stats: () => ['GET', '/v1/stats'],
};

export class HttpLink implements Link {
  readonly #port: number;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  constructor(port: number) {
    this.#port = port;
  }

  call(op: Op, params: Fields): Promise<Fields> {
    const [method, path, body] = ROUTES[op](params);
    return new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port: this.#port, method, path, agent: this.#agent };
      const request = http.request({ ...where, timeout: ANSWER_MS }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          try {
            const retryAfter = response.headers['retry-after'];
            const more = retryAfter === undefined ? {} : { retry_after: Number(retryAfter) };
            const answer = JSON.parse(text) as Fields;
            resolve({ ...answer, http_status: response.statusCode, ...more });
          } catch {
            reject(new Cut(`not an answer: ${response.statusCode} ${text.slice(0, 200)}`));
          }
        });
        response.on('error', (error) => reject(new Cut(error.message)));
        response.on('aborted', () => reject(new Cut('aborted')));
      });
      request.on('timeout', () => request.destroy(new Error(`no answer in ${ANSWER_MS} ms`)));
      request.on('error', (error) => reject(new Cut(error.message)));
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** One connection, opened again when it broke; calls may be pipelined. */
export class SocketLink implements Link {
  readonly #port: number;
  readonly #waiting = new Map<number, { resolve(a: Fields): void; reject(e: Error): void }>();
  #socket: net.Socket | undefined;
  #next = 1;

  constructor(port: number) {
    this.#port = port;
  }

  call(op: Op, params: Fields): Promise<Fields> {
    const id = this.#next;
    this.#next += 1;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Cut(`no answer in ${ANSWER_MS} ms`));
      }, ANSWER_MS);
      const over =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(timer);
          then(value);
        };
      this.#waiting.set(id, { resolve: over(resolve), reject: over(reject) });
      this.#socket ??= this.#connect();
      const message = { jsonrpc: '2.0', id, method: op, params };
      this.#socket.write(`${JSON.stringify(message)}\n`);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): net.Socket {
    const socket = net.connect(this.#port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() as string;
      for (const line of lines) this.#take(JSON.parse(line) as Fields);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = undefined;
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of waiting) reject(new Cut('the connection was closed'));
    });
    return socket;
  }

  #take(message: Fields): void {
    const waiting = this.#waiting.get(message['id'] as number);
    this.#waiting.delete(message['id'] as number);
    const { result, error } = message as { result?: Fields; error?: Fields };
    waiting?.resolve(result ?? { rpc_error: error });
  }
}
