// Owns the part of the interface that the proxies understand: the requests in a message, the task
// and the lease that each one names, the points that it passes, and the outcome in its answer. What
// is an operation, and of which kind, comes from the interface's own table.

import { OPERATION_NAMES, type OperationName, operationOf } from '../model/operations.ts';
import type { Point } from './points.ts';
import type { Asked, Exchange, GrantedLease } from './traffic.ts';

export type Json = Readonly<Record<string, unknown>>;

const ROUTES = OPERATION_NAMES.flatMap((op) => {
  const { http } = operationOf(op);
  if (http === undefined) return [];
  const pattern = new RegExp(`^${http.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  return { op, method: http.method, pattern };
});

/** By the name of the method on the line socket. */
const METHODS: ReadonlyMap<unknown, OperationName> = new Map(
  OPERATION_NAMES.flatMap((op) => {
    const { socket } = operationOf(op);
    return socket === undefined ? [] : [[socket === true ? op : socket, op]];
  }),
);

const BATCHABLE: ReadonlyMap<unknown, OperationName> = new Map(
  OPERATION_NAMES.filter((op) => operationOf(op).batch).map((op) => [op, op]),
);

type Role = 'lease' | 'heartbeat' | 'report' | 'other';

/** What an operation is to the contract of a worker, by the properties of its row in the table. */
function roleOf(op: OperationName | undefined): Role {
  if (op === undefined) return 'other';
  const { coordinator, inProgress, http } = operationOf(op);
  if (coordinator === 'leases') return 'lease';
  if (inProgress === undefined) return 'other';
  return http?.answer === 'Committed' ? 'report' : 'heartbeat';
}

export const isHeartbeat = ({ op }: Pick<Exchange, 'op'>): boolean => roleOf(op) === 'heartbeat';
export const isReport = ({ op }: Pick<Exchange, 'op'>): boolean => roleOf(op) === 'report';

/** The points that a request of this operation, and its answer, pass. */
export function pointsOf(op: OperationName | undefined): readonly [request: Point, answer: Point] {
  const role = roleOf(op);
  return role === 'lease' ? ['lease', 'grant'] : [role, `${role} answer`];
}

/**
 * @param body the request's body, whatever it is
 * @returns the requests in it: those of a batch in their order, else one
 */
export function httpRequests(method: string, target: string, body: string): readonly Asked[] {
  const path = target.split('?')[0] ?? '';
  const json = jsonOf(body);
  for (const { method: ofRoute, pattern, op } of ROUTES) {
    const match = method === ofRoute ? pattern.exec(path) : null;
    if (match === null) continue;
    const { requests } = json;
    if (op === 'batch' && Array.isArray(requests)) return requests.map(batched);
    return [asked(op, { ...json, ...match.groups })];
  }
  const said = `${method} ${path}`;
  return [{ op: undefined, taskId: undefined, leaseId: undefined, queues: [], said }];
}

function batched(request: unknown): Asked {
  const { op, ...fields } = objectOf(request);
  return asked(BATCHABLE.get(op), fields);
}

/** A call of the line socket. */
export const lineRequest = (call: Json): Asked =>
  asked(METHODS.get(call['method']), objectOf(call['params']));

function asked(op: OperationName | undefined, fields: Json): Asked {
  const { task_id: taskId, lease_id: leaseId, ...rest } = fields;
  const names = Object.keys(rest).sort();
  const said = names.map((name) => `${name}=${JSON.stringify(rest[name])}`).join(' ');
  return {
    op,
    taskId: textOf(taskId),
    leaseId: textOf(leaseId),
    queues: roleOf(op) === 'lease' ? queuesOf(rest['queues']) : [],
    said: `${op} ${said}`,
  };
}

/** A request that names no queue asks for the default one. */
const queuesOf = (queues: unknown): readonly string[] =>
  Array.isArray(queues) ? queues.map(String) : ['default'];

/** @returns the answers to each of the requests in a message, from the body of the whole answer. */
export function httpAnswers(body: string, requests: number): readonly Json[] {
  const json = jsonOf(body);
  const { answers } = json;
  if (Array.isArray(answers) && answers.length === requests) return answers.map(objectOf);
  return Array.from({ length: requests }, () => json);
}

/** Takes what an answer says into the exchange. @param answer a body, or a call's result. */
export function takeAnswer(exchange: Exchange, answer: Json, at: number): void {
  const leases = Array.isArray(answer['leases']) ? (answer['leases'] as Json[]) : undefined;
  const outcome = textOf(answer['outcome']) ?? (leases === undefined ? 'OK' : 'LEASES');
  exchange.answered = { at, outcome, reason: textOf(answer['reason']) };
  exchange.granted = (leases ?? []).map(grantOf);
}

const grantOf = (lease: Json): GrantedLease => ({
  taskId: textOf(lease['task_id']) ?? '',
  leaseId: textOf(lease['lease_id']) ?? '',
  attempt: Number(lease['attempt']),
  fencingToken: Number(lease['fencing_token']),
});

/** @returns {} for what is no JSON object. */
export function jsonOf(text: string): Json {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
