// How far one HistoryForgotten reaches: by time, by number of tasks, and apart for what completed
// and what did not.

import { expect } from 'chai';
import { applyChecked } from '../../src/core/apply.ts';
import { FORGOTTEN_MAX, forgotten } from '../../src/core/forgetting.ts';
import { State } from '../../src/core/state.ts';
import type { HistoryForgotten, LogRecord } from '../../src/model/records.ts';
import { digestText, KNOBS } from '../support/world.ts';

const AT = 1_000;
const knobs = { ...KNOBS, retentionMs: 500, retentionFailedMs: 500 };

/** A state with so many tasks of each kind, all ended at AT. */
function ended(completed: number, dead: number): State {
  const state = new State(digestText);
  const put = (record: Record<string, unknown>): number => {
    const seq = state.lastSeq + 1;
    applyChecked(state, { at: AT, prev: 0, ...record, seq } as LogRecord);
    return seq;
  };
  const none = { extensions: 0, lastExtension: 0 };
  const created = {
    type: 'TaskCreated',
    queue: 'q',
    payload: new Uint8Array(),
    executionWindowMs: 100,
    retryPolicy: { maxRetries: 0, backoffMs: 0, backoffFactor: 1 },
  };
  const lease = { type: 'LeaseGranted', workerId: 'w', attempt: 1, grantedAt: AT, leaseExpiry: AT };
  for (let n = 0; n < completed; n += 1) {
    const taskId = put(created);
    const leaseId = put({ ...lease, taskId });
    put({ type: 'TaskCompleted', taskId, leaseId, ...none });
  }
  for (let n = 0; n < dead; n += 1) {
    put({ type: 'TaskDead', taskId: put(created), reason: 'r', ...none });
  }
  return state;
}

/** Applies what is due until nothing is. @returns how many tasks went with each record. */
function forgetAll(state: State, now = AT + 501): number[] {
  const gone: number[] = [];
  for (let record: HistoryForgotten | undefined; gone.length < 10; ) {
    record = forgotten(state, knobs, now, () => AT);
    if (record === undefined) break;
    const before = state.tasks.size;
    applyChecked(state, { ...record, seq: state.lastSeq + 1 });
    gone.push(before - state.tasks.size);
  }
  return gone;
}

describe('forgetting: how far one record reaches', () => {
  it('no more than so many tasks, of both kinds together', () => {
    expect(forgetAll(ended(FORGOTTEN_MAX - 3, 5))).to.deep.equal([FORGOTTEN_MAX, 2]);
    expect(forgetAll(ended(FORGOTTEN_MAX + 3, 5))).to.deep.equal([FORGOTTEN_MAX, 8]);
    expect(forgetAll(ended(0, FORGOTTEN_MAX + 3))).to.deep.equal([FORGOTTEN_MAX, 3]);
  });

  it('not what is exactly as old as the retention', () => {
    expect(forgetAll(ended(2, 2), AT + 500)).to.deep.equal([]);
    expect(forgetAll(ended(2, 2), AT + 501)).to.deep.equal([4]);
  });
});
