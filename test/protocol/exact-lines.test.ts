// The short way of reading a line must agree with the long one: of any bytes it says that they are
// not for it, or it reads what the long way reads.

import { expect } from 'chai';
import fc from 'fast-check';
import { weightOf } from '../../actors/socket/methods.ts';
import {
  askParams,
  leaseCall,
  resultField,
  submitParams,
} from '../../src/client/request-params.ts';
import type { OperationName } from '../../src/model/operations.ts';
import { isRefusal } from '../../src/model/refusal.ts';
import type { Request } from '../../src/model/request.ts';
import { readExact } from '../../src/protocol/exact-lines.ts';
import { parseRequest } from '../../src/protocol/fields-to-request.ts';
import { type RpcCall, readAnyLine } from '../../src/protocol/jsonrpc.ts';
import { encodeRequest } from '../../src/protocol/request-codec.ts';

/** Some 70 changed lines each. */
const RUNS = 1_000;
const LIMITS = { payloadMaxBytes: 60 };

/** What becomes of a call: the bytes for the mailbox and the weight, or the refusal. */
function readingOf(call: RpcCall): object {
  const { id, method, params, hasForm } = call;
  const request = parseRequest(method as OperationName, params, LIMITS, hasForm);
  if (isRefusal(request)) return { id, method, request };
  return { id, method, weight: weightOf(call, 9), bytes: [...encodeRequest(request as Request)] };
}

/** @returns whether the short way took the line. */
function agrees(line: Buffer): boolean {
  const exact = readExact(line);
  if (exact === undefined) return false;
  const any = readAnyLine(line);
  const text = line.toString();
  if (any.kind !== 'one' || any.item.kind !== 'call') throw new Error(`only exact: ${text}`);
  expect(readingOf(exact), text).to.deep.equal(readingOf(any.item));
  return true;
}

const lineOf = (id: number, method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\ufffd');

const name = fc.stringMatching(/^[A-Za-z0-9._:-]{1,20}$/);
const text = fc
  .oneof(
    name,
    fc.string({ maxLength: 80 }),
    fc.string({ unit: 'binary' }),
    fc.json({ maxDepth: 1 }),
  )
  .map(wellFormed);
const number = fc.oneof(fc.nat(9), fc.nat(61_000), fc.nat(61_000), fc.nat(), fc.maxSafeNat());
const option = <K extends string, V>(key: K, value: fc.Arbitrary<V>) =>
  fc.option(value, { nil: undefined }).map((one) => (one === undefined ? {} : { [key]: one }));
const held = fc.record({ taskId: number, leaseId: number }).map(({ taskId, leaseId }) => ({
  taskId: `T${taskId}`,
  leaseId: `L${leaseId}`,
}));

/** Lines as the client library writes them, and some that it would not. */
const lines: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(number, text, fc.oneof(name, text), option('queue', name))
    .map(([id, payload, requestId, queue]) =>
      lineOf(id, 'submit', submitParams({ payload, requestId, ...queue })),
    ),
  fc
    .tuple(
      number,
      fc.oneof(name, text),
      option('wait_ms', number),
      option('queues', fc.array(name, { maxLength: 10 })),
      option('max', fc.nat(1_100)),
    )
    .map(([id, worker_id, ...more]) => lineOf(id, 'lease', Object.assign({ worker_id }, ...more))),
  fc
    .tuple(number, fc.constantFrom('heartbeat', 'complete'), held, option('result', text))
    .map(([id, op, lease, { result }]) =>
      lineOf(id, op, leaseCall(op, lease, resultField(result)).params as object),
    ),
);

/** What is put in at some place, or in place of what is there. */
const PIECES = [
  ...['', ' ', '\t', '\r', '\0', '\x7f'],
  ...String.raw`" \ \" \\ \n \/ \u0041 \ud800 é € 𝄞 { } [ ] , : 0 9 00 - -0 .5 1e3 T L`.split(' '),
  ...'9007199254740991 9007199254740993 99999999999999999999 null true {} [] "" 60001'.split(' '),
  ...',"id":1 ,"jsonrpc":"2.0" ,"method":"lease" ,"payload":"x" "payload":"y",'.split(' '),
  ...',"queue":"q" ,"max":2 ,"wait_ms":9 "max":0, ,"task_id":"T1" "lease_id":"L2",'.split(' '),
  ...',"__proto__":1 "constructor":"x", ,"params":{} ,"request_id":"" ,"result":"r"'.split(' '),
];
const change = fc.record({
  at: fc.nat(300),
  over: fc.constantFrom(0, 0, 1, 1, 2, 5, 500),
  put: fc.oneof(
    fc.constantFrom(...PIECES).map((piece) => Buffer.from(piece)),
    fc.nat(255).map((byte) => Buffer.of(byte)),
    fc.integer({ min: 0x30, max: 0x7a }).map((letter) => Buffer.of(letter)),
  ),
});
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

const changed = (line: string, changes: readonly Change[]): Buffer =>
  changes.reduce((bytes, { at, over, put }) => {
    const start = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + over)]);
  }, Buffer.from(line));

/** The same members, otherwise written. */
const OTHER_WAYS: readonly ((line: string) => string)[] = [
  (line) => JSON.stringify(JSON.parse(line), null, 1).replaceAll('\n', ' '),
  (line) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).reverse())),
  (line) =>
    JSON.stringify(JSON.parse(line), (_key, value) =>
      value?.constructor === Object && value.jsonrpc === undefined
        ? Object.fromEntries(Object.entries(value).reverse())
        : value,
    ),
];

describe('lines that are read the short way', () => {
  it('are read as the long way reads them, or not at all', () => {
    let taken = 0;
    const take = (line: Buffer): void => void (agrees(line) && (taken += 1));
    const many = fc.array(
      fc.oneof(
        change.map((one) => [one]),
        fc.array(change, { minLength: 2, maxLength: 3 }),
      ),
      { minLength: 40, maxLength: 100 },
    );
    fc.assert(
      fc.property(lines, many, (line, changes) => {
        take(Buffer.from(line));
        for (const other of OTHER_WAYS) take(Buffer.from(other(line)));
        for (const some of changes) take(changed(line, some));
      }),
      { numRuns: RUNS },
    );
    expect(taken).to.be.above(RUNS / 2);
  });

  const own: Readonly<Record<string, string>> = {
    'a submit': lineOf(1, 'submit', submitParams({ payload: 'x', requestId: 'r' })),
    'a submit of an object': lineOf(2, 'submit', submitParams({ payload: { a: ['\n', '/'] } })),
    'a submit to a queue': lineOf(3, 'submit', submitParams({ payload: '', queue: 'q:1' })),
    'a lease': lineOf(0, 'lease', askParams({ workerId: 'w-1' })),
    "a lease as the Worker's": lineOf(
      4,
      'lease',
      askParams({ workerId: 'host 7', waitMs: 20_000, queues: ['a', 'b'], max: 3 }),
    ),
    'a heartbeat': lineOf(5, 'heartbeat', { task_id: 'T1', lease_id: 'L2' }),
    'a complete': lineOf(6, 'complete', { task_id: 'T10', lease_id: 'L200' }),
  };
  for (const [what, line] of Object.entries(own)) {
    it(`include ${what} of the client library`, () => {
      expect(agrees(Buffer.from(line)), line).to.equal(true);
    });
  }
});
