// Owns the making of requests: from options in camelCase to an op with its parameters as they go
// over the wire. What it cannot encode it refuses here, before anything is sent.

import { randomUUID } from 'node:crypto';
import { bytesField, encodeContent, toWire } from '../protocol/client-wire.ts';
import { LeaseholdError } from './errors.ts';
import type { Call } from './transport.ts';
import type * as t from './types.ts';

export type FailKind = 'error' | 'permanent' | 'released';

/** One request of a batch: the op's own options beside its name. */
export type BatchRequest =
  | ({ readonly op: 'submit' } & t.SubmitOptions)
  | ({ readonly op: 'lease' } & t.LeaseOptions)
  | ({ readonly op: 'heartbeat' } & t.LeaseRef)
  | ({ readonly op: 'complete'; readonly result?: t.Content } & t.LeaseRef)
  | ({ readonly op: 'fail'; readonly reason: string; readonly kind?: FailKind } & t.LeaseRef)
  | { readonly op: 'kill'; readonly taskId: string; readonly reason?: string }
  | { readonly op: 'redrive'; readonly taskId: string };

function content(value: unknown, what: string): Buffer {
  try {
    return encodeContent(value);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LeaseholdError('INVALID_ARGUMENT', `${what}: ${why}`, { cause });
  }
}

export function submitParams(options: t.SubmitOptions): Record<string, unknown> {
  const { payload, retryPolicy, requestId, ...rest } = options;
  const policy = retryPolicy === undefined ? {} : { retry_policy: toWire(retryPolicy) };
  const id = requestId ?? randomUUID();
  const bytes = bytesField('payload', content(payload, 'payload'));
  return { ...bytes, ...toWire(rest), ...policy, request_id: id };
}

export function resultField(result: unknown): Record<string, unknown> {
  return result === undefined ? {} : bytesField('result', content(result, 'result'));
}

export function leaseCall(op: string, lease: t.LeaseRef, more: Record<string, unknown> = {}): Call {
  return { op, params: { task_id: lease.taskId, lease_id: lease.leaseId, ...more } };
}

export function batchCall(request: BatchRequest): Call {
  switch (request.op) {
    case 'submit': {
      const { op, ...options } = request;
      return { op, params: submitParams(options) };
    }
    case 'complete':
      return leaseCall('complete', request, resultField(request.result));
    case 'fail':
      return leaseCall('fail', request, toWire({ reason: request.reason, kind: request.kind }));
    case 'heartbeat':
      return leaseCall('heartbeat', request);
    default: {
      const { op, ...options } = request;
      return { op, params: toWire(options) };
    }
  }
}
