// What happens without any request: the ticks of the timer reach the coordinator again and again.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Stage } from './support.ts';

/** Far less than a minute, and enough for a machine that is busy. */
const BEFORE_THE_TICK_MS = 40_000;

describe('without requests', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
    await stage.serve(['--lease-duration-ms', '200']).ready();
  });
  after(() => stage.close());

  it('a lease that ran out is expired, each time', async () => {
    await stage.submit();
    for (let round = 1; round <= 3; round++) {
      const { body } = await stage.call('POST', '/v1/leases', { worker_id: 'w', wait_ms: 30_000 });
      expect(body['leases']).to.have.length(1);
      // The coordinator is asked nothing meanwhile: records are read by another thread.
      const expired = async (): Promise<number> =>
        (await stage.records()).filter(({ type }) => type === 'LeaseExpired').length;
      while ((await expired()) < round) await pause(20);
      expect(await expired()).to.equal(round);
    }
  });

  it('a parked request is answered empty when its time is over', async () => {
    const asked = performance.now();
    const wanted = { worker_id: 'w', queues: ['none'], wait_ms: 300 };
    const { body } = await stage.call('POST', '/v1/leases', wanted);
    expect(body).to.deep.include({ leases: [], empty: { reason: 'no_task' } });
    expect(performance.now() - asked).to.be.within(299, BEFORE_THE_TICK_MS);
  });
});

describe('with ticks that are a minute apart', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
    await stage.serve(['--tick-ms', '60000', '--lease-duration-ms', '300']).ready();
  });
  after(() => stage.close());
  const lease = (queue: string) =>
    stage.call('POST', '/v1/leases', { worker_id: 'w', queues: [queue], wait_ms: 30_000 });

  it('a parked request is answered empty when its time is over', async () => {
    const asked = performance.now();
    const { body } = await stage.call('POST', '/v1/leases', { worker_id: 'w', wait_ms: 300 });
    expect(body).to.deep.include({ leases: [] });
    expect(performance.now() - asked).to.be.within(299, BEFORE_THE_TICK_MS);
  });

  it('a parked request gets what becomes eligible by time, by a delay or an expiry', async () => {
    const asked = performance.now();
    await stage.submit({ queue: 'late', delay_ms: 300 });
    for (const attempt of [1, 2, 3]) {
      const [granted] = (await lease('late')).body['leases'] as { attempt: number }[];
      expect(granted).to.include({ attempt });
    }
    expect(performance.now() - asked).to.be.within(899, BEFORE_THE_TICK_MS);
  });

  it('a read that waits for a task is answered when its time is over', async () => {
    const { body } = await stage.submit();
    const asked = performance.now();
    const waited = await stage.call('GET', `/v1/tasks/${body['task_id']}?wait_ms=300`);
    expect(waited.body).to.include({ state: 'WAITING' });
    expect(performance.now() - asked).to.be.within(299, BEFORE_THE_TICK_MS);
  });
});
