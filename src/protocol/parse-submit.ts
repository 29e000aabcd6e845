// Owns the two forms of submit: fields in JSON, or a body that is the payload with its options in
// the query. The same content gives the same Request either way, and so the same content hash.

import { ID_MAX_BYTES, type ParseLimits } from '../model/limits.ts';
import type { Rejected } from '../model/refusal.ts';
import type { SubmitRequest } from '../model/request.ts';
import { contentHash } from './content-hash.ts';
import { badMetadata, badText, isRefusal, refuse } from './parse-fields.ts';
import { checkSize, readBytes } from './payload-bytes.ts';
import type { SubmitFields, SubmitQueryFields } from './schemas.ts';
import { malformed } from './validate-form.ts';

export const DEFAULT_QUEUE = 'default';

/** @param fields the value of a JSON text; its form is not checked yet. */
export function parseSubmit(fields: unknown, limits: ParseLimits): SubmitRequest | Rejected {
  const fault = malformed('submit', fields);
  if (fault !== undefined) return fault;
  const given = fields as SubmitFields;
  const payload = readBytes('payload', given.payload, given.payload_base64, limits.payloadMaxBytes);
  if (payload === undefined) {
    return refuse('payload', 'The field payload (or payload_base64) is missing.');
  }
  if (isRefusal(payload)) return payload;
  const bad = given.metadata === undefined ? undefined : badMetadata(given.metadata);
  if (bad !== undefined) return bad;
  const policy = given.retry_policy;
  return complete({
    op: 'submit',
    queue: given.queue ?? DEFAULT_QUEUE,
    payload,
    requestId: given.request_id,
    contentHash: undefined,
    executionWindowMs: given.execution_window_ms,
    maxRetries: policy?.max_retries,
    backoffMs: policy?.backoff_ms,
    backoffFactor: policy?.backoff_factor,
    backoffMaxMs: policy?.backoff_max_ms,
    delayMs: given.delay_ms,
    metadata: given.metadata,
  });
}

/** @param query names and numbers, converted already; @param queue checked here. */
export function parseRawSubmit(
  queue: string,
  query: unknown,
  payload: Uint8Array,
  limits: ParseLimits,
): SubmitRequest | Rejected {
  const fault = malformed('submit-query', query) ?? malformed('submit', { payload: '', queue });
  if (fault !== undefined) return fault;
  const size = checkSize('payload', payload, limits.payloadMaxBytes);
  if (isRefusal(size)) return size;
  const given = query as SubmitQueryFields;
  return complete({
    op: 'submit',
    queue,
    payload,
    requestId: given.request_id,
    contentHash: undefined,
    executionWindowMs: given.execution_window_ms,
    maxRetries: given.max_retries,
    backoffMs: given.backoff_ms,
    backoffFactor: undefined,
    backoffMaxMs: undefined,
    delayMs: given.delay_ms,
    metadata: undefined,
  });
}

function complete(request: SubmitRequest): SubmitRequest | Rejected {
  if (request.requestId === undefined) return request;
  const bad = badText('request_id', request.requestId, ID_MAX_BYTES);
  if (bad !== undefined) return bad;
  return { ...request, contentHash: contentHash(request.queue, request, request.payload) };
}
