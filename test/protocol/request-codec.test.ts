// Requests as bytes in the mailbox: they come out as they went in.

import { expect } from 'chai';
import fc from 'fast-check';
import { type Request, TASK_STATES } from '../../src/model/request.ts';
import { decodeRequest, encodeRequest } from '../../src/protocol/request-codec.ts';

const id = fc.nat(Number.MAX_SAFE_INTEGER);
const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const bytes = fc.uint8Array({ maxLength: 300 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const report = { taskId: id, leaseId: id };
const only = <T extends string>(op: T) => fc.constant(op);

const requests: fc.Arbitrary<Request> = fc.oneof(
  fc.record({
    op: only('submit'),
    queue: text,
    payload: bytes,
    requestId: maybe(text),
    contentHash: maybe(bytes),
    executionWindowMs: maybe(id),
    maxRetries: maybe(id),
    backoffMs: maybe(id),
    backoffFactor: maybe(fc.double({ min: 1, max: 100 })),
    backoffMaxMs: maybe(id),
    delayMs: maybe(id),
    metadata: maybe(
      fc.dictionary(
        text.filter((key) => key !== '__proto__'),
        text,
      ),
    ),
  }),
  fc.record({
    op: only('lease'),
    workerId: text,
    queues: fc.array(text, { minLength: 1, maxLength: 5 }),
    max: id,
    waitMs: id,
    capacity: maybe(id),
    base64: fc.boolean(),
  }),
  fc.record({ op: only('heartbeat'), ...report }),
  fc.record({ op: only('complete'), ...report, result: maybe(bytes) }),
  fc.record({
    op: only('fail'),
    ...report,
    reason: text,
    kind: fc.constantFrom('error' as const, 'permanent' as const, 'released' as const),
  }),
  fc.record({ op: only('kill'), taskId: id, reason: text }),
  fc.record({ op: fc.constantFrom('redrive' as const, 'standing' as const), taskId: id }),
  fc.record({ op: only('task'), taskId: id, waitMs: id, base64: fc.boolean() }),
  fc.record({
    op: only('tasks'),
    state: maybe(fc.constantFrom(...TASK_STATES)),
    queue: maybe(text),
    requestId: maybe(text),
    after: id,
    limit: id,
  }),
  fc.record({
    op: fc.constantFrom(
      'stats' as const,
      'queues' as const,
      'workers' as const,
      'metrics' as const,
    ),
  }),
);

/** Buffers and typed arrays of the same bytes are the same to us. */
const plain = (request: Request) =>
  JSON.parse(
    JSON.stringify(request, (_key, value) =>
      value instanceof Uint8Array ? [...value] : value?.type === 'Buffer' ? value.data : value,
    ),
  );

describe('requests in the mailbox', () => {
  it('come out as they went in', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const got = decodeRequest(Uint8Array.from(encodeRequest(request)));
        expect(plain(got)).to.deep.equal(plain(request));
      }),
      { numRuns: 500 },
    );
  });

  it('are refused when a byte is missing or left over', () => {
    fc.assert(
      fc.property(requests, fc.nat(1_000), (request, at) => {
        const message = Uint8Array.from(encodeRequest(request));
        const cut = message.subarray(0, at % message.length);
        expect(() => decodeRequest(cut)).to.throw(RangeError);
        expect(() => decodeRequest(Uint8Array.from([...message, 0]))).to.throw(RangeError);
      }),
    );
  });
});
