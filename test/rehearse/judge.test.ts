// Holds the verdicts to what the traffic shows: each fault from the smallest traffic that proves
// it, and the same traffic without the fault.

import { expect } from 'chai';
import type { FaultName } from '../../src/rehearse/faults.ts';
import { type Evidence, type Judgement, judge } from '../../src/rehearse/judge.ts';
import type { Effect, Exchange, WorkerEvent } from '../../src/rehearse/traffic.ts';

const LEASE_MS = 1_000;

interface Seen {
  readonly exchanges?: readonly Partial<Exchange>[];
  readonly effects?: readonly Partial<Effect>[];
  readonly events?: readonly Omit<WorkerEvent, 'worker'>[];
  readonly left?: readonly string[];
  readonly endedAt?: number;
}

/** Worker 1 was given lease L3 of task T2 at 0 ms. */
const grant: Partial<Exchange> = {
  op: 'lease',
  at: 0,
  leaseId: undefined,
  said: 'lease',
  answered: { at: 0, outcome: 'LEASES', reason: undefined },
  granted: [{ taskId: 'T2', leaseId: 'L3', attempt: 1, fencingToken: 3 }],
};

const heartbeat = (at: number, outcome = 'OK'): Partial<Exchange> => ({
  op: 'heartbeat',
  at,
  said: 'heartbeat',
  answered: { at, outcome, reason: undefined },
});

const complete = (at: number, outcome = 'COMMITTED', said = 'complete'): Partial<Exchange> => ({
  op: 'complete',
  at,
  said,
  answered: { at, outcome, reason: undefined },
});

const effect = (at: number, fencingToken = 3): Partial<Effect> => ({
  askedAt: at,
  at,
  fencingToken,
});

function judged({
  exchanges = [],
  effects = [],
  events = [],
  left = [],
  endedAt,
}: Seen): Judgement {
  const all = [grant, ...exchanges].map(
    (one, index): Exchange => ({
      number: index + 1,
      worker: 1,
      op: undefined,
      at: 0,
      taskId: 'T2',
      leaseId: 'L3',
      said: '',
      requestFate: 'pass',
      answerFate: 'pass',
      answered: undefined,
      deliveredAt: one.at ?? 0,
      granted: [],
      ...one,
    }),
  );
  const evidence: Evidence = {
    traffic: {
      exchanges: all,
      effects: effects.map((one) => ({ taskId: 'T2', ...one, accepted: true }) as Effect),
      events: events.map((event) => ({ worker: 1, ...event })),
    },
    records: [],
    leaseMs: LEASE_MS,
    left,
    endedAt: endedAt ?? Math.max(0, ...all.map(({ at }) => at)) + 100,
    counted: new Map(),
  };
  return judge(evidence);
}

/** A second attempt, in the hands of worker 2. */
const granted2 = (at: number): Partial<Exchange> => ({
  ...grant,
  at,
  worker: 2,
  granted: [{ taskId: 'T2', leaseId: 'L5', attempt: 2, fencingToken: 5 }],
});

const lost = { deliveredAt: undefined, answerFate: 'lose' } as const;

const right: Record<string, Seen> = {
  'a quick task': { exchanges: [complete(10)] },
  'heartbeats while at work': {
    exchanges: [heartbeat(400), heartbeat(800), heartbeat(1_200), complete(1_500)],
  },
  'the same report again after a lost answer': {
    exchanges: [{ ...complete(10), ...lost }, complete(200, 'REJECTED')],
  },
  'the same report again after UNAVAILABLE': {
    exchanges: [complete(10, 'UNAVAILABLE'), complete(200)],
  },
  'silence while it is frozen': {
    exchanges: [complete(3_000, 'CANCELLED')],
    events: [
      { at: 100, what: 'frozen' },
      { at: 2_900, what: 'woken' },
    ],
  },
  'silence after a rejected heartbeat': { exchanges: [heartbeat(400, 'REJECTED')], endedAt: 5_000 },
  'silence after a whole lease of heartbeats without answer': {
    exchanges: [
      { ...heartbeat(400), ...lost },
      { ...heartbeat(800), ...lost },
    ],
    endedAt: 5_000,
  },
  'a heartbeat that was on its way when CANCELLED came': {
    exchanges: [heartbeat(400), complete(600, 'CANCELLED'), heartbeat(700, 'REJECTED')],
  },
  'a stop in time': {
    events: [
      { at: 50, what: 'told to stop' },
      { at: 900, what: 'ended' },
    ],
    endedAt: 20_000,
  },
};

const wrong: Record<string, [FaultName, Seen]> = {
  'no heartbeat in a long task': ['no-heartbeat', { exchanges: [complete(1_600)] }],
  'heartbeats that stop in the middle': [
    'no-heartbeat',
    { exchanges: [heartbeat(300), heartbeat(600), complete(2_500)] },
  ],
  'heartbeats after the report': [
    'heartbeat-after-report',
    { exchanges: [complete(10), heartbeat(400, 'REJECTED')] },
  ],
  'a report after CANCELLED': [
    'sent-after-cancelled',
    { exchanges: [complete(10, 'CANCELLED'), complete(20, 'REJECTED')] },
  ],
  'a report after COMMITTED': [
    'second-report',
    { exchanges: [complete(10), complete(300, 'REJECTED')] },
  ],
  'another report after a lost answer': [
    'second-report',
    { exchanges: [{ ...complete(10), ...lost }, complete(300, 'REJECTED', 'fail')] },
  ],
  'the effect twice under one lease': [
    'effect-repeated',
    { exchanges: [complete(30)], effects: [effect(10), effect(20)] },
  ],
  'the effect when another worker has the task': [
    'effect-without-lease',
    { exchanges: [heartbeat(400, 'REJECTED'), granted2(1_100)], effects: [effect(1_200)] },
  ],
  'no end after SIGTERM': [
    'ignores-shutdown',
    { exchanges: [complete(10)], events: [{ at: 50, what: 'told to stop' }], endedAt: 12_000 },
  ],
  'a task that is not over': ['not-done', { exchanges: [complete(10)], left: ['T2'] }],
};

describe('the judgement of a rehearsal', () => {
  for (const [name, seen] of Object.entries(right)) {
    it(`finds no fault in ${name}`, () => {
      expect(judged(seen).faults).to.deep.equal([]);
      expect(judged(seen).verdict).to.equal('kept');
    });
  }

  for (const [name, [fault, seen]] of Object.entries(wrong)) {
    it(`finds ${fault}, and nothing else, in ${name}`, () => {
      const { faults, verdict } = judged(seen);
      expect(faults.map((one) => one.name)).to.deep.equal([fault]);
      expect(faults[0]?.evidence).to.have.length(1);
      expect(verdict).to.equal('broken');
    });
  }

  it('tells an effect that a store could have refused from one that it could not', () => {
    const second = granted2(1_100);
    const refusable = judged({
      exchanges: [heartbeat(400, 'REJECTED'), second],
      effects: [effect(1_150, 5), effect(1_200, 3)],
    });
    expect(refusable.verdict).to.equal('effect doubled but refusable');
    const inOrder = judged({ exchanges: [second], effects: [effect(10, 3), effect(1_150, 5)] });
    expect(inOrder.verdict).to.equal('effect doubled');
    expect(inOrder.faults).to.deep.equal([]);
    expect(inOrder.doubled[0]).to.include({ taskId: 'T2', times: 2, refusable: false });
  });
});
