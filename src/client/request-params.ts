// Owns the making of requests: from options in camelCase to an operation with its parameters as
// the wire names them. Options that have no encoding are refused here, before anything is sent.

import { randomUUID } from 'node:crypto';
import { bytesField, toWire } from '../protocol/client-wire.ts';
import { encodeContent } from './content.ts';
import { LeaseholdError } from './errors.ts';
import { assertOptions } from './option-checks.ts';
import { FAILURE, LEASE, SUBMIT } from './option-tables.ts';
import { reasonOf } from './reason.ts';
import type { Call } from './transport.ts';
import type * as t from './types.ts';

/** One request of a batch: the op's own options beside its name. */
export type BatchRequest =
  | ({ readonly op: 'submit' } & t.SubmitOptions)
  | ({ readonly op: 'lease' } & t.LeaseOptions)
  | ({ readonly op: 'heartbeat' } & t.LeaseRef)
  | ({ readonly op: 'complete'; readonly result?: t.Content } & t.LeaseRef)
  | ({ readonly op: 'fail'; readonly reason: string; readonly kind?: t.FailKind } & t.LeaseRef)
  | { readonly op: 'kill'; readonly taskId: string; readonly reason?: string }
  | { readonly op: 'redrive'; readonly taskId: string };

function content(value: unknown, what: string): Buffer {
  try {
    return encodeContent(value);
  } catch (cause) {
    throw new LeaseholdError('INVALID_ARGUMENT', `${what}: ${reasonOf(cause)}`, { cause });
  }
}

export function submitParams(options: t.SubmitOptions): Record<string, unknown> {
  assertOptions('submit', options, SUBMIT);
  const { payload, retryPolicy, requestId, ...rest } = options;
  const policy = retryPolicy === undefined ? {} : { retry_policy: toWire(retryPolicy) };
  const id = requestId ?? randomUUID();
  const bytes = bytesField('payload', content(payload, 'payload'));
  return { ...bytes, ...toWire(rest), ...policy, request_id: id };
}

export function resultField(result: unknown): Record<string, unknown> {
  return result === undefined ? {} : bytesField('result', content(result, 'result'));
}

export function askParams(options: t.LeaseOptions): Record<string, unknown> {
  assertOptions('lease', options, LEASE);
  return toWire(options);
}

export function failParams(failure: t.FailureOptions): Record<string, unknown> {
  assertOptions('fail', failure, FAILURE);
  return toWire(failure);
}

/** @param lease a Lease, or any object that has its two ids */
export function leaseCall(op: string, lease: t.LeaseRef, more: Record<string, unknown> = {}): Call {
  if (typeof lease?.taskId !== 'string' || typeof lease.leaseId !== 'string') {
    throw new LeaseholdError('INVALID_ARGUMENT', `${op}: a lease has a taskId and a leaseId`);
  }
  return { op, params: { task_id: lease.taskId, lease_id: lease.leaseId, ...more } };
}

export function batchCall(request: BatchRequest): Call {
  const { op, ...options } = request;
  switch (request.op) {
    case 'submit':
      return { op, params: submitParams(options as t.SubmitOptions) };
    case 'lease':
      return { op, params: askParams(options as t.LeaseOptions) };
    case 'complete':
      return leaseCall('complete', request, resultField(request.result));
    case 'fail': {
      const {
        taskId: _task,
        leaseId: _lease,
        ...failure
      } = options as t.FailureOptions & t.LeaseRef;
      return leaseCall('fail', request, failParams(failure));
    }
    case 'heartbeat':
      return leaseCall('heartbeat', request);
    case 'kill':
    case 'redrive':
      return { op, params: toWire(options) };
    default: {
      const text = `batch: ${JSON.stringify(op)} is no op of a batch`;
      throw new LeaseholdError('INVALID_OPTION', text);
    }
  }
}
