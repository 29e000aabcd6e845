// The coordinator for users' tests: the clock moves when it is told and stops where something is
// due, faults come when they are asked for, and nothing is left behind.

import { expect } from 'chai';
import { RefusedError } from '../../src/index.ts';
import { startCoordinator, type TestCoordinator } from '../../src/testing/testing.ts';

/** What the promise was rejected with. */
const failure = async (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error('it was not rejected'),
    (error: unknown) => error as Error,
  );

interface Row {
  readonly type: string;
  readonly at: number;
}

describe('a coordinator for tests', () => {
  let coordinator: TestCoordinator;
  beforeEach(async () => {
    coordinator = await startCoordinator({ backoffMs: 0 });
  });
  afterEach(() => coordinator.stop());

  const records = async (): Promise<Row[]> => {
    const text = await (await fetch(`${coordinator.url}/v1/log?limit=1000`)).text();
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
  };

  const waitingRequests = async (): Promise<number> => {
    const stats = (await (await fetch(`${coordinator.url}/v1/stats`)).json()) as {
      readonly parked_requests: number;
    };
    return stats.parked_requests;
  };

  describe('its clock', () => {
    it('stands still by itself', async () => {
      const now = coordinator.clock.now();
      await coordinator.client().submit({ payload: 'a' });
      expect(coordinator.clock.now()).to.equal(now);
    });

    it('lets leases run out at their own times, however far it is moved at once', async () => {
      const client = coordinator.client();
      const start = coordinator.clock.now();
      for (let count = 0; count < 2; count += 1) {
        await client.submit({ payload: 'a' });
        await client.lease({ workerId: 'w' });
        await coordinator.clock.advance('10s');
      }
      await coordinator.clock.advance('7d');
      const expired = (await records()).filter(({ type }) => type === 'LeaseExpired');
      expect(expired.map(({ at }) => at - start)).to.deep.equal([30_000, 40_000]);
    });

    it('wakes who waits for a task when its delay is over', async () => {
      const client = coordinator.client();
      const { taskId } = await client.submit({ payload: 'a', delayMs: 3_600_000 });
      await coordinator.clock.advance('59m');
      const asked = client.lease({ workerId: 'w', waitMs: 60_000 });
      while ((await waitingRequests()) === 0);
      await coordinator.clock.advance(60_000);
      expect((await asked).leases.map((lease) => lease.taskId)).to.deep.equal([taskId]);
    });

    it('refuses what is no duration', async () => {
      for (const wrong of ['soon', '', '-1s', -1, Number.NaN, 0.5]) {
        expect(await failure(coordinator.clock.advance(wrong))).to.be.instanceOf(RangeError);
      }
    });
  });

  describe('its faults', () => {
    it('lose the answer of a decided request, which the library asks for again', async () => {
      const client = coordinator.client();
      coordinator.loseNextAnswer('submit');
      const answer = await client.submit({ payload: 'a' });
      expect(answer.deduplicated).to.equal(true);
      const { tasks } = await client.tasks();
      expect(tasks).to.have.length(1);
    });

    it('lose no other answer than the one that is named', async () => {
      const client = coordinator.client({ retries: 0 });
      coordinator.loseNextAnswer('complete');
      await client.submit({ payload: 'a' });
      const [lease] = (await client.lease({ workerId: 'w' })).leases;
      if (lease === undefined) throw new Error('nothing was leased');
      expect(await failure(client.complete(lease))).to.have.property('code');
      expect(await client.complete(lease)).to.include({ reason: 'duplicate_report' });
    });

    it('expire one lease, and do nothing to one that is over', async () => {
      const client = coordinator.client();
      await client.submit({ payload: 'a' });
      const [lease] = (await client.lease({ workerId: 'w' })).leases;
      if (lease === undefined) throw new Error('nothing was leased');
      await coordinator.expire(lease);
      expect(await client.complete(lease)).to.include({ outcome: 'CANCELLED' });
      const now = coordinator.clock.now();
      await coordinator.expire(lease);
      expect(coordinator.clock.now()).to.equal(now);
    });

    it('crash: requests are refused until the restart, and the log is left', async () => {
      const client = coordinator.client({ retries: 0 });
      const { taskId } = await client.submit({ payload: 'kept' });
      const waiting = failure(client.lease({ workerId: 'w', queues: ['none'], waitMs: 1_000 }));
      await client.tasks();
      await coordinator.crash();
      expect(await waiting).to.be.instanceOf(Error);
      expect(await failure(client.submit({ payload: 'b' }))).to.be.instanceOf(Error);
      await coordinator.restart();
      expect(String((await client.task(taskId)).payload)).to.equal('kept');
      expect((await records()).filter(({ type }) => type === 'CoordinatorStarted')).length(2);
    });
  });

  describe('one attempt', () => {
    it('is made by a Worker under a real lease', async () => {
      const ran = await coordinator.runOnce((task) => `${task.text()} by ${task.leaseId}`, 'done');
      expect(ran).to.include({ ended: 'completed' });
      expect(String(ran.task.result)).to.equal(`done by ${ran.leaseId}`);
    });

    it('is refused when nothing can be leased', async () => {
      const nothing = coordinator.runNext(() => '', { queue: 'empty' });
      expect((await failure(nothing)).message).to.include('no task of queue empty');
    });
  });

  it('explains a task', async () => {
    const { taskId } = await coordinator.runOnce(() => '', 'a');
    expect(await coordinator.explain(taskId)).to.include(
      `${taskId} · queue run-once-1 · COMPLETED`,
    );
  });

  it('refuses what the product refuses', async () => {
    const client = coordinator.client();
    await client.submit({ payload: 'a', requestId: 'r' });
    const refused = await failure(client.submit({ payload: 'b', requestId: 'r' }));
    expect(refused).to.be.instanceOf(RefusedError);
  });

  it('takes a lease that is shorter than its usual heartbeats', async () => {
    const other = await startCoordinator({ leaseDurationMs: 12 });
    try {
      await other.client().submit({ payload: 'a' });
      const [lease] = (await other.client().lease({ workerId: 'w' })).leases;
      expect(lease?.heartbeatIntervalMs).to.equal(4);
    } finally {
      await other.stop();
    }
  });

  it('takes no option that it does not know, and no value out of range', async () => {
    const unknown = startCoordinator({ leaseMs: 5 } as object);
    expect((await failure(unknown)).message).to.include('no option leaseMs');
    expect((await failure(startCoordinator({ leaseDurationMs: -1 }))).message).to.include('lease');
  });
});
