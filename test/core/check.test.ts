// Each condition under which a record may not happen, one at a time: the record is right in all
// else, and right altogether without the change. What check() lets pass here, replay would believe
// of a log that says it.

import { expect } from 'chai';
import { apply } from '../../src/core/apply.ts';
import { check } from '../../src/core/check.ts';
import { State } from '../../src/core/state.ts';
import type { LogRecord, TaskCreated } from '../../src/model/records.ts';
import { digestText } from '../support/world.ts';
import * as plain from './plain-records.ts';
import { AT, granted, none } from './plain-records.ts';

const retryPolicy = { maxRetries: 1, backoffMs: 10, backoffFactor: 2 };
const created = (seq: number, more: Partial<TaskCreated> = {}): LogRecord =>
  plain.created(seq, { executionWindowMs: 100, retryPolicy, ...more });

/** Task 2 is leased (3) and its lease extended (4); 5 waits for its time; 6 is dead (7); 8 was
 * leased once (9) and waits; 11 is leased (12); 13 waits. */
const STORY: readonly LogRecord[] = [
  { type: 'CoordinatorStarted', seq: 1, at: AT, prev: 0, formatVersion: 1, startedAt: AT },
  created(2, { requestId: 'r', contentHash: new Uint8Array(16) }),
  granted(3, 2),
  { type: 'LeaseExtended', seq: 4, at: AT, prev: 3, taskId: 2, leaseId: 3, newLeaseExpiry: 1_080 },
  created(5, { notBefore: 2_000 }),
  created(6),
  { type: 'TaskDead', seq: 7, at: AT, prev: 6, taskId: 6, reason: 'r', ...none },
  created(8),
  granted(9, 8),
  { type: 'LeaseExpired', seq: 10, at: 1_050, prev: 9, taskId: 8, leaseId: 9, ...none },
  created(11, { at: 1_050, executionWindowMs: 1_000 }),
  { ...granted(12, 11), at: 1_050, grantedAt: 1_050, leaseExpiry: 1_100 } as LogRecord,
  created(13, { at: 1_050 }),
];

const next = { seq: 14, at: 1_060 };
const onLease = { ...next, prev: 3, taskId: 2, leaseId: 3, extensions: 1, lastExtension: 4 };
/** Records that may come next. */
const RIGHT = {
  started: { ...next, type: 'CoordinatorStarted', prev: 0, formatVersion: 1, startedAt: AT },
  created: created(14, { at: 1_060 }),
  granted: {
    ...next,
    type: 'LeaseGranted',
    prev: 10,
    taskId: 8,
    workerId: 'w',
    attempt: 2,
    grantedAt: 1_060,
    leaseExpiry: 1_160,
  },
  redriven: created(14, { at: 1_060, originTaskId: 6 }),
  extended: {
    ...next,
    type: 'LeaseExtended',
    prev: 4,
    taskId: 2,
    leaseId: 3,
    newLeaseExpiry: 1_100,
  },
  expired: { ...onLease, type: 'LeaseExpired', at: 1_080 },
  completed: { ...onLease, type: 'TaskCompleted' },
  failed: { ...onLease, type: 'TaskFailed', failureReason: 'r', kind: 'error', retryAt: 1_070 },
  cancelled: {
    ...next,
    type: 'TaskCancelled',
    prev: 10,
    taskId: 8,
    leaseId: 9,
    report: 'complete',
  },
  dead: { ...onLease, type: 'TaskDead', reason: 'r' },
  forgotten: {
    ...next,
    type: 'HistoryForgotten',
    prev: 0,
    completedThrough: 0,
    failedThrough: 0,
    totals: { leaseExpirations: 0, duplicateExecutions: 0, lateReports: 0, retries: 0, starts: 1 },
  },
} as const satisfies Record<string, LogRecord>;

/** The record, what is changed of it, what is said. */
const WRONG: readonly (readonly [keyof typeof RIGHT, Record<string, unknown>, RegExp])[] = [
  ['created', { at: 1_049 }, /before the previous/],
  ['started', { at: 1_049 }, /before the previous/],
  ['started', { seq: 13 }, /13 does not follow 13/],
  ['started', { prev: 13 }, /is not 0/],
  ['started', { formatVersion: 2 }, /newer/],
  ['forgotten', { seq: 15 }, /does not follow/],
  ['forgotten', { prev: 13 }, /is not 0/],
  ['created', { seq: 15 }, /does not follow/],
  ['created', { prev: 13 }, /is not 0/],
  ['created', { requestId: 'r' }, /remembered/],
  ['redriven', { originTaskId: 7 }, /does not exist/],
  ['redriven', { originTaskId: 8 }, /WAITING/],
  ['redriven', { originTaskId: 2 }, /LEASED/],
  ['granted', { taskId: 9 }, /does not exist/],
  ['granted', { taskId: 2, prev: 3 }, /is LEASED/],
  ['granted', { prev: 9 }, /prev is 9, expected 10/],
  ['granted', { attempt: 1 }, /expected 2/],
  ['granted', { attempt: 3 }, /expected 2/],
  ['granted', { taskId: 5, prev: 5, attempt: 1 }, /not eligible/],
  ['granted', { leaseExpiry: 1_060 }, /before it begins/],
  ['granted', { leaseExpiry: 1_161 }, /beyond the execution window/],
  ['extended', { prev: 3 }, /expected 4/],
  ['extended', { at: 1_080 }, /expired at 1080/],
  ['extended', { newLeaseExpiry: 1_080 }, /not later/],
  ['extended', { newLeaseExpiry: 1_101 }, /beyond the execution window/],
  ['extended', { leaseId: 12, prev: 12, newLeaseExpiry: 1_120 }, /not the current/],
  ['extended', { leaseId: 9 }, /not the current/],
  ['expired', { at: 1_079 }, /lasts until 1080/],
  ['expired', { leaseId: 12 }, /not the current/],
  ['expired', { extensions: 0, lastExtension: 0 }, /had 1/],
  ['completed', { at: 1_080 }, /expired at 1080/],
  ['completed', { leaseId: 12 }, /not the current/],
  ['completed', { prev: 4 }, /expected 3/],
  ['completed', { extensions: 2 }, /tells of 2/],
  ['completed', { lastExtension: 3 }, /tells of/],
  ['failed', { at: 1_080, retryAt: 1_090 }, /expired at 1080/],
  ['failed', { leaseId: 12 }, /not the current/],
  ['failed', { retryAt: 1_069 }, /policy says 1070/],
  ['failed', { retryAt: undefined }, /policy says 1070/],
  ['failed', { kind: 'permanent' }, /policy says undefined/],
  ['failed', { extensions: 0, lastExtension: 0 }, /had 1/],
  ['cancelled', { leaseId: 12 }, /never granted/],
  ['cancelled', { taskId: 2, prev: 3, leaseId: 3 }, /current one/],
  ['cancelled', { taskId: 13, prev: 13 }, /never granted/],
  ['dead', { extensions: 0, lastExtension: 0 }, /had 1/],
  ['dead', { taskId: 6, prev: 7 }, /is DEAD/],
  ['dead', { taskId: 8, prev: 10 }, /had 0/],
];

function played(records: readonly LogRecord[]): State {
  const state = new State(digestText);
  for (const record of records) apply(state, { ...record });
  return state;
}

describe('check: what may not be the next record', () => {
  for (const [name, record] of Object.entries(RIGHT)) {
    it(`${name} may, as it stands`, () => {
      expect(check(played(STORY), record)).to.equal(undefined);
    });
  }

  for (const [name, change, words] of WRONG) {
    it(`${name} may not with ${JSON.stringify(change)}`, () => {
      const record = { ...RIGHT[name], ...change } as LogRecord;
      expect(check(played(STORY), record)).to.match(words);
    });
  }

  it('a start may leave numbers free, and nothing else may', () => {
    const state = played(STORY);
    expect(check(state, { ...RIGHT.started, seq: 1_000_014 })).to.equal(undefined);
    expect(check(state, { ...RIGHT.granted, seq: 1_000_014 })).to.match(/does not follow/);
  });

  it('a second report of a lease, and a second redrive of a task', () => {
    const late = played([...STORY, RIGHT.cancelled]);
    const again = { ...RIGHT.cancelled, seq: 15, prev: 14 };
    expect(check(late, again)).to.match(/outcome already/);
    const redriven = played([...STORY, RIGHT.redriven]);
    expect(check(redriven, { ...RIGHT.redriven, seq: 15 })).to.match(/redriven before/);
  });
});
