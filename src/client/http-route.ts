// Owns which HTTP route a call takes, and what shape its answer has there. It sends nothing.

import { LeaseholdError } from './errors.ts';
import type { Call, Wire } from './transport.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Wire | undefined;
  /** What the answer is, where it is no JSON object: one text, or a record a line. */
  readonly form?: 'text' | 'svg' | 'lines' | undefined;
}

/** By the route's `form`. */
export const ACCEPT = {
  json: 'application/json',
  text: 'text/plain',
  svg: 'image/svg+xml',
  lines: 'application/x-ndjson',
} as const;

export function routeOf({ op, params }: Call): Route {
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
    case 'explain': {
      const { format, ...asked } = rest;
      const path = `${taskPath}/explain${query(asked)}`;
      return { method: 'GET', path, form: format as 'text' | 'svg' | undefined };
    }
    case 'log':
      return { method: 'GET', path: `/v1/log${query(params)}`, form: 'lines' };
    case 'tasks':
      return { method: 'GET', path: `/v1/tasks${query(params)}` };
    case 'stats':
    case 'queues':
    case 'workers':
    case 'config':
      return { method: 'GET', path: `/v1/${op}` };
    default:
      throw new LeaseholdError('INVALID_ARGUMENT', `no request is called ${op}`);
  }
}

export function query(params: Wire): string {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) given.set(key, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

/** @returns undefined when it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same shapes as on the socket, where every answer is an object. */
export function bodyIn(form: 'text' | 'svg' | 'lines', text: string): Wire {
  if (form !== 'lines') return { text: text.replace(/\n$/, '') };
  const lines = text.split('\n').filter((line) => line !== '');
  const records = lines.map((line) => parsed(line));
  if (records.every((record) => typeof record === 'object' && record !== null)) return { records };
  throw new LeaseholdError('PROTOCOL', 'what came is no log of a coordinator');
}
