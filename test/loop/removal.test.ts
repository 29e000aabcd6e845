// Holds the removal of forgotten history to what it says of itself: how much of the log is still
// taken by records that nothing remembered needs, at any moment and after a restart.

import { expect } from 'chai';
import { weightOf } from '../../src/core/log-bytes.ts';
import { NONE } from '../../src/core/task-table.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { taskOf } from '../../src/model/records.ts';
import { World } from '../support/world.ts';

const RETENTION_MS = 10_000;

/** Tasks of many sizes that end in every way, and one that waits for ever. */
async function worked(segmentRecords = 64): Promise<World> {
  const log = new MemoryLog({ segmentRecords });
  const knobs = { retentionMs: RETENTION_MS, retentionFailedMs: 3 * RETENTION_MS };
  const world = await World.started(knobs, log);
  await world.submit({ queue: 'patient', metadata: { for: 'years' } });
  for (let round = 0; round < 100; round += 1) {
    world.time += 400;
    await world.submit({ payload: new Uint8Array(round % 10 === 0 ? 70_000 : 10 * round) });
    const lease = await world.lease();
    if (round % 3 === 0) await world.heartbeat(lease);
    if (round % 7 === 0) await world.fail(lease, { kind: 'permanent', reason: 'r'.repeat(round) });
    else await world.complete(lease);
    if (round % 5 === 0) await world.tick();
  }
  return world;
}

/** The same from the records and the state, and nothing else. */
function forgottenShare(world: World): number {
  const { tasks } = world.loop.view.state;
  let live = 0;
  let forgotten = 0;
  for (const record of world.records()) {
    const task = taskOf(record);
    if (task === 0 || tasks.find(task) !== NONE) live += weightOf(record);
    else forgotten += weightOf(record);
  }
  return Math.round((world.log.bytes().total * forgotten) / (live + forgotten));
}

describe('what forgotten history takes of the log', () => {
  it('is known at any moment, and the same after a restart', async () => {
    const world = await worked();
    const shares = new Set<number>();
    for (let step = 0; step < 12; step += 1) {
      world.time += RETENTION_MS / 4;
      await world.tick();
      while (world.loop.view.isRemoving) await new Promise(setImmediate);
      const { forgotten, total } = world.loop.view.logBytes();
      expect(forgotten, `step ${step}`).to.equal(forgottenShare(world)).and.to.be.at.most(total);
      shares.add(forgotten);
    }
    expect(shares.size, 'different shares').to.be.greaterThan(3);
    expect(world.removed).to.be.greaterThan(100);
    const before = world.loop.view.logBytes().forgotten;
    await world.restart();
    expect(world.loop.view.logBytes().forgotten).to.equal(forgottenShare(world));
    expect(world.loop.view.logBytes().forgotten).to.be.at.most(before);
  });

  it('is nothing before anything is forgotten, and grows when it is', async () => {
    const world = await worked(1_000_000); // Nothing is sealed, so nothing can be removed.
    const young = world.loop.view.logBytes().forgotten;
    world.time += 10 * RETENTION_MS;
    await world.tick();
    const { total, forgotten } = world.loop.view.logBytes();
    expect(young).to.be.lessThan(forgotten);
    expect(forgotten).to.be.greaterThan(0.9 * total);
    const fresh = await World.started();
    await fresh.submit();
    expect(fresh.loop.view.logBytes().forgotten).to.equal(0);
  });
});

describe('a redriven task and its origin', () => {
  const FAILED_MS = 6 * RETENTION_MS;

  async function redriven(): Promise<{ world: World; origin: number; again: number }> {
    const log = new MemoryLog({ segmentRecords: 5 });
    const world = await World.started(
      { retentionMs: RETENTION_MS, retentionFailedMs: FAILED_MS },
      log,
    );
    const origin = await world.submit({ payload: new Uint8Array([7]) });
    await world.fail(await world.lease(), { kind: 'permanent' });
    const answer = await world.ask({ op: 'redrive', taskId: origin });
    return { world, origin, again: (answer as { taskId: number }).taskId };
  }
  async function pass(world: World, ms: number): Promise<void> {
    // Others end behind it: their forgetting goes beyond its stretches, which are then rewritten.
    for (let left = 4; left > 0; left -= 1) {
      await world.submit({ queue: 'other' });
      await world.complete(await world.lease({ queues: ['other'] }));
    }
    world.time += ms;
    await world.tick();
    while (world.loop.view.isRemoving) await new Promise(setImmediate);
    expect(world.broken()).to.deep.equal([]);
  }
  const isRemembered = (world: World, task: number): boolean =>
    world.loop.view.state.tasks.find(task) !== NONE;

  it('stays as long as its origin does, although its own time is over', async () => {
    const { world, origin, again } = await redriven();
    await world.complete(await world.lease());
    await pass(world, 2 * RETENTION_MS);
    expect([origin, again].map((task) => isRemembered(world, task))).to.deep.equal([true, true]);
    expect(world.log.get(again)?.type).to.equal('TaskCreated');
    await pass(world, FAILED_MS);
    expect([origin, again].map((task) => isRemembered(world, task))).to.deep.equal([false, false]);
    // A start looks at every stretch again, however lately it was rewritten.
    await world.restart();
    while (world.loop.view.isRemoving) await new Promise(setImmediate);
    expect([origin, again].map((task) => world.log.get(task))).to.deep.equal([
      undefined,
      undefined,
    ]);
    expect(world.broken()).to.deep.equal([]);
  });

  it('waits on when its origin is gone, and goes by its own time', async () => {
    const { world, origin, again } = await redriven();
    await pass(world, 2 * FAILED_MS);
    expect([origin, again].map((task) => isRemembered(world, task))).to.deep.equal([false, true]);
    expect(world.log.get(origin), 'its records are removed').to.equal(undefined);
    await world.restart();
    const lease = await world.lease();
    expect([lease.taskId, ...lease.payload]).to.deep.equal([again, 7]);
    await world.complete(lease);
    await pass(world, RETENTION_MS / 2);
    expect(isRemembered(world, again)).to.equal(true);
    await pass(world, RETENTION_MS);
    expect(isRemembered(world, again)).to.equal(false);
    await world.restart();
    expect(world.broken()).to.deep.equal([]);
  });
});
