// Owns the stories whose explanations are kept under test/golden/explain: every way in which a task
// runs more than once, ends, or does not run.

import type { TaskStory } from '../../src/explain/explain-task.ts';
import { NOON, Story } from '../core/story-builder.ts';

const RETRIES = { maxRetries: 3, backoffMs: 5_000, backoffFactor: 1 };
const OF_ANOTHER = {
  type: 'TaskCreated',
  queue: 'mail',
  payload: new Uint8Array(1),
  executionWindowMs: 60_000,
  retryPolicy: RETRIES,
} as const;

export const stories: Readonly<Record<string, () => TaskStory>> = {
  'ran-once': () => new Story().grant(1, 'w1').heartbeat(4).complete(6, 'sent').told(60),
  'worker-killed': () =>
    new Story()
      .grant(1, 'w1')
      .heartbeat(4)
      .heartbeat(7.5)
      .others(5)
      .expire()
      .grant(19, 'w2')
      .complete(23)
      .told(60),
  'worker-frozen-and-woken': () => {
    const story = new Story().grant(1, 'w1').heartbeat(4);
    const first = story.leaseId;
    return story.expire().grant(15, 'w2').heartbeat(18).late(20, first).complete(21).told(60);
  },
  'late-report-after-the-end': () => {
    const story = new Story().grant(1, 'w1').heartbeat(4);
    const first = story.leaseId;
    return story.expire().grant(15, 'w2').complete(17).late(30, first).told(60);
  },
  'late-report-before-the-next': () => {
    const story = new Story().grant(1, 'w1');
    const first = story.leaseId;
    return story.expire().late(13, first).grant(15, 'w2').complete(17).told(60);
  },
  'grant-nobody-received': () =>
    new Story().grant(1, 'w1').expire().grant(11, 'w1').complete(12).told(60),
  'heartbeats-cut-off': () => {
    const story = new Story().grant(1, 'w1').heartbeat(4).heartbeat(7);
    const first = story.leaseId;
    return story.expire().grant(17.2, 'w2').late(19, first, 'fail').told(20);
  },
  'failed-and-retried': () =>
    new Story()
      .grant(1, 'w1')
      .fail(3, 'smtp: 451 try again later', 8)
      .grant(9.5, 'w2')
      .complete(11)
      .told(60),
  'given-back': () =>
    new Story()
      .grant(1, 'w1')
      .fail(2, 'shutting down', 3, 'released')
      .grant(3, 'w2')
      .complete(4)
      .told(60),
  'coordinator-down-longer-than-the-lease': () =>
    new Story()
      .grant(1, 'w1')
      .heartbeat(4)
      .start(40)
      .expire(40)
      .grant(40.1, 'w2')
      .complete(42)
      .told(60),
  'restored-while-waiting': () => new Story().restore(40).grant(41, 'w2').complete(42).told(60),
  'restored-while-held': () => {
    const story = new Story().grant(1, 'w1').heartbeat(4);
    return story.restore(40).expire(40).grant(40.1, 'w2').complete(42).told(60);
  },
  'restored-before-the-lease-ran-out': () =>
    new Story().grant(1, 'w1').heartbeat(4).restore(9).expire().told(60),
  'restored-after-it-had-failed': () =>
    new Story().grant(1, 'w1').fail(3, 'bad address', undefined, 'permanent').restore(40).told(60),
  'restored-after-it-was-redriven': () => {
    const story = new Story().kill(6, 'wrong template');
    const redrivenAs = story.others(1).seqNow;
    return story.restore(40).told(60, { redrivenAs });
  },
  'redriven-after-a-restore': () => {
    const origin = new Story({ queue: 'pay' }, 12, -61).grant(-60, 'a');
    origin.fail(-58, 'card declined', undefined, 'permanent').restore(-40);
    const story = new Story({ queue: 'pay', originTaskId: 12 }, origin.seqNow + 1);
    return story.relative('origin', origin).grant(1, 'b').complete(3).told(4);
  },
  'redriven-after-a-restore-and-a-failure': () => {
    const origin = new Story({ queue: 'pay' }, 12, -61).grant(-60, 'a').restore(-40).expire(-40);
    origin.grant(-30, 'b').fail(-28, 'card declined', undefined, 'permanent');
    const story = new Story({ queue: 'pay', originTaskId: 12 }, origin.seqNow + 1);
    return story.relative('origin', origin).grant(1, 'b').complete(3).told(4);
  },
  'restored-while-the-heir-ran': () => {
    const story = new Story().grant(1, 'a').fail(2, 'no', undefined, 'permanent');
    const heir = new Story({ originTaskId: 42 }, 45, 3).grant(4, 'b');
    return story.relative('heir', heir).others(2).restore(5).told(9, { redrivenAs: 45 });
  },
  'restored-and-never-given-out': () => new Story().restore(40).told(60),
  'coordinator-down-shorter': () =>
    new Story()
      .grant(1, 'w1')
      .heartbeat(4)
      .start(9)
      .expire()
      .grant(14.5, 'w2')
      .complete(16)
      .told(60),
  'window-reached': () => {
    const story = new Story({ executionWindowMs: 20_000 }).grant(1, 'w1');
    for (let second = 4; second < 14; second += 3) story.heartbeat(second);
    return story.expire().grant(21.1, 'w2').complete(25).told(60);
  },
  'no-retry-left': () =>
    new Story({ retryPolicy: { maxRetries: 1, backoffMs: 0, backoffFactor: 1 } })
      .grant(1, 'w1')
      .expire()
      .grant(12, 'w2')
      .fail(13, 'no such user')
      .told(60),
  permanent: () =>
    new Story().grant(1, 'w1').fail(3, 'bad address', undefined, 'permanent').told(60),
  'killed-while-held-and-redriven': () => {
    const story = new Story().grant(1, 'w1').heartbeat(4);
    const first = story.leaseId;
    return story.kill(6, 'wrong template').late(8, first).told(60, { redrivenAs: 77 });
  },
  'killed-while-waiting': () => new Story().kill(6, 'not wanted any more').told(60),
  poison: () => {
    const story = new Story()
      .grant(1, 'w1')
      .expire()
      .grant(12, 'w2')
      .expire()
      .grant(23, 'w1')
      .expire();
    return story.kill(34, 'poison: 3 leases in a row expired without a report').told(60);
  },
  'started-anew-after-the-end': () => {
    const story = new Story().grant(1, 'w1').heartbeat(4);
    const first = story.leaseId;
    return story.expire().grant(15, 'w2').complete(17).start(20).late(30, first).told(60);
  },
  'late-report-when-killed': () => {
    const story = new Story().grant(1, 'w1');
    const first = story.leaseId;
    return story.expire().kill(12, 'not wanted any more').start(15).late(20, first).told(60);
  },
  'late-by-nothing': () => {
    const story = new Story({ requestId: 'order-17' }).grant(1, 'w1');
    const first = story.leaseId;
    return story.expire().late(11, first).grant(12, 'w2').complete(13).told(60);
  },
  'ran-out-again-and-again': () => {
    const story = new Story();
    for (let n = 0; n < 9; n += 1) story.grant(1 + 11 * n, `w${n % 2}`).expire();
    return story.grant(100, 'w1').fail(101, 'full', 102).grant(102, 'w0').complete(103).told(110);
  },
  'failed-and-redriven': () =>
    new Story({ requestId: 'order-17' })
      .grant(1, 'w1')
      .fail(3, 'bad address', undefined, 'permanent')
      .told(60, { redrivenAs: 77 }),
  'clock-set-back': () =>
    new Story().grant(1, 'w1').start(5, 3_600_000).expire().grant(12, 'w2').complete(13).told(60),
  'clock-set-back-while-down': () =>
    new Story().grant(1, 'w1').start(1, 86_400_000).expire().grant(12, 'w2').complete(13).told(60),
  redrive: () => new Story({ originTaskId: 12 }).grant(1, 'w1').told(2),
  'waits-for-its-delay': () => new Story({ notBefore: NOON + 7_200_000 }).told(60),
  'waits-for-its-backoff': () => new Story().grant(1, 'w1').fail(3, 'busy', 63).told(10),
  'waits-and-nobody-asks': () => new Story({ queue: 'mial' }).told(300, { ahead: 2 }),
  'waits-behind-others': () =>
    new Story().told(60, { ahead: 1_000, aheadIsMore: true, queueLastAskedAt: NOON + 59_500 }),
  'waits-though-a-worker-asked': () => new Story().told(60, { queueLastAskedAt: NOON + 58_000 }),
  'waits-for-capacity': () =>
    new Story().told(60, { queueLastAskedAt: NOON - 2_000, queueParked: 1 }),
  'waits-behind-others-for-capacity': () =>
    new Story().told(60, { queueLastAskedAt: NOON + 2_000, queueParked: 3, ahead: 1 }),
  'waits-and-was-asked-for-too-soon': () =>
    new Story({ notBefore: NOON + 10_000 }).told(60, { queueLastAskedAt: NOON + 2_000 }),
  'waits-under-another-name': () =>
    new Story({ queue: 'mial' }).start(59).told(60, { queuesAskedFor: ['mail', 'resize'] }),
  'waits-for-a-worker-that-is-full': () =>
    new Story().told(60, {
      queueLastAskedAt: NOON - 2_000,
      queueParked: 2,
      askers: [
        {
          workerId: 'w1',
          capacity: 2,
          held: 2,
          leases: [
            { leaseId: 17, taskId: 12, leaseExpiry: NOON + 70_000 },
            { leaseId: 19, taskId: 13, leaseExpiry: NOON + 64_000 },
          ],
        },
      ],
    }),
  'waited-behind-others-for-a-worker-that-was-full': () => {
    const story = new Story();
    story.other(1, OF_ANOTHER);
    const taskId = story.seqNow;
    const lease = { taskId, workerId: 'w1', attempt: 1, leaseExpiry: NOON + 12_000 };
    story.other(2, { ...lease, type: 'LeaseGranted', grantedAt: NOON + 2_000 });
    const ended = { taskId, leaseId: story.seqNow, extensions: 0, lastExtension: 0 };
    story.other(9, { ...ended, type: 'TaskCompleted' });
    return story.grant(9, 'w1').complete(11).told(60);
  },
  'waited-while-another-was-ended': () => {
    const story = new Story().other(1, OF_ANOTHER);
    const ended = { taskId: story.seqNow, extensions: 0, lastExtension: 0 };
    story.other(2, { ...ended, type: 'TaskDead', reason: 'poison: 3 leases in a row expired' });
    return story.grant(4, 'w1').told(5);
  },
  'waited-while-the-coordinator-was-down': () =>
    new Story().start(30).grant(32.5, 'w1').complete(33).told(60),
  'given-back-again-and-failed': () =>
    new Story({ retryPolicy: { maxRetries: 1, backoffMs: 2_000, backoffFactor: 2 } })
      .grant(1, 'w1')
      .fail(2, 'shutting down', 3, 'released')
      .grant(3, 'w2')
      .fail(4, 'busy', 6)
      .grant(6.1, 'w3')
      .told(7),
  'redrive-beside-the-origin': () => {
    const origin = new Story({ queue: 'pay' }, 12, -61).grant(-60, 'a').heartbeat(-58).expire();
    origin.grant(-40, 'b').fail(-38, 'card declined', undefined, 'permanent');
    const story = new Story({ queue: 'pay', originTaskId: 12 });
    return story.relative('origin', origin).grant(1, 'b').heartbeat(3).told(4);
  },
  'killed-and-late-while-the-heir-was-held': () => {
    const story = new Story().grant(1, 'a').heartbeat(2);
    const first = story.leaseId;
    story.kill(3, 'wrong amount').others(2).late(7, first);
    const heir = new Story({ originTaskId: 42 }, 46, 4).grant(5, 'b').others(1).complete(8);
    return story.relative('heir', heir).told(9, { redrivenAs: 46 });
  },
  'redrive-after-all-had-reported': () => {
    const origin = new Story({}, 12, -61).grant(-60, 'a').fail(-58, 'no', undefined, 'permanent');
    return new Story({ originTaskId: 12 }).relative('origin', origin).grant(1, 'b').told(2);
  },
  'heartbeats-before-and-after-a-start': () => {
    const story = new Story({ executionWindowMs: 600_000 }).grant(1, 'w1');
    for (let second = 2; second < 9; second += 1) story.heartbeat(second);
    story.start(10);
    for (let second = 11; second < 18; second += 1) story.heartbeat(second);
    return story.told(18);
  },
  'a-loop-of-crashes': () => {
    const story = new Story().grant(1, 'w1').heartbeat(4);
    for (let n = 0; n < 25; n += 1) story.start(5 + n / 10);
    return story.expire().told(20);
  },
  'ran-out-before-the-coordinator-went-down': () =>
    new Story().grant(1, 'w1').others(1).other(12, OF_ANOTHER).start(15).expire(15).told(20),
  'recorded-late-without-a-restart': () =>
    new Story().grant(1, 'w1').heartbeat(4).expire(15.6).grant(16, 'w2').complete(17).told(20),
  'killed-after-it-ran-out': () =>
    new Story().grant(1, 'w1').expire().grant(12, 'w2').kill(14, 'wrong price').told(20),
  'one-name-at-two-leases': () => {
    const story = new Story().grant(1, 'worker');
    const first = story.leaseId;
    return story.expire().grant(12, 'worker').heartbeat(14).late(15, first).told(16);
  },
  'long-names-and-reasons': () => {
    const story = new Story({ requestId: `order-${'4711-'.repeat(30)}x` });
    const reason = `HTTP 503: ${'the bank is closed, ask again later; '.repeat(12)}ticket 4711`;
    return story
      .grant(1, `${'eu-west-1/'.repeat(9)}host-1:4711`)
      .fail(3, reason, 63)
      .told(10);
  },
  'waits-as-the-log-tells': () => ({ ...new Story().told(0), advisory: false }),
  'waits-after-many-expiries': () =>
    new Story().grant(1, 'w1').expire().told(15, { poisonAtNextGrant: true, poisonThreshold: 1 }),
  'runs-at-the-window': () => {
    const story = new Story({ executionWindowMs: 15_000 }).grant(1, 'w1').heartbeat(4);
    return story.heartbeat(7).told(8);
  },
  'many-heartbeats': () => {
    const story = new Story({ executionWindowMs: 3_600_000 }).grant(1, 'w1');
    for (let second = 4; second < 900; second += 3) story.heartbeat(second);
    return story.complete(901).told(1_000);
  },
};
