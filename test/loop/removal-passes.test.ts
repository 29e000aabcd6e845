// When a pass over the log begins, how far it goes, and what waits for it.

import { expect } from 'chai';
import { State } from '../../src/core/state.ts';
import type { Log, SealedSegment } from '../../src/log/log.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { Removal } from '../../src/loop/removal.ts';
import type { HistoryForgotten, LogRecord } from '../../src/model/records.ts';
import { digestText, World } from '../support/world.ts';

const SEALED: readonly SealedSegment[] = [
  { first: 1, last: 10 },
  { first: 11, last: 20 },
  { first: 21, last: 30 },
];

const forgottenThrough = (completedThrough: number, failedThrough = 0): HistoryForgotten => ({
  type: 'HistoryForgotten',
  seq: 50,
  at: 1,
  prev: 0,
  completedThrough,
  failedThrough,
  totals: { leaseExpirations: 0, duplicateExecutions: 0, lateReports: 0, retries: 0, starts: 1 },
});

/** A removal on a log that only writes down what it is asked to rewrite. */
function setUp() {
  const rewritten: number[] = [];
  const errors: Error[] = [];
  const disk: { fails?: Error; hold?: Promise<void> } = {};
  const log = {
    sealed: () => SEALED,
    rewrite: async ({ first }: SealedSegment) => {
      rewritten.push(first);
      await disk.hold;
      if (disk.fails) throw disk.fails;
      return 0;
    },
    merge: async () => undefined,
  } as unknown as Log;
  const events = { stopped: (error: Error) => void errors.push(error) };
  const state = new State(digestText);
  const removal = new Removal({ log, events }, () => state);
  const settle = async () => {
    for (let n = 0; n < 50; n += 1) await Promise.resolve();
    return rewritten.splice(0);
  };
  return { removal, disk, errors, settle };
}

describe('removal: its passes', () => {
  it('begin when the record that forgot is on the device, and go no further than it', async () => {
    const { removal, settle } = setUp();
    removal.noticed(forgottenThrough(20));
    removal.durable(49);
    expect(await settle()).to.deep.equal([]);
    removal.durable(50);
    expect(await settle()).to.deep.equal([1, 11]);
    removal.durable(51);
    expect(await settle()).to.deep.equal([]);
  });

  it('go as far as what completed or what did not was forgotten', async () => {
    for (const record of [forgottenThrough(29, 3), forgottenThrough(3, 29)]) {
      const { removal, settle } = setUp();
      removal.noticed(record);
      removal.durable(50);
      expect(await settle()).to.deep.equal([1, 11]);
    }
  });

  it('rewrite a stretch again when forgetting came as far beyond its end again', async () => {
    const { removal, settle } = setUp();
    removal.begin({ completedThrough: 12, failedThrough: 0 });
    expect(await settle()).to.deep.equal([1]);
    removal.begin({ completedThrough: 21, failedThrough: 0 });
    expect(await settle()).to.deep.equal([11]);
    removal.begin({ completedThrough: 22, failedThrough: 0 });
    expect(await settle()).to.deep.equal([1]);
    removal.begin({ completedThrough: 33, failedThrough: 0 });
    expect(await settle()).to.deep.equal([11, 21]);
    removal.begin({ completedThrough: 45, failedThrough: 0 });
    expect(await settle()).to.deep.equal([1, 21]);
  });

  it('count their steps, so that one that hangs is seen', async () => {
    const { removal, disk, settle } = setUp();
    removal.begin({ completedThrough: 20, failedThrough: 0 });
    await settle();
    expect(removal.steps).to.equal(2);
    disk.hold = new Promise(() => {});
    removal.begin({ completedThrough: 45, failedThrough: 0 });
    await settle();
    expect([removal.busy, removal.steps]).to.deep.equal([true, 2]);
  });

  it('run one at a time, and end with the first error, which is told', async () => {
    const { removal, disk, errors, settle } = setUp();
    let letGo: () => void = () => {};
    disk.hold = new Promise((resolve) => {
      letGo = resolve;
    });
    removal.begin({ completedThrough: 20, failedThrough: 0 });
    expect(removal.busy).to.equal(true);
    removal.begin({ completedThrough: 30, failedThrough: 0 });
    expect(await settle()).to.deep.equal([1]);
    disk.fails = new Error('full');
    letGo();
    expect(await settle()).to.deep.equal([]);
    expect(errors).to.deep.equal([disk.fails]);
    expect(removal.busy).to.equal(false);
    delete disk.fails;
    removal.begin({ completedThrough: 30, failedThrough: 0 });
    expect(await settle()).to.deep.equal([1, 11, 21]);
  });
});

describe('removal: in the loop', () => {
  const forgets = (world: World): number =>
    world.types().filter((type) => type === 'HistoryForgotten').length;

  async function endOne(world: World): Promise<void> {
    await world.submit();
    await world.complete(await world.lease());
  }

  it('nothing more is forgotten while a pass runs', async () => {
    let letGo: () => void = () => {};
    class HeldLog extends MemoryLog {
      override async rewrite(segment: SealedSegment, keep: (record: LogRecord) => boolean) {
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
        return super.rewrite(segment, keep);
      }
    }
    const world = await World.started({ retentionMs: 100 }, new HeldLog({ segmentRecords: 3 }));
    await endOne(world);
    world.time += 1_000;
    await world.tick();
    expect(forgets(world)).to.equal(1);
    expect(world.loop.view.isRemoving).to.equal(true);
    await endOne(world);
    world.time += 1_000;
    await world.tick();
    expect(forgets(world)).to.equal(1);
    while (world.loop.view.isRemoving) {
      letGo();
      await Promise.resolve();
    }
    await world.tick();
    expect(forgets(world)).to.equal(2);
    letGo();
  });

  it('a restart removes what a process before it had no time for', async () => {
    class StuckLog extends MemoryLog {
      override rewrite(): Promise<number> {
        return new Promise(() => {});
      }
    }
    const stuck = new StuckLog({ segmentRecords: 3 });
    const world = await World.started({ retentionMs: 100 }, stuck);
    await endOne(world);
    world.time += 1_000;
    await world.tick();
    expect(world.removed).to.equal(0);
    const next = new World({}, new MemoryLog({ store: stuck.store, segmentRecords: 3 }));
    next.time = world.time;
    await next.loop.start();
    await next.loop.stop();
    expect(next.removed).to.be.greaterThan(0);
    expect(forgets(next)).to.equal(1);
    expect(next.broken()).to.deep.equal([]);
  });

  it('nothing more is forgotten within a fifth of a second', async () => {
    const world = await World.started({ retentionMs: 1 });
    const ticks: number[] = [];
    for (let at = 0; at < 100; at += 1) {
      await endOne(world);
      world.time += 10;
      const before = forgets(world);
      await world.tick();
      if (forgets(world) > before) ticks.push(world.time);
    }
    const pauses = ticks.slice(1).map((at, n) => at - (ticks[n] as number));
    expect(pauses.length).to.be.greaterThan(3);
    expect(Math.min(...pauses)).to.equal(200);
  });
});
