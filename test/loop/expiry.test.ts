// Leases that run out in a crowd: more than one group takes, with requests that come between.

import { expect } from 'chai';
import type { Appended } from '../../src/log/log.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import type { LogRecord } from '../../src/model/records.ts';
import type { Refusal } from '../../src/model/refusal.ts';
import type { Lease, Leased, TaskShown } from '../../src/model/response.ts';
import { leaseRequest, World } from '../support/world.ts';

const LEASES = 1_600;
const A_GROUP = 500;

/** Keeps what each group was made of. */
class GroupedLog extends MemoryLog {
  readonly groups: string[][] = [];

  override append(records: readonly LogRecord[]): Appended {
    this.groups.push(records.map(({ type }) => type));
    return super.append(records);
  }
}

/** A world in which so many leases run out in this very millisecond. */
async function crowd() {
  const log = new GroupedLog();
  const world = await World.started({}, log);
  for (let n = 0; n < LEASES; n += 1) {
    world.take({ op: 'submit', queue: 'default', payload: new Uint8Array() });
  }
  await world.settle();
  const { leases } = (await world.ask(leaseRequest({ max: LEASES }))) as Leased;
  expect(leases).to.have.length(LEASES);
  world.time += 10_000;
  log.groups.length = 0;
  return { world, log, leases };
}

const expiries = (groups: readonly string[][]): number[] =>
  groups.map((types) => types.filter((type) => type === 'LeaseExpired').length);

describe('expiry: more leases than a group takes', () => {
  it('all go with one tick, in the order of their ids, at most 500 a group', async () => {
    const { world, log, leases } = await crowd();
    world.loop.tick();
    await world.loop.settled();
    expect(expiries(log.groups)).to.deep.equal([A_GROUP, A_GROUP, A_GROUP, LEASES - 3 * A_GROUP]);
    const expired = world.records().filter((record) => record.type === 'LeaseExpired');
    expect(expired.map(({ leaseId }) => leaseId)).to.deep.equal(
      leases.map(({ leaseId }) => leaseId),
    );
    expect(world.broken()).to.deep.equal([]);
  });

  it('all go when the caller begins a group that is due when another one is durable', async () => {
    const { world, log } = await crowd();
    world.also.durable = () => {
      if (world.loop.view.isFlushDue) setImmediate(() => world.loop.flush());
    };
    world.loop.tick();
    for (let n = 0; n < 10; n += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(expiries(log.groups)).to.deep.equal([A_GROUP, A_GROUP, A_GROUP, LEASES - 3 * A_GROUP]);
  });

  it('all are over before a new process takes its first request', async () => {
    const { world } = await crowd();
    const { store } = world.log;
    const log = new GroupedLog({ store });
    const next = new World({}, log);
    next.time = world.time;
    await next.loop.start();
    expect(expiries(log.groups)).to.deep.equal([A_GROUP, A_GROUP, A_GROUP, LEASES - 3 * A_GROUP]);
    expect(next.loop.view.state.leases.size).to.equal(0);
    expect(next.modes).to.deep.equal(['serving']);
  });

  it('so they do the next time', async () => {
    const { world, log } = await crowd();
    await world.tick();
    await world.ask(leaseRequest({ max: LEASES }));
    world.time += 10_000;
    log.groups.length = 0;
    await world.tick();
    expect(expiries(log.groups).reduce((sum, count) => sum + count)).to.equal(LEASES);
    expect(Math.max(...expiries(log.groups))).to.equal(A_GROUP);
  });

  it('one that is named is over at once, however many are due before it', async () => {
    const { world, leases } = await crowd();
    const [a, b, c] = leases.slice(-3) as [Lease, Lease, Lease];
    // In one turn, before anything is flushed: a list may lag, a single task may not.
    const tickets = [
      world.take({ op: 'task', taskId: a.taskId, waitMs: 0, base64: false }),
      world.take({ op: 'heartbeat', taskId: b.taskId, leaseId: b.leaseId }),
      world.take({ op: 'complete', taskId: c.taskId, leaseId: c.leaseId, result: undefined }),
    ];
    await world.settle();
    const [shown, beat, report] = tickets.map((ticket) => world.answers.get(ticket));
    expect((shown as TaskShown).task).to.include({ state: 'WAITING', expirations: 1 });
    expect((beat as Refusal).reason).to.equal('lease_expired');
    expect(report).to.include({ outcome: 'CANCELLED', reason: 'lease_expired' });
  });
});
