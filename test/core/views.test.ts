// Where a task stands, and lists of tasks: the bounds of both, which small worlds never reach.

import { expect } from 'chai';
import type { RequestOf } from '../../src/model/request.ts';
import type { Standing, TaskList, TaskShown } from '../../src/model/response.ts';
import { leaseRequest, World } from '../support/world.ts';

const standing = async (world: World, taskId: number): Promise<Standing> =>
  (await world.ask({ op: 'standing', taskId })) as Standing;

const SUBMIT = { op: 'submit', queue: 'default', payload: new Uint8Array() } as const;

describe('views: where a task stands', () => {
  it('names the starts after the task was created, not those before', async () => {
    const world = await World.started();
    const early = await world.submit();
    await world.restart();
    const first = world.log.lastNumber;
    const late = await world.submit();
    expect((await standing(world, early)).starts).to.deep.equal([first]);
    expect((await standing(world, late)).starts).to.deep.equal([]);
    await world.restart();
    const second = world.log.lastNumber;
    expect((await standing(world, early)).starts).to.deep.equal([first, second]);
    expect((await standing(world, late)).starts).to.deep.equal([second]);
  });

  it('names the newest hundred starts at most', async () => {
    const world = await World.started();
    const taskId = await world.submit();
    const starts: number[] = [];
    for (let n = 0; n < 102; n += 1) {
      await world.restart();
      starts.push(world.log.lastNumber);
    }
    expect(await standing(world, taskId)).to.deep.include({
      starts: starts.slice(2),
      startsLeftOut: 2,
    });
  });

  it('counts up to a thousand tasks ahead, and says when there are more', async () => {
    const world = await World.started();
    const ids: number[] = [];
    for (let n = 0; n < 1_002; n += 1) ids.push(await world.submit());
    const ahead = async (place: number) => {
      const { ahead: count, aheadIsMore } = await standing(world, ids[place] as number);
      return [count, aheadIsMore];
    };
    expect(await ahead(0)).to.deep.equal([0, false]);
    expect(await ahead(999)).to.deep.equal([999, false]);
    expect(await ahead(1_000)).to.deep.equal([1_000, false]);
    expect(await ahead(1_001)).to.deep.equal([1_000, true]);
  });

  it('tells that the next grant ends a task only of one that waits for it', async () => {
    const world = await World.started({ poisonThreshold: 2 });
    const taskId = await world.submit();
    const seen: boolean[] = [];
    for (let n = 0; n < 2; n += 1) {
      await world.lease();
      seen.push((await standing(world, taskId)).poisonAtNextGrant);
      world.time += 10_000;
      seen.push((await standing(world, taskId)).poisonAtNextGrant);
    }
    expect(seen).to.deep.equal([false, false, false, true]);
    // Somebody made the threshold smaller while the lease is held: what counts is the next grant.
    const eager = await World.started({ poisonThreshold: 0 });
    const held = await eager.submit();
    for (let n = 0; n < 3; n += 1) {
      await eager.lease();
      eager.time += n < 2 ? 10_000 : 0;
    }
    const stricter = new World({ poisonThreshold: 1 }, eager.log);
    stricter.time = eager.time;
    await stricter.loop.start();
    expect(await standing(stricter, held)).to.include({
      state: 'LEASED',
      poisonAtNextGrant: false,
    });
  });
});

describe('views: who and what stands beside a task', () => {
  it('names the workers that wait for its queue, and what they hold', async () => {
    const world = await World.started();
    const held = await world.submit();
    const { leaseId, leaseExpiry } = await world.lease({ workerId: 'full', capacity: 1 });
    const waits = await world.submit();
    const request = { workerId: 'full', capacity: 1, waitMs: 9_000 };
    expect(await world.ask(leaseRequest(request))).to.equal(undefined);
    expect((await standing(world, waits)).askers).to.deep.equal([
      {
        workerId: 'full',
        capacity: 1,
        held: 1,
        leases: [{ leaseId, taskId: held, leaseExpiry }],
      },
    ]);
    // Of a task that is held, nobody waits for the next grant.
    expect((await standing(world, held)).askers).to.equal(undefined);
  });

  it('names what a redrive connects a task with, and the poison threshold', async () => {
    const world = await World.started({ poisonThreshold: 7 });
    const origin = await world.submit();
    await world.ask({ op: 'kill', taskId: origin, reason: 'no' });
    const killed = world.log.lastNumber;
    await world.restart();
    const start = world.log.lastNumber;
    await world.ask({ op: 'redrive', taskId: origin });
    const heir = world.log.lastNumber;
    await world.restart();
    const { leaseId } = await world.lease();
    expect(await standing(world, heir)).to.deep.include({
      poisonThreshold: 7,
      relatives: [
        {
          ...{ role: 'origin', taskId: origin, state: 'DEAD', lastRecord: killed },
          ...{ lastExtension: 0, starts: [start] },
        },
      ],
    });
    expect((await standing(world, origin)).relatives).to.deep.equal([
      {
        ...{ role: 'heir', taskId: heir, state: 'LEASED', lastRecord: leaseId },
        ...{ lastExtension: 0, starts: [] },
      },
    ]);
  });
});

describe('views: why a task is DEAD', () => {
  it('is shown of one that was killed and of one that the poison rule ended, alone', async () => {
    const world = await World.started({ poisonThreshold: 1 });
    const failed = await world.submit();
    await world.fail(await world.lease(), { kind: 'permanent' });
    const killed = await world.submit();
    await world.fail(await world.lease());
    await world.ask({ op: 'kill', taskId: killed, reason: 'no longer wanted' });
    const poisoned = await world.submit();
    await world.lease();
    world.time += 10_000;
    await world.ask(leaseRequest());
    const reasons = [
      [failed, 'FAILED', undefined],
      [killed, 'DEAD', 'no longer wanted'],
      [poisoned, 'DEAD', 'poison: 1 leases in a row expired without a report'],
    ];
    const list = { op: 'tasks', after: 0, limit: 10, order: 'oldest' } as const;
    const { tasks } = (await world.ask(list)) as TaskList;
    const inList = tasks.map(({ taskId, state, deadReason }) => [taskId, state, deadReason]);
    expect(inList).to.deep.equal(reasons);
    for (const [taskId, state, deadReason] of reasons) {
      const asked = { op: 'task', taskId: Number(taskId), waitMs: 0, base64: false } as const;
      const { task } = (await world.ask(asked)) as TaskShown;
      expect(task).to.include({ state, deadReason });
    }
  });
});

describe('views: lists of tasks', () => {
  it('look at 50 000 tasks at most, and say where to go on', async () => {
    const world = await World.started();
    const rare = await world.submit({ queue: 'rare' });
    for (let n = 0; n < 50_000; n += 1) world.take(SUBMIT);
    await world.settle();
    const last = await world.submit({ queue: 'rare' });
    const list = async (after: number): Promise<[number[], number | null]> => {
      const more = { queue: 'rare', state: undefined, requestId: undefined, limit: 10 };
      const page = (await world.ask({ op: 'tasks', after, ...more })) as TaskList;
      return [page.tasks.map(({ taskId }) => taskId), page.next];
    };
    const [found, next] = await list(0);
    expect(found).to.deep.equal([rare]);
    expect(next).to.be.a('number');
    expect(await list(next as number)).to.deep.equal([[last], null]);
    // Each page but the last has looked at no more than it may.
    expect(await list(rare)).to.deep.equal([[], last - 1]);
  }).timeout(180_000);

  it('come from the newest on, and no older than is asked for', async () => {
    const world = await World.started();
    const ids: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.push(await world.submit({ queue: n === 2 ? 'rare' : 'default' }));
      world.time += 1_000;
    }
    type More = Partial<RequestOf<'tasks'>>;
    const list = async (more: More): Promise<[number[], number | null]> => {
      const page = await world.ask({ op: 'tasks', after: 0, limit: 10, ...more });
      const { tasks, next } = page as TaskList;
      return [tasks.map(({ taskId }) => taskId), next];
    };
    const [a, b, rare, d, e] = ids as [number, number, number, number, number];
    const newest = 'newest' as const;
    expect(await list({ order: newest })).to.deep.equal([[e, d, rare, b, a], null]);
    const [page, next] = await list({ order: newest, limit: 2 });
    expect(page).to.deep.equal([e, d]);
    expect(await list({ order: newest, after: next as number })).to.deep.equal([
      [rare, b, a],
      null,
    ]);
    expect(await list({ order: newest, queue: 'rare' })).to.deep.equal([[rare], null]);
    // The last one was submitted a second ago, and exactly so long is not too long.
    expect(await list({ maxAgeMs: 1_000 })).to.deep.equal([[e], null]);
    expect(await list({ maxAgeMs: 2_999 })).to.deep.equal([[d, e], null]);
    expect(await list({ maxAgeMs: 3_000, order: newest })).to.deep.equal([[e, d, rare], null]);
    expect(await list({ maxAgeMs: 999 })).to.deep.equal([[], null]);
    expect(await list({ maxAgeMs: 100_000_000 })).to.deep.equal([ids, null]);
    expect(await list({ maxAgeMs: 100_000_000, after: rare })).to.deep.equal([[d, e], null]);
  });

  it('of one request id keep to the order and the age, too', async () => {
    const world = await World.started();
    const id = await world.submit({ requestId: 'r' });
    world.time += 1_000;
    await world.submit();
    const list = async (more: Partial<RequestOf<'tasks'>>): Promise<number> => {
      const asked = { op: 'tasks' as const, after: 0, limit: 10, requestId: 'r', ...more };
      return ((await world.ask(asked)) as TaskList).tasks.length;
    };
    expect(await list({ maxAgeMs: 1_000, order: 'newest' })).to.equal(1);
    expect(await list({ maxAgeMs: 999 })).to.equal(0);
    expect(await list({ after: id, order: 'newest' })).to.equal(0);
    expect(await list({ after: id + 1, order: 'newest' })).to.equal(1);
  });

  it('from the newest on are the reverse of the others when history was forgotten', async () => {
    const world = await World.started({ retentionMs: 5_000 });
    for (let n = 0; n < 30; n += 1) {
      await world.submit();
      if (n % 3 !== 0) await world.complete(await world.lease());
      world.time += 1_000;
      await world.tick();
    }
    const list = async (order: 'oldest' | 'newest'): Promise<number[]> => {
      const page = await world.ask({ op: 'tasks', after: 0, limit: 100, order });
      return (page as TaskList).tasks.map(({ taskId }) => taskId);
    };
    const oldest = await list('oldest');
    expect(oldest.length).to.be.lessThan(30).and.greaterThan(9);
    expect(await list('newest')).to.deep.equal(oldest.reverse());
  });
});
