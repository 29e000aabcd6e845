// Requests as they come in: what is taken, what is refused and for which field.

import { expect } from 'chai';
import { OPERATION_NAMES } from '../../src/model/operations.ts';
import type { SubmitRequest } from '../../src/model/request.ts';
import { parseRawSubmit, parseRequest } from '../../src/protocol/fields-to-request.ts';
import { VALIDATORS } from '../../src/protocol/validators.js';

const limits = { payloadMaxBytes: 1_000 };
const submit = (fields: object) => parseRequest('submit', fields, limits) as SubmitRequest;
const hash = (fields: object) =>
  Buffer.from(
    submit({ payload: 'p', request_id: 'r', ...fields }).contentHash ?? Buffer.alloc(0),
  ).toString('hex');

describe('the validators that the build makes', () => {
  it('are one for each operation', () => {
    expect(Object.keys(VALIDATORS)).to.have.members(OPERATION_NAMES);
  });
});

describe('requests that are taken', () => {
  it('gives payload bytes as they were meant', () => {
    const utf8 = (text: string) => Buffer.from(text);
    expect(submit({ payload: '\ufeffa\0é😀' }).payload).to.deep.equal(utf8('\ufeffa\0é😀'));
    expect(submit({ payload_base64: '//4A' }).payload).to.deep.equal(Buffer.from([255, 254, 0]));
    expect(submit({ payload: '' }).payload).to.have.length(0);
    expect(submit({ payload_base64: '' }).payload).to.have.length(0);
  });

  it('takes the ends of the ranges', () => {
    const taken = submit({
      payload: 'p'.repeat(1_000),
      queue: 'q'.repeat(128),
      request_id: 'é'.repeat(128),
      execution_window_ms: 3_153_600_000_000,
      delay_ms: 0,
      retry_policy: { max_retries: 0, backoff_ms: 0, backoff_factor: 1.5, backoff_max_ms: 0 },
      metadata: { k: 'v'.repeat(4_095) },
    });
    expect(taken).to.include({ op: 'submit', maxRetries: 0, backoffFactor: 1.5, delayMs: 0 });
    const lease = { worker_id: 'w', max: 500, wait_ms: 60_000, queues: ['a', 'b', 'a'] };
    expect(parseRequest('lease', lease, limits)).to.deep.include({
      max: 500,
      waitMs: 60_000,
      queues: ['a', 'b'],
    });
  });

  it('fills in what is not named', () => {
    expect(parseRequest('lease', { worker_id: 'w' }, limits)).to.deep.equal({
      op: 'lease',
      workerId: 'w',
      queues: ['default'],
      max: 1,
      waitMs: 0,
      capacity: undefined,
      base64: false,
    });
    expect(parseRequest('kill', { task_id: 'T7' }, limits)).to.deep.equal({
      op: 'kill',
      taskId: 7,
      reason: 'killed',
    });
  });

  it('refuses a payload or result over the limit as too large', () => {
    const over = 'p'.repeat(1_001);
    const report = { task_id: 'T1', lease_id: 'L2', result: over };
    expect(parseRequest('submit', { payload: over }, limits)).to.include({ reason: 'too_large' });
    expect(parseRequest('complete', report, limits)).to.include({ reason: 'too_large' });
    // What counts are the bytes, in whichever form they come.
    const base64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64');
    const { result: _, ...ids } = report;
    for (const [bytes, kind] of [[1_001, 'refusal'] as const, [1_000, undefined] as const]) {
      const asked = [
        parseRequest('submit', { payload_base64: base64(bytes) }, limits),
        parseRequest('complete', { ...ids, result_base64: base64(bytes) }, limits),
      ];
      expect(asked.map((one) => ('kind' in one ? one.kind : undefined))).to.deep.equal([
        kind,
        kind,
      ]);
    }
    const raw = parseRawSubmit('q', {}, Buffer.alloc(1_001), limits);
    expect(raw).to.include({ reason: 'too_large' });
  });

  it('keeps metadata keys that are the names of built-in things', () => {
    const metadata = { constructor: 'a', prototype: 'b', toString: 'c', __proto__x: 'd' };
    expect(submit({ payload: 'p', metadata }).metadata).to.deep.equal(metadata);
  });
});

describe('what makes two submits the same', () => {
  it('is the payload, the queue and the named options', () => {
    const plain = hash({});
    expect(plain).to.have.length(32);
    const others = [
      { payload: 'q' },
      { queue: 'other' },
      { execution_window_ms: 5 },
      { retry_policy: { max_retries: 5 } },
      { retry_policy: { backoff_ms: 5 } },
      { retry_policy: { backoff_factor: 5 } },
      { retry_policy: { backoff_max_ms: 5 } },
      { retry_policy: { max_retries: 5, backoff_ms: 5 } },
    ].map(hash);
    expect(new Set([plain, ...others]).size).to.equal(others.length + 1);
  });

  it('is not the delay, the metadata, the id, nor how the payload came', () => {
    const same = [
      { delay_ms: 5 },
      { metadata: { a: 'b' } },
      { request_id: 'other' },
      { queue: 'default' },
      { retry_policy: {} },
    ].map(hash);
    same.push(hash({ payload: undefined, payload_base64: 'cA==' }));
    expect(new Set([hash({}), ...same]).size).to.equal(1);
  });

  it('is the same over both routes', () => {
    const query = { request_id: 'r', max_retries: 7, backoff_ms: 1, execution_window_ms: 9 };
    const raw = parseRawSubmit('mail', query, Buffer.from('p'), limits) as SubmitRequest;
    const { max_retries, backoff_ms } = query;
    const fields = { queue: 'mail', retry_policy: { max_retries, backoff_ms } };
    const json = hash({ ...fields, execution_window_ms: 9 });
    expect(Buffer.from(raw.contentHash ?? []).toString('hex')).to.equal(json);
  });

  it('never changes: the digests are in logs', () => {
    expect(hash({})).to.equal('9aa65d932ff2169f750519147de8d855');
    expect(hash({ queue: 'mail', retry_policy: { max_retries: 7 } })).to.equal(
      'b32a72c99f4d29ba130f4d39e6cecaed',
    );
  });
});
