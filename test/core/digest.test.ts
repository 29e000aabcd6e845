// The digest of a state is what every proof of replay compares: whatever a record says that the
// state remembers must change it, and nothing else.

import { expect } from 'chai';
import { apply } from '../../src/core/apply.ts';
import { stateDigest } from '../../src/core/digest.ts';
import { State } from '../../src/core/state.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { digestText } from '../support/world.ts';
import { AT, created, granted, none } from './plain-records.ts';

const failed = (seq: number, taskId: number, leaseId: number): LogRecord => ({
  type: 'TaskFailed',
  seq,
  at: AT,
  prev: leaseId,
  taskId,
  leaseId,
  failureReason: 'r',
  kind: 'error',
  retryAt: AT + 10,
  ...none,
});

const STORY: readonly LogRecord[] = [
  { type: 'CoordinatorStarted', seq: 1, at: AT, prev: 0, formatVersion: 1, startedAt: AT },
  created(2, { requestId: 'r', contentHash: new Uint8Array(16) }),
  created(3, { notBefore: 2_000 }),
  created(4),
  granted(5, 4),
  { type: 'LeaseExtended', seq: 6, at: AT, prev: 5, taskId: 4, leaseId: 5, newLeaseExpiry: 1_080 },
  created(7),
  granted(8, 7),
  failed(9, 7, 8),
  created(10),
  { type: 'TaskDead', seq: 11, at: AT, prev: 10, taskId: 10, reason: 'r', ...none },
  created(12, { originTaskId: 10 }),
  created(13),
  granted(14, 13),
  { type: 'TaskDead', seq: 15, at: AT, prev: 14, taskId: 13, reason: 'r', ...none },
  { type: 'TaskCancelled', seq: 16, at: AT, prev: 15, taskId: 13, leaseId: 14, report: 'fail' },
  {
    type: 'HistoryForgotten',
    seq: 17,
    at: AT,
    prev: 0,
    completedThrough: 3,
    failedThrough: 4,
    totals: { leaseExpirations: 1, duplicateExecutions: 2, lateReports: 3, retries: 4, starts: 5 },
  },
];

const policy = { maxRetries: 9, backoffMs: 10, backoffFactor: 1 };
const totals = {
  leaseExpirations: 1,
  duplicateExecutions: 2,
  lateReports: 3,
  retries: 4,
  starts: 5,
};

/** The number of a record, and what it says instead. */
const CHANGES: readonly (readonly [number, Record<string, unknown>])[] = [
  [2, { queue: 'other' }],
  [2, { executionWindowMs: 501 }],
  [2, { retryPolicy: { ...policy, maxRetries: 8 } }],
  [2, { retryPolicy: { ...policy, backoffMs: 11 } }],
  [2, { retryPolicy: { ...policy, backoffFactor: 2 } }],
  [2, { retryPolicy: { ...policy, backoffMaxMs: 10 } }],
  [2, { requestId: 'other' }],
  [2, { requestId: undefined }],
  [2, { contentHash: new Uint8Array(16).fill(1, 15) }],
  [3, { notBefore: 2_001 }],
  [3, { notBefore: undefined }],
  [5, { workerId: 'other' }],
  [5, { leaseExpiry: AT + 50, grantedAt: AT + 1 }],
  [6, { newLeaseExpiry: 1_081 }],
  [9, { kind: 'released' }],
  [9, { kind: 'permanent', retryAt: undefined }],
  [12, { originTaskId: undefined }],
  [16, { report: 'complete' }],
  [17, { completedThrough: 2 }],
  [17, { failedThrough: 3 }],
  ...Object.keys(totals).map(
    (name) => [17, { totals: { ...totals, [name]: 9 } }] as [number, Record<string, unknown>],
  ),
  [17, { at: AT + 1 }],
];

const digest = (records: readonly LogRecord[]): string => {
  const state = new State(digestText);
  for (const record of records) apply(state, { ...record });
  return stateDigest(state);
};

describe('digest of a state', () => {
  it('is the same for the same log', () => {
    expect(digest(STORY)).to.equal(digest(STORY));
  });

  for (const [seq, change] of CHANGES) {
    it(`is another one when record ${seq} says ${JSON.stringify(change)}`, () => {
      const told = STORY.map((record) => (record.seq === seq ? { ...record, ...change } : record));
      expect(digest(told)).to.not.equal(digest(STORY));
    });
  }

  it('is not changed by what the state does not remember', () => {
    const told = STORY.map((record) => {
      if (record.type === 'TaskCreated') return { ...record, payload: new Uint8Array(9) };
      return record.type === 'TaskDead' ? { ...record, reason: 'another' } : record;
    });
    expect(digest(told)).to.equal(digest(STORY));
  });

  it('tells a place in the order from another one', () => {
    // The same tasks wait from the same time, made so by records in another order.
    const begin = [...STORY.slice(0, 1), created(2), created(3), granted(4, 2), granted(5, 3)];
    const [a, b] = [failed(6, 2, 4), failed(6, 3, 5)];
    const one = digest([...begin, a, { ...b, seq: 7 }]);
    expect(one).to.not.equal(digest([...begin, b, { ...a, seq: 7 }]));
  });
});
