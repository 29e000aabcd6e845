// Every state × every record: the table of transitions is what check and apply really do.

import { expect } from 'chai';
import { apply } from '../../src/core/apply.ts';
import { check } from '../../src/core/check.ts';
import { State } from '../../src/core/state.ts';
import { type LogRecord, RECORD_TYPES, type RecordType } from '../../src/model/records.ts';
import { TASK_STATES, type TaskStateName } from '../../src/model/request.ts';
import { TRANSITIONS, transitionAfter, transitionOf } from '../../src/model/transitions.ts';
import { digestText } from '../support/world.ts';

const AT = 1_000;
const ends = { extensions: 0, lastExtension: 0 };
type Draft<T extends LogRecord = LogRecord> = T extends LogRecord ? Omit<T, 'seq'> : never;

const created = (more: object = {}): Draft => ({
  type: 'TaskCreated',
  at: AT,
  prev: 0,
  queue: 'q',
  payload: new Uint8Array(),
  executionWindowMs: 100,
  retryPolicy: { maxRetries: 0, backoffMs: 0, backoffFactor: 1 },
  ...more,
});
const granted = (attempt: number, prev: number, at = AT): Draft => ({
  type: 'LeaseGranted',
  at,
  prev,
  taskId: 1,
  workerId: 'w',
  attempt,
  grantedAt: at,
  leaseExpiry: at + 50,
});

/** A log of one task in that state, which had one lease (record 2) that ended without outcome. */
const STORIES: Record<TaskStateName, Draft[]> = {
  WAITING: [
    created(),
    granted(1, 1),
    { type: 'LeaseExpired', at: AT + 50, prev: 2, taskId: 1, leaseId: 2, ...ends },
  ],
  LEASED: [],
  COMPLETED: [],
  FAILED: [],
  DEAD: [],
};
STORIES.LEASED = [...STORIES.WAITING, granted(2, 3, AT + 50)];
STORIES.COMPLETED = [
  ...STORIES.LEASED,
  { type: 'TaskCompleted', at: AT + 60, prev: 4, taskId: 1, leaseId: 4, ...ends },
];
STORIES.FAILED = [
  ...STORIES.LEASED,
  {
    type: 'TaskFailed',
    at: AT + 60,
    prev: 4,
    taskId: 1,
    leaseId: 4,
    failureReason: 'r',
    kind: 'error',
    ...ends,
  },
];
STORIES.DEAD = [
  ...STORIES.LEASED,
  { type: 'TaskDead', at: AT + 60, prev: 4, taskId: 1, reason: 'r', ...ends },
];

function play(drafts: Draft[]): State {
  const state = new State(digestText);
  for (const draft of drafts) apply(state, { ...draft, seq: state.lastSeq + 1 });
  return state;
}

/** A record of the type that is right in everything but perhaps the state. */
function rightRecord(state: State, type: RecordType, to: TaskStateName): LogRecord {
  const row = state.tasks.find(1);
  const leased = state.tasks.state(row) === 'LEASED';
  const leaseId = leased ? 4 : 2;
  const late = type === 'LeaseExpired' ? 100 : 61;
  const base = { seq: state.lastSeq + 1, at: AT + late, prev: state.tasks.last(row), taskId: 1 };
  switch (type) {
    case 'TaskCreated':
      return { ...created(), seq: base.seq, at: base.at };
    case 'LeaseGranted':
      return {
        ...granted(state.tasks.attempt(row) + 1, base.prev, base.at),
        seq: base.seq,
      };
    case 'LeaseExtended':
      return { ...base, type, prev: leaseId, leaseId, newLeaseExpiry: AT + 120 };
    case 'LeaseExpired':
    case 'TaskCompleted':
      return { ...base, type, leaseId, ...ends };
    case 'TaskFailed': {
      const kind = to === 'WAITING' ? 'released' : 'permanent';
      const retryAt = to === 'WAITING' ? base.at : undefined;
      return { ...base, type, leaseId, failureReason: 'r', kind, retryAt, ...ends };
    }
    case 'TaskCancelled':
      return { ...base, type, leaseId: 2, report: 'complete' };
    case 'TaskDead':
      return { ...base, type, reason: 'r', ...ends };
    default:
      throw new Error(`${type} is about no task`);
  }
}

describe('transitions: every state × every record', () => {
  const ABOUT_TASKS = RECORD_TYPES.slice(1, 8);

  for (const from of TASK_STATES) {
    for (const type of ABOUT_TASKS) {
      const cell = TRANSITIONS.filter((one) => one.from === from && one.record === type);
      const wanted = cell.map((transition) => transition.to).join(' or ') || 'refused';
      it(`${from} × ${type}: ${wanted}`, () => {
        const targets = cell.length > 0 ? cell.map((transition) => transition.to) : [from];
        for (const to of targets) {
          const state = play(STORIES[from]);
          const record = rightRecord(state, type, to);
          if (cell.length === 0) {
            expect(check(state, record)).to.equal(`the task is ${from}`);
            expect(transitionOf(from, record)).to.equal(undefined);
            continue;
          }
          expect(check(state, record)).to.equal(undefined);
          expect(transitionOf(from, record)?.to).to.equal(to);
          expect(transitionAfter(from, record)).to.equal(transitionOf(from, record));
          apply(state, record);
          expect(state.tasks.state(state.tasks.find(1))).to.equal(to);
        }
      });
    }
  }

  it('a task is created from nothing, and only once', () => {
    const state = play([created()]);
    expect(state.tasks.state(state.tasks.find(1))).to.equal('WAITING');
    expect(transitionOf('NONE', { ...created(), seq: 1 })?.to).to.equal('WAITING');
  });

  it('the table names a rule and a condition in every row, and no row twice', () => {
    const seen = new Set(TRANSITIONS.map(({ from, record, to }) => `${from} ${record} ${to}`));
    expect(seen.size).to.equal(TRANSITIONS.length);
    for (const transition of TRANSITIONS) {
      expect(transition.rule.split(' ')).to.have.length.greaterThan(5);
      expect(transition.when).to.have.length.greaterThan(5);
    }
  });
});
