// The heartbeat mapper, by table and by random histories: no clock, no thread, no connection.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  type HeartbeatInput,
  type HeartbeatOutput,
  type HeldLease,
  heartbeat,
  holdLease,
  wakeAtMs,
} from '../../src/client/heartbeat-decision.ts';

const start = { nowMs: 0, endsAtMs: 300, windowEndsAtMs: 10_000, intervalMs: 100 };
const held = (mode: 'thread' | 'handler' = 'thread') => holdLease({ ...start, mode });
const tick = (nowMs: number, slackMs = 0) => ({ kind: 'tick', nowMs, slackMs }) as const;

/** Feeds the inputs in order. */
function play(lease: HeldLease, ...inputs: HeartbeatInput[]) {
  const outputs: (HeartbeatOutput | undefined)[] = [];
  let at = lease;
  for (const input of inputs) {
    const step = heartbeat(at, input);
    at = step.lease;
    outputs.push(step.output);
  }
  return { lease: at, outputs, last: outputs.at(-1) };
}

describe('heartbeat mapper', () => {
  it('sends when the interval is over, and not before', () => {
    expect(wakeAtMs(held())).to.equal(100);
    expect(play(held(), tick(99)).last).to.equal(undefined);
    expect(play(held(), tick(100)).last).to.deep.equal({ kind: 'send' });
  });

  it('is sent along when another one is due a little earlier', () => {
    expect(play(held(), tick(91, 10)).last).to.deep.equal({ kind: 'send' });
  });

  it('sends no second one while the first is in flight', () => {
    const { last, lease } = play(held(), tick(100), tick(150));
    expect(last).to.equal(undefined);
    expect(wakeAtMs(lease)).to.equal(300);
  });

  it('counts the new end and the next heartbeat from when it was sent', () => {
    const ok = { kind: 'ok', nowMs: 140, sentAtMs: 100, leaseMs: 300 } as const;
    const { lease } = play(held(), tick(100), ok);
    expect(lease.endsAtMs).to.equal(400);
    expect(wakeAtMs(lease)).to.equal(200);
  });

  it('is not shortened by an older answer that comes late', () => {
    const newer = { kind: 'ok', nowMs: 210, sentAtMs: 200, leaseMs: 300 } as const;
    const older = { kind: 'ok', nowMs: 220, sentAtMs: 100, leaseMs: 300 } as const;
    expect(play(held(), tick(100), newer, older).lease.endsAtMs).to.equal(500);
  });

  it('tries again soon after no answer, and sooner as the end comes near', () => {
    const at = (nowMs: number) =>
      play(held(), tick(100), { kind: 'unanswered', nowMs }).lease.beatAtMs - nowMs;
    expect(at(110)).to.equal(47.5);
    expect(at(250)).to.equal(20);
    const { lease } = play(held(), tick(100), { kind: 'unanswered', nowMs: 110 });
    expect(wakeAtMs(lease)).to.equal(157.5);
    expect(play(lease, tick(157)).last).to.equal(undefined);
    expect(play(lease, tick(158)).last).to.deep.equal({ kind: 'send' });
  });

  it('is lost when rejected, and when its time is over at exactly its end', () => {
    const rejected = play(held(), tick(100), { kind: 'rejected', reason: 'lease_superseded' });
    expect(rejected.last).to.deep.equal({ kind: 'lost', reason: 'lease_superseded' });
    expect(play(held(), tick(299, 0)).last).to.deep.equal({ kind: 'send' });
    expect(play(held(), tick(300)).last).to.deep.equal({ kind: 'lost', reason: 'lease_time_over' });
  });

  it('reaches its deadline shortly before the window, unless it is lost already', () => {
    const window = { ...start, endsAtMs: 2_000, windowEndsAtMs: 2_000, intervalMs: 5_000 };
    const lease = holdLease({ ...window, mode: 'thread' });
    expect(wakeAtMs(lease)).to.equal(1_800);
    expect(play(lease, tick(1_799)).last).to.equal(undefined);
    expect(play(lease, tick(1_800)).last).to.deep.equal({ kind: 'deadline' });
    // After a long pause both are over: a report would be in vain.
    expect(play(lease, tick(2_000)).last).to.include({ kind: 'lost' });
  });

  it('reports its deadline a tenth of the window before it, from 50 ms to a second', () => {
    const margin = (windowEndsAtMs: number, nowMs = 0): number =>
      windowEndsAtMs - holdLease({ ...start, nowMs, windowEndsAtMs, mode: 'thread' }).deadlineAtMs;
    expect([100, 500, 2_000, 10_000, 60_000].map((ms) => margin(ms))).to.deep.equal([
      50, 50, 200, 1_000, 1_000,
    ]);
    // What counts is what is left when the lease came.
    expect(margin(60_000, 58_000)).to.equal(200);
  });

  it('in handler mode sends only when asked', () => {
    expect(wakeAtMs(held('handler'))).to.equal(300);
    expect(play(held('handler'), tick(250)).last).to.equal(undefined);
    const ok = { kind: 'ok', nowMs: 260, sentAtMs: 250, leaseMs: 300 } as const;
    const { outputs, lease } = play(held('handler'), { kind: 'asked' }, ok);
    expect(outputs[0]).to.deep.equal({ kind: 'send' });
    expect(wakeAtMs(lease)).to.equal(550);
  });

  it('says nothing more once it is lost or over', () => {
    const lost = play(held(), tick(300)).lease;
    const ok = { kind: 'ok', nowMs: 310, sentAtMs: 290, leaseMs: 300 } as const;
    const { outputs, lease } = play(lost, ok, { kind: 'asked' }, tick(400));
    expect(outputs).to.deep.equal([undefined, undefined, undefined]);
    expect(lease.phase).to.equal('lost');
    expect(wakeAtMs(lease)).to.equal(Number.POSITIVE_INFINITY);
  });

  it('never outlives the coordinator, whatever comes in whichever order', () => {
    // The coordinator's lease ends leaseMs after it decided, which is after the heartbeat was sent.
    const event = fc.record({
      pauseMs: fc.integer({ min: 0, max: 120 }),
      travelMs: fc.integer({ min: 0, max: 150 }),
      answer: fc.constantFrom('ok', 'unanswered', 'rejected'),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let lease = held();
        let nowMs = 0;
        let trueEndMs = 300;
        for (const { pauseMs, travelMs, answer } of events) {
          nowMs += pauseMs;
          const step = heartbeat(lease, tick(nowMs));
          lease = step.lease;
          if (lease.phase !== 'held') break;
          expect(nowMs).to.be.below(trueEndMs);
          if (step.output?.kind !== 'send') continue;
          const sentAtMs = nowMs;
          const decidedAtMs = nowMs + travelMs / 2;
          nowMs += travelMs;
          if (answer === 'ok' && decidedAtMs < trueEndMs) {
            trueEndMs = decidedAtMs + 300;
            lease = heartbeat(lease, { kind: 'ok', nowMs, sentAtMs, leaseMs: 300 }).lease;
          } else if (answer === 'unanswered') {
            lease = heartbeat(lease, { kind: 'unanswered', nowMs }).lease;
          } else lease = heartbeat(lease, { kind: 'rejected', reason: 'lease_expired' }).lease;
          expect(lease.endsAtMs).to.be.at.most(trueEndMs);
        }
      }),
    );
  });
});
