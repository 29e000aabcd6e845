// Owns sample records for the tests of the log: one of each type with and without its options, and
// arbitrary ones for property tests. It asserts nothing.

import fc from 'fast-check';
import type { CoordinatorStarted, LogRecord, TaskCreated } from '../../src/model/records.ts';

export const AT = 1_760_000_000_000;
const text = (s: string) => Buffer.from(s);

export const started = (seq: number, formatVersion = 1): CoordinatorStarted => ({
  type: 'CoordinatorStarted',
  seq,
  at: AT + seq,
  prev: 0,
  formatVersion,
  startedAt: AT,
});

export const created = (seq: number, payload = `payload ${seq}`): TaskCreated => ({
  type: 'TaskCreated',
  seq,
  at: AT + seq,
  prev: 0,
  queue: 'default',
  payload: text(payload),
  executionWindowMs: 3_600_000,
  retryPolicy: { maxRetries: 3, backoffMs: 30_000, backoffFactor: 1, backoffMaxMs: undefined },
  requestId: undefined,
  contentHash: undefined,
  metadata: undefined,
  notBefore: undefined,
  originTaskId: undefined,
});

/** A group of task creations with these numbers. */
export const group = (from: number, to: number, payload?: string): TaskCreated[] =>
  Array.from({ length: to - from + 1 }, (_, i) => created(from + i, payload));

const ends = { extensions: 0, lastExtension: 0 };
const extended = { extensions: 3, lastExtension: 63 };

/** By name, for the golden bytes: never change one, only add. */
export const SAMPLES: Readonly<Record<string, LogRecord>> = {
  'CoordinatorStarted, the first': started(1),
  'TaskCreated, plain': created(42),
  'TaskCreated, every option': {
    ...created(70_000),
    queue: 'mail:eu',
    payload: Buffer.of(0, 255, 128, 7),
    retryPolicy: { maxRetries: 0, backoffMs: 1, backoffFactor: 1.5, backoffMaxMs: 60_000 },
    requestId: 'order-17 ✓',
    contentHash: Buffer.from(Array.from({ length: 16 }, (_, i) => i * 16)),
    metadata: { trace: 'a1', __proto__x: '' },
    notBefore: AT + 100_000,
    originTaskId: 42,
  },
  LeaseGranted: {
    type: 'LeaseGranted',
    seq: 57,
    at: AT,
    prev: 42,
    taskId: 42,
    workerId: 'w1',
    attempt: 1,
    leaseExpiry: AT + 30_000,
    grantedAt: AT,
  },
  LeaseExtended: {
    type: 'LeaseExtended',
    seq: 63,
    at: AT,
    prev: 57,
    taskId: 42,
    leaseId: 57,
    newLeaseExpiry: AT + 30_000,
  },
  'LeaseExpired, never extended': {
    type: 'LeaseExpired',
    seq: 64,
    at: AT,
    prev: 57,
    taskId: 42,
    leaseId: 57,
    ...ends,
  },
  'LeaseExpired, extended': {
    type: 'LeaseExpired',
    seq: 64,
    at: AT,
    prev: 57,
    taskId: 42,
    leaseId: 57,
    ...extended,
  },
  'TaskCompleted, plain': {
    type: 'TaskCompleted',
    seq: 64,
    at: AT,
    prev: 57,
    taskId: 42,
    leaseId: 57,
    ...ends,
    result: undefined,
  },
  'TaskCompleted, every option': {
    type: 'TaskCompleted',
    seq: 64,
    at: AT,
    prev: 57,
    taskId: 42,
    leaseId: 57,
    ...extended,
    result: text('done'),
  },
  'TaskFailed, for good': {
    type: 'TaskFailed',
    seq: 64,
    at: AT,
    prev: 57,
    taskId: 42,
    leaseId: 57,
    ...ends,
    failureReason: 'disk full',
    kind: 'permanent',
    retryAt: undefined,
  },
  'TaskFailed, every option': {
    type: 'TaskFailed',
    seq: 64,
    at: AT,
    prev: 57,
    taskId: 42,
    leaseId: 57,
    ...extended,
    failureReason: '',
    kind: 'released',
    retryAt: AT + 1_000,
  },
  TaskCancelled: {
    type: 'TaskCancelled',
    seq: 80,
    at: AT,
    prev: 64,
    taskId: 42,
    leaseId: 57,
    report: 'fail',
  },
  'TaskDead, from WAITING': {
    type: 'TaskDead',
    seq: 81,
    at: AT,
    prev: 80,
    taskId: 42,
    reason: 'killed',
    ...ends,
  },
  'TaskDead, extended': {
    type: 'TaskDead',
    seq: 2 ** 40,
    at: AT,
    prev: 80,
    taskId: 42,
    reason: 'poison',
    ...extended,
  },
  HistoryForgotten: {
    type: 'HistoryForgotten',
    seq: 90_000,
    at: AT,
    prev: 0,
    completedThrough: 64,
    failedThrough: 0,
    totals: {
      leaseExpirations: 1,
      duplicateExecutions: 2,
      lateReports: 3,
      retries: 400,
      starts: 5,
    },
  },
};

const anyTime = fc.integer({ min: 0, max: 4_000_000_000_000 });
const anyCount = fc.integer({ min: 0, max: 1_000_000 });
const anyText = fc.string({ unit: 'grapheme', maxLength: 50 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** Any record of any type, with a number above 1 where it has to name an earlier one. */
export const anyRecord: fc.Arbitrary<LogRecord> = fc
  .integer({ min: 2, max: Number.MAX_SAFE_INTEGER })
  .chain((seq) => {
    const before = fc.integer({ min: 1, max: seq - 1 });
    const base = { seq: fc.constant(seq), at: anyTime, prev: fc.oneof(fc.constant(0), before) };
    const lease = { ...base, taskId: before, leaseId: before };
    const end = fc.oneof(
      fc.constant(ends),
      fc.record({ extensions: fc.integer({ min: 1, max: 9_999 }), lastExtension: before }),
    );
    const of = <T extends object>(type: LogRecord['type'], fields: fc.Arbitrary<T>) =>
      fc.tuple(fields, end).map(([f, e]) => {
        const ending = ['LeaseExpired', 'TaskCompleted', 'TaskFailed', 'TaskDead'].includes(type);
        return { type, ...f, ...(ending ? e : {}) } as unknown as LogRecord;
      });
    const retryPolicy = fc.record({
      maxRetries: anyCount,
      backoffMs: anyCount,
      backoffFactor: fc.oneof(fc.constant(1), fc.double({ min: 1, max: 100, noNaN: true })),
      backoffMaxMs: maybe(anyCount),
    });
    const totals = fc.record({
      leaseExpirations: anyCount,
      duplicateExecutions: anyCount,
      lateReports: anyCount,
      retries: anyCount,
      starts: anyCount,
    });
    return fc.oneof(
      of(
        'TaskCreated',
        fc.record({
          ...base,
          queue: anyText,
          payload: fc.uint8Array({ maxLength: 300 }),
          executionWindowMs: anyTime,
          retryPolicy,
          requestId: maybe(anyText),
          contentHash: maybe(fc.uint8Array({ minLength: 16, maxLength: 16 })),
          metadata: maybe(fc.dictionary(anyText, anyText, { noNullPrototype: true })),
          notBefore: maybe(anyTime),
          originTaskId: maybe(before),
        }),
      ),
      of(
        'LeaseGranted',
        fc.record({
          ...base,
          taskId: before,
          workerId: anyText,
          attempt: anyCount,
          leaseExpiry: anyTime,
          grantedAt: anyTime,
        }),
      ),
      of('LeaseExtended', fc.record({ ...lease, newLeaseExpiry: anyTime })),
      of('LeaseExpired', fc.record(lease)),
      of(
        'TaskCompleted',
        fc.record({ ...lease, result: maybe(fc.uint8Array({ maxLength: 300 })) }),
      ),
      of(
        'TaskFailed',
        fc.record({
          ...lease,
          failureReason: anyText,
          kind: fc.constantFrom('error', 'permanent', 'released'),
          retryAt: maybe(anyTime),
        }),
      ),
      of('TaskCancelled', fc.record({ ...lease, report: fc.constantFrom('complete', 'fail') })),
      of('TaskDead', fc.record({ ...base, taskId: before, reason: anyText })),
      of(
        'CoordinatorStarted',
        fc.record({ ...base, formatVersion: fc.constantFrom(0, 1), startedAt: anyTime }),
      ),
      of(
        'HistoryForgotten',
        fc.record({ ...base, completedThrough: anyCount, failedThrough: anyCount, totals }),
      ),
    );
  });
