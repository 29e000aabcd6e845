// Owns the routes of requests that the coordinator decides: each reads its fields, asks through the
// gate and sends what comes back. What the fields mean is said in protocol/.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ParseLimits } from '../../src/model/limits.ts';
import { type Rejected, rejected } from '../../src/model/refusal.ts';
import type { Request } from '../../src/model/request.ts';
import { parseRequest, type Verb } from '../../src/protocol/parse.ts';
import { isRefusal } from '../../src/protocol/parse-fields.ts';
import { parseRawSubmit } from '../../src/protocol/parse-submit.ts';
import type { BatchFields } from '../../src/protocol/schemas.ts';
import { malformed } from '../../src/protocol/validate-form.ts';
import type { Gate } from '../ingress/gate.ts';
import { askBatch } from './batch.ts';
import {
  addFields,
  addIdempotencyKey,
  type Fields,
  type Input,
  readBody,
  readQuery,
} from './fields.ts';
import { asLine, JSON_TYPE, sendAnswer, sendRefusal } from './problems.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Bytes of a body; absent: a lone JSON body. */
  readonly bodyLimit?: number;
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => void;
}

export interface CoordinatorLink {
  readonly gate: Gate;
  readonly limits: ParseLimits;
  readonly batchMaxBytes: number;
}

type Reader = (request: FastifyRequest) => Input;

export function coordinatorRoutes(link: CoordinatorLink): Route[] {
  const { gate, limits, batchMaxBytes } = link;
  const route = (method: 'GET' | 'POST', url: string, verb: Verb, read: Reader): Route => ({
    method,
    url,
    handler(request, reply) {
      const given = read(request);
      if (given.kind === 'refusal') return sendRefusal(reply, given);
      ask(gate, parseRequest(verb, given.fields, limits), reply);
    },
  });
  return [
    route('POST', '/v1/tasks', 'submit', readSubmit),
    route('POST', '/v1/leases', 'lease', readLease),
    route('POST', '/v1/leases/:lease_id/heartbeat', 'heartbeat', readAction),
    route('POST', '/v1/leases/:lease_id/complete', 'complete', readAction),
    route('POST', '/v1/leases/:lease_id/fail', 'fail', readAction),
    route('POST', '/v1/tasks/:task_id/kill', 'kill', readAction),
    route('POST', '/v1/tasks/:task_id/redrive', 'redrive', readAction),
    route('GET', '/v1/tasks/:task_id', 'task', (request) =>
      addFields(fieldsOf(readQuery('task', request.query)), pathOf(request), 'path'),
    ),
    route('GET', '/v1/tasks', 'tasks', (request) => fieldsOf(readQuery('tasks', request.query))),
    route('GET', '/v1/stats', 'stats', (request) => fieldsOf(readQuery('stats', request.query))),
    route('GET', '/v1/queues', 'queues', (request) => fieldsOf(readQuery('queues', request.query))),
    route('GET', '/v1/workers', 'workers', (request) =>
      fieldsOf(readQuery('workers', request.query)),
    ),
    rawSubmit(gate, limits),
    batch(gate, limits, batchMaxBytes),
  ];
}

const fieldsOf = (fields: Fields): Input => ({ kind: 'fields', fields });
const pathOf = (request: FastifyRequest): Fields => ({ ...(request.params as Fields) });

const readSubmit: Reader = (request) =>
  refuseQuery(request) ?? addIdempotencyKey(readBody(request.body), request.raw);

const readAction: Reader = (request) =>
  refuseQuery(request) ?? addFields(readBody(request.body), pathOf(request), 'path');

const readLease: Reader = (request) => {
  const { encoding, ...others } = request.query as Fields;
  const query = encoding === undefined ? {} : { encoding };
  return refuseQuery(request, others) ?? addFields(readBody(request.body), query, 'query');
};

/** These routes have their fields in the body: a name in the query would be passed over. */
function refuseQuery(request: FastifyRequest, query = request.query): Rejected | undefined {
  for (const field of Object.keys(query as object)) {
    return rejected('malformed', `There is no query parameter ${field} here.`, { field });
  }
  return undefined;
}

/** The body is the payload, whatever it is; the options are in the query. */
function rawSubmit(gate: Gate, limits: ParseLimits): Route {
  return {
    method: 'POST',
    url: '/v1/queues/:queue/tasks',
    bodyLimit: limits.payloadMaxBytes,
    handler(request, reply) {
      const query = fieldsOf(readQuery('submit-query', request.query));
      const given = addIdempotencyKey(query, request.raw);
      if (given.kind === 'refusal') return sendRefusal(reply, given);
      const payload = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const { queue } = request.params as { queue: string };
      ask(gate, parseRawSubmit(queue, given.fields, payload, limits), reply);
    },
  };
}

function batch(gate: Gate, limits: ParseLimits, bodyLimit: number): Route {
  return {
    method: 'POST',
    url: '/v1/batch',
    bodyLimit,
    handler(request, reply) {
      const given = refuseQuery(request) ?? readBody(request.body);
      if (given.kind === 'refusal') return sendRefusal(reply, given);
      const fault = malformed('batch', given.fields);
      if (fault !== undefined) return sendRefusal(reply, fault);
      const { requests } = given.fields as BatchFields;
      askBatch(gate, requests, limits, (body) => {
        reply.code(200).header('content-type', JSON_TYPE).send(asLine(body));
      });
    },
  };
}

function ask(gate: Gate, request: Request | Rejected, reply: FastifyReply): void {
  if (isRefusal(request)) return sendRefusal(reply, request);
  const ticket = gate.ask(request, (answer) => sendAnswer(reply, answer));
  const parks = (request.op === 'lease' || request.op === 'task') && request.waitMs > 0;
  if (ticket !== 0 && parks) watch(gate, ticket, reply);
}

/**
 * A parked request holds no lease: when its client is gone it is withdrawn, and when the client has
 * only closed its sending half (it might be gone, it might listen) it is answered at once.
 */
function watch(gate: Gate, ticket: number, { raw, request }: FastifyReply): void {
  // The body may be a piece of a much larger read: thousands of parked requests must not hold it.
  request.body = undefined;
  const { socket } = raw;
  const onEnd = (): void => gate.hasten(ticket);
  socket?.once('end', onEnd);
  raw.once('close', () => {
    socket?.off('end', onEnd);
    gate.withdraw(ticket);
  });
}
