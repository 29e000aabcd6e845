// Owns the shape of a row in the table of operations, and the few words in which rows are written.

import type { Fields } from './request-fields.ts';

export interface Operation {
  readonly fields: Fields;
  /** What is to be said of the fields together. */
  readonly note?: string;
  /** The coordinator decides it, by one record, by one for each lease, or by none. */
  readonly coordinator?: 'record' | 'leases' | 'read';
  /** It keeps or ends a lease: the last eighth of the mailbox is open to it. */
  readonly inProgress?: true;
  /** A method of the socket, where named one of another name. */
  readonly socket?: true | string;
  readonly batch?: true;
  /**
   * Must not be repeated once it may have been received: the repetition would be a second request.
   */
  readonly once?: true;
  /** How much heavier its answer may be than a few numbers, in the units of a connection. */
  readonly weight?: number;
  readonly http?: Route;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  /** A field of the request stands in braces. */
  readonly path: string;
  readonly tag: 'tasks' | 'leases' | 'log' | 'service';
  readonly summary: string;
  /** The name of a successful answer, or the media types of one that is no JSON object of ours. */
  readonly answer: string;
  readonly refusals: readonly number[];
  /** In the OpenAPI document, where it has another name there. */
  readonly id?: string;
  /** Fields of a POST that stand in the query. */
  readonly inQuery?: readonly string[];
  /** The body is a payload of any type, and the fields stand in the query. */
  readonly rawBody?: true;
  /** The header Idempotency-Key stands for request_id. */
  readonly idempotencyKey?: true;
  /** Asks for no token, and takes any Host. */
  readonly open?: true;
}

export const CHANGE = [400, 404, 409, 413, 503];
export const MAKE = [400, 413, 422, 503];
export const TAKE = [400, 413, 503];
export const LOOK = [400, 404, 503];
export const LIST = [400, 503];

export function get(
  path: string,
  tag: Route['tag'] = 'service',
  answer = 'Facts',
  refusals: readonly number[] = LIST,
) {
  return { method: 'GET', path, tag, answer, refusals } as const;
}

export function post(path: string, tag: Route['tag'], answer: string, refusals: readonly number[]) {
  return { method: 'POST', path, tag, answer, refusals } as const;
}
