// A coordinator that takes over from another one: with a state that was made ready by following the
// log, and with the time of the one before.

import { expect } from 'chai';
import { stateDigest } from '../../src/core/digest.ts';
import { LogCorrupt } from '../../src/log/log.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { MemoryStore } from '../../src/log/memory-store.ts';
import { Replayer, replay } from '../../src/loop/replay.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { digestText, leaseRequest, World } from '../support/world.ts';

const HOUR = 3_600_000;

/** Feeds what the log holds beyond what was fed. */
function follow(replayer: Replayer, log: MemoryLog): void {
  for (const record of log.read(replayer.state.lastSeq + 1)) replayer.feed(record);
}

/** A leader that has done a bit of everything, history that is forgotten and removed included. */
async function leader(): Promise<World> {
  const log = new MemoryLog({ segmentRecords: 5 });
  const world = await World.started({ retentionMs: 1_000, retentionFailedMs: 1_000 }, log);
  const first = await world.submit({ requestId: 'a', contentHash: new Uint8Array(16) });
  await world.complete(await world.lease());
  await world.ask({ op: 'kill', taskId: await world.submit(), reason: 'r' });
  await world.submit({ delayMs: 60_000 });
  for (let n = 0; n < 5; n += 1) await world.submit();
  await world.fail(await world.lease());
  world.time += 20_000;
  await world.lease();
  await world.tick();
  while (world.loop.view.isRemoving) await new Promise(setImmediate);
  expect(world.loop.view.state.tasks.find(first), 'it is forgotten').to.equal(0xffff_ffff);
  expect(world.removed).to.be.greaterThan(0);
  return world;
}

describe('a replay that is fed', () => {
  it('has the state of a replay after each record', async () => {
    const { log } = await leader();
    const replayer = new Replayer(log, digestText);
    for (const record of log.read(1)) {
      replayer.feed(record);
      const { state } = replay(log, { digestText, until: record.seq });
      expect(stateDigest(replayer.state), `record ${record.seq}`).to.equal(stateDigest(state));
    }
    expect(stateDigest(replayer.end())).to.equal(stateDigest(replay(log, { digestText }).state));
  });

  it('follows a log of which history is removed meanwhile', async () => {
    const log = new MemoryLog({ segmentRecords: 5 });
    const world = await World.started({ retentionMs: 1_000 }, log);
    const replayer = new Replayer(log, digestText);
    for (let n = 0; n < 20; n += 1) {
      await world.submit();
      await world.complete(await world.lease());
      world.time += 700;
      await world.tick();
      while (world.loop.view.isRemoving) await new Promise(setImmediate);
      follow(replayer, log);
      expect(stateDigest(replayer.state)).to.equal(stateDigest(world.loop.view.state));
    }
    expect(world.removed).to.be.greaterThan(20);
  });

  it('names the first record that cannot be', async () => {
    const { log } = await leader();
    const replayer = new Replayer(log, digestText);
    const records = [...log.read(1)];
    const gap = records.findIndex(
      ({ seq }, at) => seq === (records[at - 1]?.seq ?? 0) + 1 && at > 3,
    );
    for (const record of records.slice(0, gap)) replayer.feed(record);
    expect(() => replayer.feed(records[gap + 1] as LogRecord))
      .to.throw(LogCorrupt, 'missing')
      .with.property('seq', (records[gap] as LogRecord).seq);
  });
});

describe('a start on a state that is ready', () => {
  it('replays only what the state does not know yet', async () => {
    const before = await leader();
    const cold = replay(before.log, { digestText }).state;
    for (const known of [0, 7, before.log.lastNumber]) {
      const log = new MemoryLog({ store: before.log.store.copy(), segmentRecords: 5 });
      const prepared = new Replayer(log, digestText);
      for (const record of log.read(1, known)) prepared.feed(record);
      const from = prepared.state.lastSeq + 1;
      const world = new World({}, log);
      world.time = before.time;
      await world.restart({ prepared });
      expect(world.loop.view.replayRecords).to.equal(
        [...before.log.read(from)].length,
        `records behind ${known}`,
      );
      expect(world.loop.view.state).to.equal(prepared.state);
      expect(stateDigest(replay(world.log, { digestText, until: cold.lastSeq }).state)).to.equal(
        stateDigest(cold),
      );
      expect(world.broken()).to.deep.equal([]);
    }
  });

  it('is believed once: after a lost group the log is read from its beginning', async () => {
    const before = await leader();
    const world = new World({}, new MemoryLog({ store: before.log.store }));
    world.time = before.time;
    const prepared = new Replayer(world.log, digestText);
    follow(prepared, world.log);
    await world.restart({ prepared });
    const { state } = world.loop.view;
    world.log.plan('failed');
    world.take({ op: 'submit', queue: 'q', payload: new Uint8Array(1) });
    await world.settle();
    for (let n = 0; n < 50; n += 1) await Promise.resolve();
    expect(world.loop.view.mode).to.equal('serving');
    expect(world.loop.view.state, 'another state').not.to.equal(state);
    expect(world.broken()).to.deep.equal([]);
  });

  it('is refused when the log ends before it', async () => {
    const before = await leader();
    const prepared = new Replayer(before.log, digestText);
    follow(prepared, before.log);
    const world = new World({}, new MemoryLog({ store: new MemoryStore() }));
    const told = await world.restart({ prepared }).catch((error: Error) => error);
    expect(told).to.be.instanceOf(LogCorrupt).with.property('seq', 1);
  });
});

describe('inherited time', () => {
  /** A leader with a lease that lasts 10 s and a task delayed by 60 s, 4 s ago. */
  async function ended() {
    const world = await World.started();
    await world.submit();
    const lease = await world.lease();
    await world.submit({ delayMs: 60_000 });
    const now = world.loop.view.state.lastAt + 4_000;
    world.time += 4_000;
    return { world, lease, now };
  }

  it('ends no lease and fires no delay when the wall clock is an hour ahead', async () => {
    const { world, lease, now } = await ended();
    world.wallOffset = HOUR;
    await world.restart({ inherited: () => now });
    expect(world.loop.view.clockOffsetMs).to.equal(-HOUR);
    expect(await world.heartbeat(lease)).to.include({ kind: 'heartbeat', leaseMs: 10_000 });
    const none = await world.ask(leaseRequest());
    expect(none).to.have.nested.property('empty.reason', 'not_yet_eligible');
    expect(await world.complete(lease)).to.include({ kind: 'committed' });
  });

  it('ends a lease when it would have ended, though the wall clock is an hour behind', async () => {
    const { world, lease, now } = await ended();
    world.wallOffset = -HOUR;
    await world.restart({ inherited: () => now });
    world.time += 6_000;
    await world.tick();
    expect(await world.complete(lease)).to.include({ outcome: 'CANCELLED' });
  });

  it('control: without it the lease is over at once', async () => {
    const { world, lease } = await ended();
    world.wallOffset = HOUR;
    await world.restart();
    expect(await world.complete(lease)).to.include({ outcome: 'CANCELLED' });
  });

  it('is nothing when nobody was heard: then the wall clock counts', async () => {
    const { world } = await ended();
    world.wallOffset = HOUR;
    await world.restart({ inherited: () => undefined });
    expect(world.loop.view.clockOffsetMs).to.equal(0);
  });
});

describe('a coordinator that was deposed without knowing it', () => {
  /** Two coordinators on one log, the second of which has completed the task of the first. */
  async function deposed(isShared: boolean) {
    const store = new MemoryStore();
    const one = await World.started({}, new MemoryLog({ store, isShared }));
    const task = await one.submit();
    const lease = await one.lease();
    const two = await World.started({}, new MemoryLog({ store, isShared }));
    await two.complete(lease);
    return { one, two, task };
  }
  const asked = (taskId: number) => ({ op: 'task', taskId, waitMs: 0, base64: false }) as const;

  it('says that it does not know, and ends', async () => {
    const { one, two, task } = await deposed(true);
    expect(await one.ask(asked(task))).to.include({ outcome: 'UNAVAILABLE' });
    expect(one.fatal).to.have.property('code', 'LOG_FENCED');
    expect(await two.ask(asked(task))).to.have.nested.property('task.state', 'COMPLETED');
  });

  it('refuses nobody a task that the other one may know', async () => {
    const { one, two } = await deposed(true);
    const task = await two.submit();
    expect(await one.ask(asked(task))).to.include({ outcome: 'UNAVAILABLE' });
  });

  it('gives nobody an empty lease', async () => {
    const { one, two } = await deposed(true);
    await two.submit();
    expect(await one.ask(leaseRequest())).to.include({ outcome: 'UNAVAILABLE' });
  });

  it('control: on a log that nobody confirms it tells what is not true any more', async () => {
    const { one, task } = await deposed(false);
    expect(await one.ask(asked(task))).to.have.nested.property('task.state', 'LEASED');
    expect(one.fatal).to.equal(undefined);
  });

  it('goes on after a confirmation that failed: only those answers are refused', async () => {
    const world = await World.started({}, new MemoryLog({ isShared: true }));
    const task = await world.submit();
    const { state } = world.loop.view;
    world.log.plan('failed');
    const refused = await world.ask(asked(task));
    expect(refused).to.include({ outcome: 'UNAVAILABLE', reason: 'log_unavailable' });
    expect(await world.ask(asked(task))).to.have.nested.property('task.state', 'WAITING');
    expect(world.loop.view.state, 'nothing was rebuilt').to.equal(state);
    expect(state.starts).to.have.length(1);
    expect(world.modes).to.deep.equal(['serving']);
  });

  it('confirms the reads that waited for a rebuild, without being asked again', async () => {
    const world = await World.started({}, new MemoryLog({ isShared: true }));
    const task = await world.submit();
    world.log.plan('failed', 'stalled');
    world.take({ op: 'submit', queue: 'q', payload: new Uint8Array(1) });
    world.loop.flush();
    await new Promise(setImmediate);
    expect(world.loop.view.mode).to.equal('rebuilding');
    const read = world.take(asked(task));
    world.log.settle();
    await new Promise(setImmediate);
    expect(world.loop.view.mode).to.equal('serving');
    expect(world.answers.get(read)).to.have.nested.property('task.state', 'WAITING');
  });

  it('refuses a read that waits too long for the rebuild', async () => {
    const world = await World.started({}, new MemoryLog({ isShared: true }));
    const task = await world.submit();
    world.log.plan('failed', 'stalled');
    world.take({ op: 'submit', queue: 'q', payload: new Uint8Array(1) });
    world.loop.flush();
    await new Promise(setImmediate);
    expect(world.loop.view.mode).to.equal('rebuilding');
    const read = world.take(asked(task));
    world.time += 9_999;
    world.loop.tick();
    expect(world.answers.get(read)).to.equal(undefined);
    world.time += 1;
    const late = world.take(asked(task));
    world.loop.tick();
    const refused = { outcome: 'UNAVAILABLE', reason: 'log_unavailable' };
    expect(world.answers.get(read)).to.include(refused);
    expect(world.answers.get(late), 'it has only just come').to.equal(undefined);
    world.log.settle();
    await new Promise(setImmediate);
    expect(world.answers.get(late)).to.have.nested.property('task.state', 'WAITING');
  });

  it('shows its figures though nobody confirms them', async () => {
    const world = await World.started({}, new MemoryLog({ isShared: true }));
    world.log.plan('failed');
    expect(await world.ask({ op: 'metrics' })).to.include({ kind: 'overview' });
    expect(await world.ask({ op: 'stats' })).to.include({ outcome: 'UNAVAILABLE' });
  });
});
