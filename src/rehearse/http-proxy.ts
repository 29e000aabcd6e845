// Owns the proxy before the coordinator's HTTP port, one for each worker process. The proxy reads
// every request and every answer whole, asks the points what becomes of the message, and remembers
// the exchange.

import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Fate, Points } from './points.ts';
import { httpRequest, jsonOf, pointsOf, takeAnswer } from './requests.ts';
import type { Exchange, Traffic } from './traffic.ts';

/** A proxy for one worker process. */
export interface Proxy {
  readonly port: number;
  close(): Promise<void>;
}

export interface Between {
  readonly worker: number;
  /** The coordinator's port behind the proxy. */
  readonly toPort: number;
  readonly points: Points;
  readonly traffic: Traffic;
}

interface Answer {
  readonly status: number;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: Buffer;
}

const UNAVAILABLE: Answer = {
  status: 503,
  headers: { 'content-type': 'application/problem+json', 'retry-after': '1' },
  body: Buffer.from(
    JSON.stringify({
      type: 'about:blank',
      title: 'Unavailable',
      status: 503,
      detail: 'The rehearsal refuses requests for a while.',
      outcome: 'UNAVAILABLE',
      reason: 'recovering',
    }),
  ),
};

export async function httpProxy(between: Between): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const server = http.createServer((request, response) => {
    serve(between, request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(
  between: Between,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const body = await whole(request);
  const { method = 'GET', url = '/' } = request;
  const exchange = between.traffic.open(
    between.worker,
    httpRequest(method, url, body.toString('utf8')),
  );
  const [before, after] = pointsOf(exchange.op);
  const fate = await between.points.reach({ point: before, ...exchange });
  exchange.requestFate = fate;
  if (fate === 'lose' || fate === 'cut') return void response.destroy();
  if (fate === 'unavailable') return deliver(between, exchange, response, UNAVAILABLE);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  if (fate === 'double') await forward(between.toPort, request, body, gone.signal);
  const answer = await forward(between.toPort, request, body, gone.signal);
  takeAnswer(exchange, jsonOf(answer.body.toString('utf8')), between.traffic.now());
  await settle(between, exchange, response, answer, after);
}

async function settle(
  between: Between,
  exchange: Exchange,
  response: http.ServerResponse,
  answer: Answer,
  point: Parameters<Points['reach']>[0]['point'],
): Promise<void> {
  // An empty answer to a lease request is no grant: nothing bites there.
  const [grant] = exchange.granted;
  const isEmpty = point === 'grant' && grant === undefined;
  const named = { taskId: exchange.taskId ?? grant?.taskId, leaseId: exchange.leaseId };
  const arrival = { point, worker: between.worker, ...named };
  const leaseId = arrival.leaseId ?? grant?.leaseId;
  const fate: Fate = isEmpty ? 'pass' : await between.points.reach({ ...arrival, leaseId });
  exchange.answerFate = fate;
  if (fate === 'lose') return void response.destroy();
  if (fate === 'cut') return cutShort(response, answer);
  deliver(between, exchange, response, answer);
}

function deliver(
  { traffic }: Between,
  exchange: Exchange,
  response: http.ServerResponse,
  answer: Answer,
): void {
  if (answer === UNAVAILABLE) {
    exchange.answered = { at: traffic.now(), outcome: 'UNAVAILABLE', reason: 'recovering' };
  }
  if (response.destroyed) return;
  response.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length });
  response.end(answer.body, () => {
    exchange.deliveredAt = traffic.now();
  });
}

/** The head promises the whole body, and half of it comes. */
function cutShort(response: http.ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.write(body.subarray(0, body.length >> 1), () => response.destroy());
}

function forward(
  port: number,
  { method, url, headers }: http.IncomingMessage,
  body: Buffer,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { connection: _, 'transfer-encoding': __, ...kept } = headers;
    const options = { host: '127.0.0.1', port, method, path: url, agent: false, signal };
    const onwards = http.request(
      { ...options, headers: { ...kept, 'content-length': body.length } },
      (incoming) => {
        const { connection: ___, 'transfer-encoding': ____, ...rest } = incoming.headers;
        whole(incoming).then(
          (got) => resolve({ status: incoming.statusCode ?? 502, headers: rest, body: got }),
          reject,
        );
      },
    );
    onwards.on('error', reject);
    onwards.end(body);
  });
}

async function whole(message: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
