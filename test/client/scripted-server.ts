// Owns a server that answers as a test says, over HTTP and over the socket alike: so that each rule
// of the client is tried on both transports. Its sockets are real; it decides nothing by itself.

import {
  createServer as createHttp,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export type Body = Record<string, unknown>;
/** A body, or what becomes of the connection instead. */
export type Reply = Body | 'cut' | 'hang';
/** `times` says how often this op was asked, this time included. */
export type Script = (op: string, params: Body, times: number) => Reply | Promise<Reply>;

export interface ScriptedServer {
  readonly url: string;
  readonly asked: { readonly op: string; readonly params: Body }[];
  script: Script;
  token: string | undefined;
  /** Connections that are open now. */
  readonly connections: number;
  close(): Promise<void>;
}

const ROUTES: [RegExp, (match: RegExpExecArray, method: string) => [op: string, more: Body]][] = [
  [/^\/v1\/tasks$/, (_, method) => [method === 'POST' ? 'submit' : 'tasks', {}]],
  [/^\/v1\/leases$/, () => ['lease', {}]],
  [/^\/v1\/leases\/(\w+)\/(\w+)$/, ([, lease, op]) => [op as string, { lease_id: lease }]],
  [/^\/v1\/tasks\/(\w+)\/(\w+)$/, ([, task, op]) => [op as string, { task_id: task }]],
  [/^\/v1\/tasks\/(\w+)$/, ([, task]) => ['task', { task_id: task }]],
  [/^\/v1\/(\w+)$/, ([, op]) => [op as string, {}]],
];

export async function scriptedServer(
  kind: 'http' | 'tcp',
  script: Script,
  atPort = 0,
): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const times = new Map<string, number>();
  const state = {
    asked: [] as { op: string; params: Body }[],
    script,
    token: undefined as string | undefined,
    async ask(op: string, params: Body): Promise<Reply> {
      times.set(op, (times.get(op) ?? 0) + 1);
      state.asked.push({ op, params });
      return state.script(op, params, times.get(op) as number);
    },
  };
  const server = kind === 'http' ? overHttp(state) : overSocket(state);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(atPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const url = `${kind}://127.0.0.1:${port}`;
  const shown = Object.assign(state, { url, close, connections: 0 });
  return Object.defineProperty(shown, 'connections', { get: () => sockets.size });
}

interface Asking {
  ask(op: string, params: Body): Promise<Reply>;
  readonly token: string | undefined;
}

function overHttp(state: Asking): HttpServer {
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://x');
    const body = await bodyOf(request);
    if (state.token !== undefined && request.headers.authorization !== `Bearer ${state.token}`) {
      response.writeHead(401).end('{"outcome":"REJECTED","reason":"unauthorized"}');
      return;
    }
    const params = { ...Object.fromEntries(url.searchParams), ...body };
    const [op, more] = routed(url.pathname, request.method ?? 'GET');
    let answer: Reply;
    if (op === 'batch') {
      const requests = params.requests as ({ op: string } & Body)[];
      const answers: Reply[] = [];
      for (const { op: one, ...rest } of requests) answers.push(await state.ask(one, rest));
      answer = answers.find((each) => typeof each === 'string') ?? { answers };
    } else answer = await state.ask(op, { ...params, ...more });
    if (answer === 'cut') request.socket.resetAndDestroy();
    else if (answer !== 'hang') {
      const isRefusal = ['REJECTED', 'CANCELLED', 'UNAVAILABLE'].includes(String(answer.outcome));
      response.writeHead(isRefusal ? 409 : 200).end(JSON.stringify(answer));
    }
  };
  return createHttp((request, response) => void take(request, response));
}

function routed(path: string, method: string): [op: string, more: Body] {
  for (const [pattern, read] of ROUTES) {
    const match = pattern.exec(path);
    if (match !== null) return read(match, method);
  }
  throw new Error(`no route ${path}`);
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? {} : JSON.parse(text);
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: Body;
}

function overSocket(state: Asking): Server {
  return createServer({ allowHalfOpen: true }, (socket) => {
    let rest = '';
    let open = 0;
    let isEnded = false;
    let isAuthorized = state.token === undefined;
    const answer = async ({ id, method, params }: Call): Promise<Body | 'cut' | 'hang'> => {
      if (method === 'auth') isAuthorized = params.token === state.token;
      if (!isAuthorized) return { jsonrpc: '2.0', id, error: { code: -32001, message: 'no' } };
      const result = method === 'auth' ? { outcome: 'OK' } : await state.ask(method, params);
      return typeof result === 'string' ? result : { jsonrpc: '2.0', id, result };
    };
    const take = async (line: string): Promise<void> => {
      const message = JSON.parse(line) as Call | Call[];
      open += 1;
      const answers = Array.isArray(message)
        ? await Promise.all(message.map(answer))
        : await answer(message);
      open -= 1;
      const all = Array.isArray(answers) ? answers : [answers];
      if (all.includes('cut')) socket.resetAndDestroy();
      else if (!all.includes('hang')) socket.write(`${JSON.stringify(answers)}\n`);
      if (isEnded && open === 0) socket.end();
    };
    socket.setEncoding('utf8');
    socket.on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() as string;
      for (const line of lines) void take(line);
    });
    socket.on('end', () => {
      isEnded = true;
      if (open === 0) socket.end();
    });
  });
}
