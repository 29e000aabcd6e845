// Owns what an HTTP request brings, as the fields of a verb: the JSON body whatever its content
// type says, ids in the path, options in the query, the Idempotency-Key. It converts the text of a
// query to numbers and nothing else; what is wrong with a field is said in protocol/.

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { ParseLimits } from '../../src/model/limits.ts';
import type { Route } from '../../src/model/operation.ts';
import { type OperationName, operationOf } from '../../src/model/operations.ts';
import { type Rejected, rejected } from '../../src/model/refusal.ts';
import type { RequestOf } from '../../src/model/request.ts';
import { parseRequest } from '../../src/protocol/fields-to-request.ts';
import { unknownParameter } from '../../src/protocol/form-words.ts';
import { FORMS } from '../../src/protocol/forms.ts';
import { parseJson } from '../../src/protocol/json.ts';
import { wantsWholeNumber } from '../../src/protocol/validate-form.ts';

export type Fields = Record<string, unknown>;
export type Input = { readonly kind: 'fields'; readonly fields: Fields } | Rejected;

const input = (fields: Fields): Input => ({ kind: 'fields', fields });

/** @returns what the path, the query, the body and the header say together. */
function readFields(op: OperationName, request: FastifyRequest): Input {
  const { method, inQuery, idempotencyKey } = operationOf(op).http as Route;
  const path = { ...(request.params as Fields) };
  const query = request.query as Fields;
  if (method === 'GET') return addFields(readQuery(op, query), path, 'path');
  // The others have their fields in the body: a further name in the query would be passed over.
  const body = unknownParameter(query, inQuery) ?? readBody(request.body);
  const given = idempotencyKey ? addIdempotencyKey(body, request.raw) : body;
  return addFields(addFields(given, path, 'path'), query, 'query');
}

/** @returns the whole request, or why it is none. */
export function readRequest<O extends OperationName>(
  op: O,
  request: FastifyRequest,
  limits: ParseLimits,
): RequestOf<O> | Rejected {
  const given = readFields(op, request);
  return given.kind === 'refusal' ? given : parseRequest(op, given.fields, limits);
}

/** @param body undefined and empty mean `{}`. */
export function readBody(body: unknown): Input {
  if (!Buffer.isBuffer(body) || body.length === 0) return input({});
  const json = parseJson(body);
  if (json.kind === 'refusal') return json;
  if (typeof json.value !== 'object' || json.value === null || Array.isArray(json.value)) {
    return rejected('malformed', 'The body must be a JSON object with named fields.');
  }
  return input(json.value as Fields);
}

/** Adds what the path, the query or a header says to what the body says; not both may say it. */
function addFields(to: Input, more: Fields, from: string): Input {
  if (to.kind === 'refusal') return to;
  for (const name of Object.keys(more)) {
    if (Object.hasOwn(to.fields, name)) {
      return rejected('malformed', `${name} is given by the ${from} already.`, { field: name });
    }
    to.fields[name] = more[name];
  }
  return to;
}

/** Idempotency-Key is the request_id; both may be given when they agree. */
export function addIdempotencyKey(to: Input, request: IncomingMessage): Input {
  // Most requests have no such header, and Node makes the distinct headers only when asked for.
  if (to.kind === 'refusal' || request.headers['idempotency-key'] === undefined) return to;
  const [text = '', ...others] = request.headersDistinct['idempotency-key'] ?? [];
  const key = utf8Of(text);
  if (key === undefined || others.length > 0) {
    const fault = key === undefined ? 'is not valid UTF-8' : 'is given twice';
    return rejected('malformed', `Idempotency-Key ${fault}.`, { field: 'request_id' });
  }
  const named = to.fields['request_id'];
  if (named === undefined) to.fields['request_id'] = key;
  else if (named !== key) {
    const detail = 'request_id and Idempotency-Key are both given, and differ.';
    return rejected('malformed', detail, { field: 'request_id' });
  }
  return to;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Node reads header bytes as latin1, while clients write UTF-8. A key that is not UTF-8 must not
 * be repaired: two different keys could become the same one.
 */
function utf8Of(latin1: string): string | undefined {
  try {
    return decoder.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return undefined;
  }
}

/** @returns the refusal of a query whose percent signs spell no UTF-8: nothing is mended. */
export function queryFault(url: string): Rejected | undefined {
  const start = url.indexOf('?') + 1;
  if (start === 0 || !url.includes('%', start)) return undefined;
  for (const pair of url.slice(start).split('&')) {
    try {
      decodeURIComponent(pair);
    } catch {
      const field = pair.split('=', 1)[0] ?? '';
      return rejected('malformed', `${field} in the query is not valid UTF-8.`, { field });
    }
  }
  return undefined;
}

const WHOLE = /^(0|[1-9][0-9]{0,15})$/;

/** @returns the query's fields, those that the form wants as whole numbers made numbers. */
export function readQuery(form: OperationName, query: unknown): Input {
  const unknown = unknownParameter(query as Fields, Object.keys(FORMS[form].properties));
  if (unknown !== undefined) return unknown;
  const fields: Fields = {};
  for (const [name, text] of Object.entries(query as Fields)) {
    const whole = typeof text === 'string' && WHOLE.test(text) && wantsWholeNumber(form, name);
    fields[name] = whole ? Number(text) : text;
  }
  return input(fields);
}
