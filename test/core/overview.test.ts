// The counts that queues and workers show, worked out by hand for a small world.

import { expect } from 'chai';
import { formatLeaseId } from '../../src/model/ids.ts';
import { leaseRequest, World } from '../support/world.ts';

type Body = Record<string, Record<string, unknown>[]>;
const START = 1_700_000_000_000;
const NEVER_ASKED = { last_asked_at: undefined, last_asked_by: undefined, parked_requests: 0 };

async function body(world: World, op: 'queues' | 'workers'): Promise<Record<string, unknown>[]> {
  const answer = (await world.ask({ op })) as unknown as { body: Body };
  return answer.body[op] as Record<string, unknown>[];
}

describe('overview', () => {
  it('of queues: counts, the oldest, the next time, when it was last asked for', async () => {
    const world = await World.started();
    await world.submit({ queue: 'b' });
    world.time += 100;
    await world.submit({ queue: 'a', delayMs: 500 });
    await world.submit({ queue: 'a' });
    await world.submit({ queue: 'a', delayMs: 300 });
    world.time += 50;
    await world.submit({ queue: 'a' });
    expect(await body(world, 'queues')).to.deep.equal([
      {
        queue: 'a',
        ...{ waiting: 4, leased: 0, completed: 0, failed: 0, dead: 0 },
        ...{ eligible: 2, delayed: 2 },
        oldest_waiting_ms: 50,
        next_eligible_at: START + 400,
        ...NEVER_ASKED,
        ...{ submitted_per_second: 4, finished_per_second: 0 },
      },
      {
        queue: 'b',
        ...{ waiting: 1, leased: 0, completed: 0, failed: 0, dead: 0 },
        ...{ eligible: 1, delayed: 0 },
        oldest_waiting_ms: 150,
        next_eligible_at: undefined,
        ...NEVER_ASKED,
        ...{ submitted_per_second: 1, finished_per_second: 0 },
      },
    ]);
    await world.ask(leaseRequest({ queues: ['a', 'none'] }));
    world.time += 200;
    const [first] = await body(world, 'queues');
    expect(first).to.include({ waiting: 3, leased: 1, last_asked_at: START + 150 });
    world.time += 10;
    await world.ask(leaseRequest({ queues: ['a', 'b'], max: 10 }));
    expect(await body(world, 'queues')).to.have.nested.property('[0].last_asked_at', START + 360);
    expect(await body(world, 'queues')).to.have.nested.property('[1].oldest_waiting_ms', 0);
    expect(await body(world, 'queues')).to.have.nested.property('[1].last_asked_at', START + 360);
  });

  // A delayed task that is eligible by now is one until somebody leases it.
  it('of queues: the next time is later than now, whatever is eligible already', async () => {
    const world = await World.started();
    for (const delayMs of [100, 400, 200, 300, 300]) await world.submit({ queue: 'a', delayMs });
    const next = async (): Promise<unknown> =>
      (await body(world, 'queues'))[0]?.['next_eligible_at'];
    expect(await next()).to.equal(START + 100);
    world.time += 100;
    expect(await next()).to.equal(START + 200);
    world.time += 110;
    expect(await next()).to.equal(START + 300);
    world.time += 90;
    expect(await next()).to.equal(START + 400);
    world.time += 100;
    expect(await next()).to.equal(undefined);
  });

  it('of workers: who was heard of last, and what each holds', async () => {
    const world = await World.started();
    await world.submit();
    await world.submit();
    const held = await world.lease({ workerId: 'a', capacity: 4 });
    world.time += 10;
    const other = await world.lease({ workerId: 'b' });
    world.time += 10;
    expect(await body(world, 'workers')).to.deep.equal([
      {
        worker_id: 'b',
        last_seen_at: START + 10,
        capacity: undefined,
        active_leases: 1,
        leases: [formatLeaseId(other.leaseId)],
        next_lease_expiry: other.leaseExpiry,
      },
      {
        worker_id: 'a',
        last_seen_at: START,
        capacity: 4,
        active_leases: 1,
        leases: [formatLeaseId(held.leaseId)],
        next_lease_expiry: held.leaseExpiry,
      },
    ]);
    await world.heartbeat(held);
    await world.complete(other);
    const [first, second] = await body(world, 'workers');
    expect(first).to.include({ worker_id: 'a', last_seen_at: START + 20 });
    expect(second).to.include({ worker_id: 'b', active_leases: 0 });
    // Silent for a quarter of an hour, and without a lease: the tick drops it.
    world.time = 15 * 60_000 + 10;
    await world.tick();
    expect((await body(world, 'workers')).map((one) => one.worker_id)).to.deep.equal(['a']);
  });
});
