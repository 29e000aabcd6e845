// Owns which HTTP route a call takes, and the shape of the answer on that route. This file sends
// nothing.

import { OPERATION_NAMES, type OperationName, operationOf } from '../model/operations.ts';
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

/** By the table of operations: ids go into the path, the rest into the body or the query. */
export function routeOf({ op, params }: Call): Route {
  const http = OPERATION_NAMES.includes(op as OperationName)
    ? operationOf(op as OperationName).http
    : undefined;
  if (http === undefined) {
    throw new LeaseholdError('INVALID_ARGUMENT', `no request is called ${op}`);
  }
  const rest = { ...params };
  const path = http.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = encodeURIComponent(String(rest[name]));
    delete rest[name];
    return id;
  });
  if (http.method === 'POST') return { method: 'POST', path, body: rest };
  // Which form an answer has is asked by a header, and the server may be older than the parameter.
  const { format, ...asked } = rest;
  const form = op === 'log' ? 'lines' : (format as 'text' | 'svg' | undefined);
  return { method: 'GET', path: path + query(asked), form };
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
