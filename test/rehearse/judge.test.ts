// Holds the verdicts to what the traffic shows: each fault from the smallest traffic that proves
// it, and the same traffic without the fault.

import { expect } from 'chai';
import type { FaultName } from '../../src/rehearse/faults.ts';
import type { Judgement } from '../../src/rehearse/judge.ts';
import { shutdownText } from '../../src/rehearse/judge-stops.ts';
import { complete, effect, grant, granted2, heartbeat, judged, type Seen } from './seen.ts';

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
  'heartbeats that no answer confirmed any more, and then a late report': {
    exchanges: [
      heartbeat(400),
      { ...heartbeat(800), ...lost },
      { ...heartbeat(1_200), ...lost },
      complete(3_000, 'CANCELLED'),
    ],
    ended: 'expired',
  },
  'a heartbeat that is sent again, for it was answered UNAVAILABLE before the report': {
    exchanges: [heartbeat(400, 'UNAVAILABLE'), complete(800), heartbeat(1_400, 'REJECTED')],
    ended: 'completed',
  },
  'a heartbeat that waited for the connection behind one without an answer': {
    exchanges: [
      { ...heartbeat(400, 'REJECTED'), deliveredAt: 2_010 },
      { ...complete(500, 'CANCELLED'), deliveredAt: 2_000 },
      heartbeat(2_400, 'REJECTED'),
    ],
    ended: 'expired',
  },
  'a heartbeat that crossed the report': {
    exchanges: [complete(10), heartbeat(100, 'REJECTED')],
    ended: 'completed',
  },
  'a process that ended by itself when its connection was cut': {
    exchanges: [{ ...complete(10), ...lost, requestFate: 'lose' }],
    events: [{ at: 20, what: 'ended', how: 'status 1' }],
    ended: 'expired',
    endedAt: 5_000,
  },
  'a lease taken in advance that ran out behind a long task': {
    exchanges: [
      { ...grant, granted: [{ taskId: 'T4', leaseId: 'L5', attempt: 1, fencingToken: 5 }] },
      { ...complete(900), taskId: 'T4', leaseId: 'L5' },
    ],
    ended: 'expired',
    endedAt: 5_000,
  },
  'a lease that is given back at shutdown': {
    exchanges: [heartbeat(400), { ...complete(700), op: 'fail', said: 'fail released' }],
    events: [
      { at: 500, what: 'told to stop', how: 'SIGTERM' },
      { at: 900, what: 'ended', how: 'status 0' },
    ],
    ended: 'released',
    endedAt: 5_000,
  },
  'a process that does not listen for the signal': {
    exchanges: [heartbeat(400)],
    events: [
      { at: 500, what: 'told to stop', how: 'SIGTERM' },
      { at: 510, what: 'ended', how: 'SIGTERM' },
    ],
    ended: 'expired',
    endedAt: 5_000,
  },
  'a grant that was on its way when the signal came': {
    events: [
      { at: 10, what: 'told to stop', how: 'SIGTERM' },
      { at: 60, what: 'ended', how: 'status 0' },
    ],
    ended: 'expired',
    endedAt: 5_000,
  },
  'an effect that was given up, and then made again before the report': {
    exchanges: [complete(40)],
    effects: [effect(30)],
    abandoned: [{ askedAt: 20, taskId: 'T2', fencingToken: 3 }],
    ended: 'completed',
  },
  'a task without an effect, where none was seen when nothing went wrong': {
    exchanges: [complete(10)],
    ended: 'completed',
  },
  'an effect that a command counts': {
    exchanges: [complete(10)],
    ended: 'completed',
    owed: ['T2'],
    counted: new Map([['T2', 1]]),
  },
  'an effect that was left out because the lease was not confirmed, and a failure': {
    exchanges: [{ ...heartbeat(5), ...lost }, complete(10, 'COMMITTED', 'fail')],
    ended: 'failed',
    owed: ['T2'],
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
  'heartbeats that come too late for the lease, and no report after it': [
    'no-heartbeat',
    {
      exchanges: [heartbeat(20)],
      effects: [{ ...effect(1_600), askedAt: 40 }],
      ended: 'expired',
      endedAt: 6_000,
    },
  ],
  'heartbeats after the report': [
    'heartbeat-after-report',
    { exchanges: [complete(10), heartbeat(400, 'REJECTED')] },
  ],
  'a report after CANCELLED': [
    'sent-after-cancelled',
    { exchanges: [complete(10, 'CANCELLED'), complete(20, 'REJECTED')] },
  ],
  'a heartbeat after CANCELLED': [
    'sent-after-cancelled',
    { exchanges: [complete(10, 'CANCELLED'), heartbeat(400, 'REJECTED')], ended: 'expired' },
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
  'one heartbeat at the start and none afterwards': [
    'no-heartbeat',
    { exchanges: [heartbeat(10), complete(2_000, 'CANCELLED')], ended: 'expired' },
  ],
  'another report after CANCELLED': [
    'sent-after-cancelled',
    { exchanges: [complete(10, 'CANCELLED'), complete(20, 'REJECTED', 'fail')] },
  ],
  'the same report again after REJECTED': [
    'second-report',
    { exchanges: [complete(10, 'REJECTED'), complete(20, 'REJECTED')] },
  ],
  'an effect long after a heartbeat was rejected': [
    'effect-without-lease',
    { exchanges: [heartbeat(400, 'REJECTED')], effects: [effect(900)], ended: 'expired' },
  ],
  'a report that was answered UNAVAILABLE and not sent again': [
    'report-given-up',
    { exchanges: [complete(10, 'UNAVAILABLE')], ended: 'expired', endedAt: 5_000 },
  ],
  'a report without an answer that was not sent again': [
    'report-given-up',
    {
      exchanges: [{ ...complete(10), ...lost, requestFate: 'lose' }],
      ended: 'expired',
      endedAt: 5_000,
    },
  ],
  'a task in hand that was never reported': [
    'no-report',
    { exchanges: [heartbeat(400)], ended: 'expired', endedAt: 5_000 },
  ],
  'a process that ended by itself with a task in hand': [
    'crashed',
    { events: [{ at: 30, what: 'ended', how: 'status 1' }], ended: 'expired', endedAt: 5_000 },
  ],
  'reports under an old lease by a process that has a newer one': [
    'old-lease',
    {
      exchanges: [
        complete(1_200, 'CANCELLED'),
        { ...granted2(1_300), worker: 1 },
        complete(1_600, 'REJECTED'),
      ],
      ended: 'expired',
      also: { lease_id: 'L5', ended: 'expired', end_record: 9 },
      endedAt: 6_000,
    },
  ],
  'the end after SIGTERM with a task neither reported nor given back': [
    'kept-at-shutdown',
    {
      exchanges: [heartbeat(400)],
      events: [
        { at: 500, what: 'told to stop', how: 'SIGTERM' },
        { at: 600, what: 'ended', how: 'status 0' },
      ],
      ended: 'expired',
      endedAt: 5_000,
    },
  ],
  'a second lease of an answer that was read before the signal, and never used': [
    'kept-at-shutdown',
    {
      exchanges: [
        complete(10),
        {
          ...grant,
          at: 20,
          granted: [
            { taskId: 'T4', leaseId: 'L6', attempt: 1, fencingToken: 6 },
            { taskId: 'T5', leaseId: 'L7', attempt: 1, fencingToken: 7 },
          ],
        },
        { ...heartbeat(40), taskId: 'T4', leaseId: 'L6' },
        { ...complete(60), taskId: 'T4', leaseId: 'L6' },
      ],
      events: [
        { at: 50, what: 'told to stop', how: 'SIGTERM' },
        { at: 70, what: 'ended', how: 'status 0' },
      ],
      ended: 'completed',
      also: { lease_id: 'L7', ended: 'expired', end_record: 9 },
      endedAt: 5_000,
    },
  ],
  'a report of the task as done, and its effect afterwards': [
    'reported-before-effect',
    { exchanges: [complete(40)], effects: [effect(60)], ended: 'completed' },
  ],
  'a report of the task as done, although its effect was given up': [
    'reported-before-effect',
    {
      exchanges: [complete(40)],
      abandoned: [{ askedAt: 20, taskId: 'T2', fencingToken: 3 }],
      ended: 'completed',
    },
  ],
  'a report of the task as done, and the death of the worker before the effect': [
    'reported-before-effect',
    {
      exchanges: [complete(10)],
      events: [{ at: 20, what: 'killed' }],
      ended: 'completed',
      owed: ['T2'],
    },
  ],
  'a report of the task as done without its effect, for the lease was not confirmed': [
    'completed-without-effect',
    {
      exchanges: [{ ...heartbeat(5), ...lost }, complete(10)],
      ended: 'completed',
      owed: ['T2'],
    },
  ],
  'a report of the task as done, and no effect that a command counts': [
    'completed-without-effect',
    {
      exchanges: [complete(10)],
      ended: 'completed',
      owed: ['T2'],
      counted: new Map([['T2', 0]]),
    },
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

  it('tells what became of the leases in hand at shutdown', () => {
    const told = ({ atShutdown }: Judgement): string[] => atShutdown.map(shutdownText);
    expect(told(judged(right['a lease that is given back at shutdown'] as Seen))).to.deep.equal([
      'gave back its task 200 ms after SIGTERM',
    ]);
    const deaf = judged(right['a process that does not listen for the signal'] as Seen);
    expect(told(deaf)).to.deep.equal(['left its lease to run out at SIGTERM']);
    expect(deaf.atShutdown[0]).to.include({ leaseId: 'L3', record: 4, byTheSignal: true });
    expect(told(judged(right['a quick task'] as Seen))).to.deep.equal([]);
  });

  it('tells that a worker ended by itself, but not one that was asked to or was done', () => {
    const ends = (how: string, ...asked: { at: number; what: 'killed' | 'told to stop' }[]) =>
      judged({ exchanges: [complete(10)], events: [...asked, { at: 900, what: 'ended', how }] })
        .endedByThemselves;
    expect(ends('status 1')).to.deep.equal(['status 1']);
    expect(ends('SIGSEGV')).to.deep.equal(['SIGSEGV']);
    expect(ends('status 0')).to.deep.equal([]);
    expect(ends('SIGKILL', { at: 800, what: 'killed' })).to.deep.equal([]);
    expect(ends('status 1', { at: 800, what: 'told to stop' })).to.deep.equal([]);
  });

  it('proves a fault that shows again and again by the first few times', () => {
    const beats = Array.from({ length: 20 }, (_, index) =>
      heartbeat(400 + 100 * index, 'REJECTED'),
    );
    const [fault] = judged({ exchanges: [complete(10), ...beats] }).faults;
    expect(fault?.evidence).to.have.length(6);
    expect(fault?.evidence.at(-1)).to.equal('… and 15 more');
  });

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
