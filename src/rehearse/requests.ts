// Owns the part of the interface that the proxies understand: the operation of a request, the task
// and the lease that it names, the point that it passes, and the outcome in an answer. The
// operations come from the interface's own table.

import { OPERATION_NAMES, operationOf } from '../model/operations.ts';
import type { Point } from './points.ts';
import type { Exchange, GrantedLease } from './traffic.ts';

type Json = Readonly<Record<string, unknown>>;

const ROUTES = OPERATION_NAMES.flatMap((op) => {
  const { http } = operationOf(op);
  if (http === undefined) return [];
  const pattern = new RegExp(`^${http.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  return { op, method: http.method, pattern };
});

const POINTS: Readonly<Record<string, readonly [request: Point, answer: Point]>> = {
  lease: ['lease', 'grant'],
  heartbeat: ['heartbeat', 'heartbeat answer'],
  complete: ['report', 'report answer'],
  fail: ['report', 'report answer'],
};

export const isReport = ({ op }: Pick<Exchange, 'op'>): boolean =>
  op === 'complete' || op === 'fail';

/** The points that a request of this operation, and its answer, pass. */
export const pointsOf = (op: string | undefined): readonly [request: Point, answer: Point] =>
  POINTS[op ?? ''] ?? ['other', 'other answer'];

export type Asked = Pick<Exchange, 'op' | 'taskId' | 'leaseId' | 'said'>;

/** @param body the request's body, whatever it is. */
export function httpRequest(method: string, target: string, body: string): Asked {
  const path = target.split('?')[0] ?? '';
  const json = jsonOf(body);
  for (const { method: ofRoute, pattern, op } of ROUTES) {
    const match = method === ofRoute ? pattern.exec(path) : null;
    if (match === null) continue;
    const { task_id: inPath, lease_id: leaseId } = match.groups ?? {};
    return asked(op, inPath ?? textOf(json['task_id']), leaseId, json);
  }
  return { op: undefined, taskId: undefined, leaseId: undefined, said: `${method} ${path}` };
}

/** A call of the line socket. */
export function lineRequest(call: Json): Asked {
  const params = objectOf(call['params']);
  return asked(
    textOf(call['method']),
    textOf(params['task_id']),
    textOf(params['lease_id']),
    params,
  );
}

function asked(
  op: string | undefined,
  taskId: string | undefined,
  leaseId: string | undefined,
  json: Json,
): Asked {
  const { task_id: _task, lease_id: _lease, ...rest } = json;
  const names = Object.keys(rest).sort();
  const said = names.map((name) => `${name}=${JSON.stringify(rest[name])}`).join(' ');
  return { op, taskId, leaseId, said: `${op} ${said}` };
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

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
