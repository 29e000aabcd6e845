// Owns a granted lease as its holder sees it: the task's bytes, and when by the local clock the
// lease and the execution window are over. It sends nothing.

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

  /** With a schema in the worker's options, what that made of the payload.
   * @throws PermanentFailure when the payload is no JSON: a handler that does not catch it ends
   * the task, because no further attempt could read it. */
  json<T = Payload>(): T {
    return parseJson(this.payload, 'payload') as T;
  }
}

/** A lease ends, by the local clock, its time left at the decision after the request was sent plus
 * its wait: the decision was not earlier than that, so this end is not later than the true one. */
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
