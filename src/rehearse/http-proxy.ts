// Owns the proxy before the coordinator's HTTP port, one for each worker process. The proxy reads
// every request and every answer whole, asks the points what becomes of the message, and remembers
// the exchange. The requests of a batch are remembered one by one.

import http from 'node:http';
import { unavailable } from '../model/refusal.ts';
import { answerOf } from '../protocol/answer-frame.ts';
import { answerFate, requestFate } from './crossing.ts';
import { type Listening, listening } from './listening.ts';
import type { Points } from './points.ts';
import { httpAnswers, httpRequests, jsonOf, takeAnswer } from './requests.ts';
import type { Exchange, Traffic } from './traffic.ts';

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

/** The answer of a coordinator that cannot decide now. */
const REFUSED = answerOf(
  unavailable('recovering', 'The rehearsal refuses requests for a while.', 1_000),
);

export const httpProxy = (between: Between): Promise<Listening> =>
  listening(
    http.createServer((request, response) => {
      serve(between, request, response).catch(() => response.destroy());
    }),
  );

async function serve(
  between: Between,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const body = await whole(request);
  const { method = 'GET', url = '/' } = request;
  const exchanges = httpRequests(method, url, body.toString('utf8')).map((asked) =>
    between.traffic.open(between.worker, asked),
  );
  const fate = await requestFate(between.points, exchanges);
  if (fate === 'lose' || fate === 'cut') return void response.destroy();
  if (fate === 'unavailable') {
    const refused = exchanges.length === 1 ? refusedOne() : refusedBatch(exchanges.length);
    take(between, exchanges, refused);
    return deliver(between, exchanges, response, refused);
  }
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  if (fate === 'double') await forward(between.toPort, request, body, gone.signal);
  const answer = await forward(between.toPort, request, body, gone.signal);
  take(between, exchanges, answer);
  const after = await answerFate(between.points, exchanges);
  if (after === 'lose') return void response.destroy();
  if (after === 'cut') return cutShort(response, answer);
  deliver(between, exchanges, response, answer);
}

const refusedOne = (): Answer => ({
  status: REFUSED.status,
  headers: {
    'content-type': 'application/problem+json',
    'retry-after': String(REFUSED.retryAfterSeconds),
  },
  body: REFUSED.body,
});

/** A coordinator answers a batch as a whole, and refuses each request in it by itself. */
function refusedBatch(requests: number): Answer {
  const one = { http_status: REFUSED.status, ...jsonOf(REFUSED.body.toString('utf8')) };
  const answers = Array.from({ length: requests }, () => one);
  const headers = { 'content-type': 'application/json' };
  return { status: 200, headers, body: Buffer.from(JSON.stringify({ answers })) };
}

function take({ traffic }: Between, exchanges: readonly Exchange[], { body }: Answer): void {
  const answers = httpAnswers(body.toString('utf8'), exchanges.length);
  for (const [index, exchange] of exchanges.entries()) {
    takeAnswer(exchange, answers[index] ?? {}, traffic.now());
  }
}

function deliver(
  { traffic }: Between,
  exchanges: readonly Exchange[],
  response: http.ServerResponse,
  answer: Answer,
): void {
  if (response.destroyed) return;
  response.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length });
  response.end(answer.body, () => {
    for (const exchange of exchanges) exchange.deliveredAt = traffic.now();
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
