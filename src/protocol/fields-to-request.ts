// Owns the mapping from the wire's fields to a Request, by the table of operations. The JSON
// was parsed before, in json.ts. This file knows neither HTTP nor the socket: both pass it the same
// fields under the same names.

import type { ParseLimits } from '../model/limits.ts';
import { byOperation, type OperationName } from '../model/operations.ts';
import { isRefusal, type Rejected } from '../model/refusal.ts';
import type { RequestOf, SubmitRequest } from '../model/request.ts';
import { compile } from './compile.ts';
import { contentHash } from './content-hash.ts';
import { READING, readerOf } from './field-readers.ts';
import { MEMBERS } from './members.ts';
import { checkSize } from './payload-bytes.ts';
import { malformed } from './validate-form.ts';

type Read = (given: unknown, limits: ParseLimits) => object;

const READERS = byOperation((_, op): Read => {
  const members = MEMBERS[op];
  const request = `{ op: '${op}', ${members.map(({ name }) => name).join(', ')} }`;
  const body = `${members.map(readerOf).join('\n')}\nreturn ${request};`;
  return compile(READING, 'given, limits', body);
});

/**
 * @param fields the parsed JSON of a request, its ids included; nothing of it is checked yet
 * @param hasForm the fields are known to have the form of the operation
 * @returns the request, or a `malformed` or `too_large` refusal that names the field. Never throws
 */
export function parseRequest<O extends OperationName>(
  op: O,
  fields: unknown,
  limits: ParseLimits,
  hasForm = false,
): RequestOf<O> | Rejected {
  const fault = hasForm ? undefined : malformed(op, fields);
  const request = fault ?? READERS[op](fields, limits);
  return (op === 'submit' ? hashed(request as SubmitRequest) : request) as RequestOf<O>;
}

/**
 * Reads a submit whose body is the payload and whose options are in the query. The same content
 * gives the same request as in JSON, and therefore the same content hash.
 * @param query the options, their numbers already converted from text
 * @param queue not checked by the caller
 */
export function parseRawSubmit(
  queue: string,
  query: unknown,
  payload: Uint8Array,
  limits: ParseLimits,
): SubmitRequest | Rejected {
  const fault = malformed('submitRaw', query) ?? malformed('submit', { payload: '', queue });
  if (fault !== undefined) return fault;
  const size = checkSize('payload', payload, limits.payloadMaxBytes);
  if (isRefusal(size)) return size;
  const options = READERS.submitRaw(query, limits) as RequestOf<'submitRaw'> | Rejected;
  return isRefusal(options)
    ? options
    : hashed({ ...options, op: 'submit', queue, payload } satisfies SubmitRequest);
}

function hashed(request: SubmitRequest | Rejected): SubmitRequest | Rejected {
  if (isRefusal(request) || request.requestId === undefined) return request;
  // The request is new, and nobody else has it yet: a copy would cost more than the reading.
  (request as { contentHash?: Uint8Array }).contentHash = contentHash(request);
  return request;
}
