// Owns a granted lease as its holder sees it: the bytes of the task, and the times, by the local
// clock, at which the lease and its execution window end. This file sends nothing.

import type { Shown } from '../model/answer-fields.ts';
import type { lease } from '../model/answer-table.ts';
import { fromWireNested, readBytes } from '../protocol/client-wire.ts';
import { bytesOf, parseJson } from './bytes-text.ts';
import type { Answer, Wire } from './transport.ts';
import type { PreviousAttempt } from './types.ts';

/** What crosses to the heartbeat thread and to handler threads: plain data. */
export interface LeaseData extends Shown<typeof lease> {
  /** When the lease ends by `monotonicMs()`: never later than the coordinator's own. */
  readonly endsAtMs: number;
  /** When the execution window ends by `monotonicMs()`. */
  readonly windowEndsAtMs: number;
}

/** One task in hand. `text()`, `json()` and `bytes()` read its payload. */
export class Lease<Payload = unknown> implements LeaseData {
  declare readonly taskId: string;
  declare readonly leaseId: string;
  declare readonly fencingToken: number;
  declare readonly queue: string;
  declare readonly attempt: number;
  declare readonly maxRetries: number;
  declare readonly previous?: PreviousAttempt;
  declare readonly metadata?: Readonly<Record<string, string>>;
  declare readonly leaseExpiry: number;
  declare readonly leaseMs: number;
  declare readonly waitedMs: number;
  declare readonly executionDeadline: number;
  declare readonly heartbeatIntervalMs: number;
  declare readonly createdAt: number;
  declare readonly endsAtMs: number;
  declare readonly windowEndsAtMs: number;
  declare readonly payload: Uint8Array;

  constructor(data: LeaseData) {
    Object.assign(this, data);
  }

  bytes(): Buffer {
    return bytesOf(this.payload);
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  /**
   * Reads the payload as JSON. With a schema in the worker's options, returns the value that the
   * schema made of the payload.
   * @throws PermanentFailure when the payload is not JSON. A handler that does not catch the error
   *   fails the task for good, because no further attempt could read the payload either
   */
  json<T = Payload>(): T {
    return parseJson(this.payload, 'payload') as T;
  }
}

/**
 * Computes the end of the lease by the local clock. The answer says how long the request waited at
 * the coordinator before the grant (`waitedMs`), and how long the lease was at that moment
 * (`leaseMs`). Both are added to the time at which the request was sent. The request reached the
 * coordinator later than it was sent, so this end is never later than the coordinator's.
 */
export function readLease(wire: Wire, answer: Answer): LeaseData {
  const { payload_base64: _, ...rest } = wire;
  const fields = fromWireNested(rest, 'previous') as unknown as LeaseData;
  const decidedAtMs = answer.sentAtMs + fields.waitedMs;
  const windowLeftMs = fields.executionDeadline - fields.leaseExpiry + fields.leaseMs;
  return {
    ...fields,
    payload: readBytes(wire, 'payload') ?? Buffer.alloc(0),
    endsAtMs: decidedAtMs + fields.leaseMs,
    windowEndsAtMs: decidedAtMs + windowLeftMs,
  };
}
