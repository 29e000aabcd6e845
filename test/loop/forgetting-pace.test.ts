// How often the loop forgets: the records that say so stay in the log for good, so there are few of
// them under a steady trickle, and as many as it takes when much is due at once.

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { FORGOTTEN_MAX } from '../../src/core/forgetting.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { World } from '../support/world.ts';

const RETENTION_MS = 1_000_000;
/** A hundredth of it. */
const STRIDE_MS = 10_000;
const TICK_MS = 50;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const forgets = (world: World): LogRecord[] =>
  world.records().filter(({ type }) => type === 'HistoryForgotten');

/** Ticks, and after each the next one. */
async function ticks(world: World, ms: number, each?: () => Promise<unknown>): Promise<void> {
  for (let passed = 0; passed < ms; passed += TICK_MS) {
    world.time += TICK_MS;
    await each?.();
    await world.tick();
    // A removal that runs in the background holds up forgetting; here it gets its turns.
    await setImmediate();
  }
}

describe('forgetting', () => {
  it('writes a record for each hundredth of the retention, whatever trickles', async () => {
    const world = await World.started({ retentionMs: RETENTION_MS, retentionFailedMs: 0 });
    const span = 100_000;
    const lifecycle = async (): Promise<void> => {
      await world.submit();
      await world.complete(await world.lease());
    };
    await ticks(world, span, lifecycle);
    const tasks = world.loop.view.state.tasks.size;
    expect(tasks).to.equal(span / TICK_MS);
    world.time += RETENTION_MS - span;
    await ticks(world, span + STRIDE_MS);
    expect(world.loop.view.state.tasks.size, 'none is kept for a stride longer').to.equal(0);
    expect(forgets(world).length).to.be.within(span / STRIDE_MS, span / STRIDE_MS + 2);
  }).timeout(180_000);

  it('waits an hour after the clock jumped a day, over restarts too', async () => {
    const world = await World.started({ retentionMs: RETENTION_MS });
    await world.submit();
    await world.complete(await world.lease());
    world.wallOffset = DAY_MS + 1_000;
    await world.restart();
    const jumpedAt = world.time;
    for (const minutes of [1, 20, 59.9]) {
      world.time = jumpedAt + minutes * 60_000;
      await world.restart();
      await ticks(world, 2 * TICK_MS);
      expect(forgets(world), `after ${minutes} min`).to.deep.equal([]);
    }
    world.time = jumpedAt + HOUR_MS;
    await ticks(world, 2 * TICK_MS);
    expect(forgets(world)).to.have.length(1);
  });

  it('begins at once after a start that came a day later at most', async () => {
    const world = await World.started({ retentionMs: RETENTION_MS });
    await world.submit();
    await world.complete(await world.lease());
    world.wallOffset = DAY_MS - 1_000;
    await world.restart();
    await ticks(world, 2 * TICK_MS);
    expect(forgets(world)).to.have.length(1);
  });

  it('goes on at once while more is due than one record takes', async () => {
    const world = await World.started({ retentionMs: 0, retentionFailedMs: RETENTION_MS });
    const first = await world.submit();
    for (let n = 0; n < 2 * FORGOTTEN_MAX; n += 1) {
      world.take({ op: 'submit', queue: 'default', payload: new Uint8Array() });
    }
    await world.settle();
    for (let n = 0; n <= 2 * FORGOTTEN_MAX; n += 1) {
      world.take({ op: 'kill', taskId: first + n, reason: 'enough' });
    }
    await world.settle();
    world.time += RETENTION_MS + 1;
    await ticks(world, 3 * 200 + TICK_MS);
    expect(forgets(world)).to.have.length(3);
  }).timeout(180_000);
});
