// Owns the routes, one for each row of the table of operations that has one. Those of requests that
// the coordinator decides read their fields, ask through the gate and send what comes back.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ParseLimits } from '../../src/model/limits.ts';
import {
  OPERATION_NAMES,
  type OPERATIONS,
  type OperationName,
  operationOf,
} from '../../src/model/operations.ts';
import { isRefusal, type Rejected } from '../../src/model/refusal.ts';
import type { Op, Request } from '../../src/model/request.ts';
import type { Answer } from '../../src/protocol/answer-frame.ts';
import { parseRawSubmit, parseRequest } from '../../src/protocol/fields-to-request.ts';
import { unknownParameter } from '../../src/protocol/form-words.ts';
import { Asker, type Gate } from '../ingress/gate.ts';
import { askBatch } from './batch.ts';
import { addIdempotencyKey, readBody, readQuery, readRequest } from './fields.ts';
import { asLine, JSON_TYPE, sendAnswer, sendRefusal } from './problems.ts';

export type Handler = (request: FastifyRequest, reply: FastifyReply) => void;

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Bytes of a body; absent: a lone JSON body. */
  readonly bodyLimit?: number | undefined;
  readonly handler: Handler;
}

export interface CoordinatorLink {
  readonly gate: Gate;
  readonly limits: ParseLimits;
  readonly batchMaxBytes: number;
}

type Routed = {
  [O in OperationName]: (typeof OPERATIONS)[O] extends { http: object } ? O : never;
}[OperationName];
/** What an operation needs a handler of its own for. Metrics are gathered from all threads. */
type Special = Exclude<Routed, Op> | 'metrics';
export type ReadHandlers = Readonly<Record<Exclude<Special, 'submitRaw' | 'batch'>, Handler>>;

export function routesOf(link: CoordinatorLink, reads: ReadHandlers): Route[] {
  const special: Readonly<Record<Special, Handler>> = {
    ...reads,
    submitRaw: (request, reply) => rawSubmit(link, request, reply),
    batch: (request, reply) => batch(link, request, reply),
  };
  const bodyLimits: Partial<Record<string, number>> = {
    submitRaw: link.limits.payloadMaxBytes,
    batch: link.batchMaxBytes,
  };
  return OPERATION_NAMES.flatMap((op) => {
    const { http } = operationOf(op);
    if (http === undefined) return [];
    const { method, path } = http;
    const handler = special[op as Special] ?? askingFor(op as Op, link);
    return { method, url: path.replace(/\{(\w+)\}/g, ':$1'), bodyLimit: bodyLimits[op], handler };
  });
}

function askingFor(op: Op, { gate, limits }: CoordinatorLink): Handler {
  return (request, reply) => {
    ask(gate, readRequest<Op>(op, request, limits), reply);
  };
}

/** The body is the payload, whatever it is; the options are in the query. */
function rawSubmit(
  { gate, limits }: CoordinatorLink,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const given = addIdempotencyKey(readQuery('submitRaw', request.query), request.raw);
  if (given.kind === 'refusal') return sendRefusal(reply, given);
  const payload = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const { queue } = request.params as { queue: string };
  ask(gate, parseRawSubmit(queue, given.fields, payload, limits), reply);
}

function batch(
  { gate, limits, batchMaxBytes }: CoordinatorLink,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const given = unknownParameter(request.query as object) ?? readBody(request.body);
  if (given.kind === 'refusal') return sendRefusal(reply, given);
  const asked = parseRequest('batch', given.fields, limits);
  if (isRefusal(asked)) return sendRefusal(reply, asked);
  askBatch(gate, asked.requests, { ...limits, batchMaxBytes }, (body) => {
    reply.code(200).header('content-type', JSON_TYPE).send(asLine(body));
  });
}

class Replying extends Asker {
  readonly #reply: FastifyReply;

  constructor(reply: FastifyReply) {
    super();
    this.#reply = reply;
  }

  answered(answer: Answer): void {
    sendAnswer(this.#reply, answer);
  }
}

function ask(gate: Gate, request: Request | Rejected, reply: FastifyReply): void {
  if (isRefusal(request)) return sendRefusal(reply, request);
  const ticket = gate.ask(request, new Replying(reply));
  const parks = (request.op === 'lease' || request.op === 'task') && request.waitMs > 0;
  if (ticket !== 0 && parks) watch(gate, ticket, reply);
}

/**
 * A waiting lease request holds no lease. When its client is gone, the request is withdrawn. When
 * the client has only closed its sending half, it may be gone or may still listen: the request is
 * answered at once.
 */
function watch(gate: Gate, ticket: number, { raw, request }: FastifyReply): void {
  // The body may be part of a much larger read buffer, which thousands of waiting requests would
  // keep in memory.
  request.body = undefined;
  const { socket } = raw;
  const onEnd = (): void => gate.hasten(ticket);
  socket?.once('end', onEnd);
  raw.once('close', () => {
    socket?.off('end', onEnd);
    gate.withdraw(ticket);
  });
}
