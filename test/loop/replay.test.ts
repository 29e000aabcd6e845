// What replay makes of logs from which forgotten history was removed, and of logs with holes.

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { stateDigest } from '../../src/core/digest.ts';
import { brokenInvariants } from '../../src/core/invariants.ts';
import { NONE } from '../../src/core/task-table.ts';
import { encodeRecord } from '../../src/log/codec.ts';
import type { LogReader } from '../../src/log/log.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { DroppedRanges } from '../../src/log/segments/dropped-ranges.ts';
import { replay } from '../../src/loop/replay.ts';
import { taskOf } from '../../src/model/records.ts';
import type { Lease, Leased } from '../../src/model/response.ts';
import { digestText, leaseRequest, World } from '../support/world.ts';

/** A small generator of its own, so that a failure can be played again. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

async function liveThroughForgetting(seed: number, log = new MemoryLog()): Promise<World> {
  const world = await World.started({ retentionMs: 2_000, retentionFailedMs: 4_000 }, log);
  const random = randomFrom(seed);
  const leases: Lease[] = [];
  for (let step = 0; step < 1_500; step += 1) {
    world.time += Math.floor(random() * 40);
    const dice = random();
    const lease = leases[Math.floor(random() * leases.length)];
    if (dice < 0.35) {
      const requestId = random() < 0.3 ? `r${Math.floor(random() * 40)}` : undefined;
      const contentHash = requestId === undefined ? undefined : new Uint8Array(16);
      await world.ask({
        op: 'submit',
        queue: 'default',
        payload: new Uint8Array([step & 255]),
        requestId,
        contentHash,
      });
    } else if (dice < 0.7 || lease === undefined) {
      const answer = (await world.ask(leaseRequest({ max: 2 }))) as Leased;
      leases.push(...answer.leases);
    } else if (dice < 0.8) await world.complete(lease);
    else if (dice < 0.87) await world.fail(lease, { kind: 'permanent' });
    else if (dice < 0.92) await world.fail(lease);
    else if (dice < 0.96) await world.heartbeat(lease);
    else await world.ask({ op: 'redrive', taskId: lease.taskId });
    if (step % 10 === 0) await world.tick();
  }
  return world;
}

describe('replay: history that was forgotten and removed', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    it(`the state is the same with all, half and none of it (seed ${seed})`, async () => {
      const world = await liveThroughForgetting(seed);
      const live = stateDigest(world.loop.view.state);
      expect(stateDigest(replay(world.log, { digestText }).state)).to.equal(live);
      const { tasks } = world.loop.view.state;
      const gone = world.records().filter((record) => {
        const task = taskOf(record);
        return task !== 0 && tasks.find(task) === NONE;
      });
      expect(gone.length).to.be.greaterThan(50);
      const { store } = world.log;
      for (const [index, record] of gone.entries()) {
        store.entries.delete(record.seq);
        store.dropped.add(record.seq, record.seq);
        if (index !== Math.floor(gone.length / 2)) continue;
        expect(stateDigest(replay(world.log, { digestText }).state)).to.equal(live);
      }
      const without = replay(world.log, { digestText }).state;
      expect(stateDigest(without)).to.equal(live);
      expect(brokenInvariants(without)).to.deep.equal([]);
    });
  }

  it('the loop removes it by itself and leaves what is remembered', async () => {
    const world = await liveThroughForgetting(7, new MemoryLog({ segmentRecords: 64 }));
    expect(world.removed).to.be.greaterThan(300);
    const live = stateDigest(world.loop.view.state);
    expect(stateDigest(replay(world.log, { digestText }).state)).to.equal(live);
    for (const row of world.loop.view.state.tasks.rowsAfter(0)) {
      expect(world.log.get(world.loop.view.state.tasks.id(row))?.type).to.equal('TaskCreated');
    }
    const before = world.records().length;
    await world.restart();
    expect(world.broken()).to.deep.equal([]);
    expect(world.records().length).to.be.at.most(before + 2);
  });

  it('a task that its origin held is replayed when only the origin is gone', async () => {
    const world = await World.started({ retentionMs: 1_000, retentionFailedMs: 60_000 });
    const origin = await world.submit();
    await world.fail(await world.lease(), { kind: 'permanent' });
    await world.ask({ op: 'redrive', taskId: origin });
    const late = await world.lease();
    world.time += 10_000;
    await world.complete(await world.lease());
    world.time += 2_000;
    await world.tick();
    expect(world.types().at(-1)).to.equal('HistoryForgotten');
    // The redriven task is remembered still, because its origin is.
    expect(await world.complete(late)).to.include({ outcome: 'CANCELLED' });
    await world.ask({ op: 'redrive', taskId: late.taskId });
    world.time += 60_000;
    await world.tick();
    const live = stateDigest(world.loop.view.state);
    for (const record of world.records()) {
      if (taskOf(record) === origin) world.log.store.drop(record.seq);
    }
    expect(stateDigest(replay(world.log, { digestText }).state)).to.equal(live);
    await world.restart();
    expect(world.broken()).to.deep.equal([]);
  });

  it('what replay had to note of gone tasks is not noted any more when it is over', async () => {
    const knobs = { retentionMs: 1_000, retentionFailedMs: 1_000 };
    const world = await World.started(knobs, new MemoryLog({ segmentRecords: 4 }));
    const origin = await world.submit();
    await world.fail(await world.lease(), { kind: 'permanent' });
    await world.ask({ op: 'redrive', taskId: origin });
    const redriven = await world.lease();
    await world.submit();
    world.time += 2_000;
    await world.tick();
    while (world.loop.view.isRemoving) await setImmediate();
    await world.loop.stop();
    const { state } = world.loop.view;
    expect(state.removed.has(origin), 'the origin is gone').to.equal(true);
    await world.complete(redriven);
    world.time += 2_000;
    await world.tick();
    expect(state.tasks.find(redriven.taskId)).to.equal(NONE);
    expect(world.log.dropped.has(redriven.taskId)).to.equal(false);
    expect(state.removed.has(redriven.taskId), 'nothing grows by it').to.equal(false);
  });

  it('a record that is missing undeclared is named', async () => {
    const world = await World.started();
    await world.submit();
    await world.submit();
    world.log.store.entries.delete(2);
    expect(() => replay(world.log, { digestText })).to.throw(/record 2\b.*missing/);
  });

  it('a hole that the log itself passes over is named too', async () => {
    const world = await World.started();
    for (let n = 0; n < 4; n += 1) await world.submit();
    const left = world.records().filter(({ seq }) => seq !== 3 && seq !== 4);
    const dropped = new DroppedRanges([[3, 3]]);
    const log = { read: () => left, dropped } as unknown as LogReader;
    expect(() => replay(log, { digestText })).to.throw(/record 4\b.*missing/);
    dropped.add(4, 4);
    expect(replay(log, { digestText }).records).to.equal(3);
  });

  it('a record that cannot have happened is named, and nothing after it is believed', async () => {
    const world = await World.started();
    await world.submit();
    const { leaseId, taskId } = await world.lease();
    const at = world.loop.view.state.lastAt;
    const forged = { type: 'TaskCompleted', at, prev: 1, taskId, leaseId } as const;
    const seq = world.log.lastNumber + 1;
    const bytes = encodeRecord({ ...forged, seq, extensions: 0, lastExtension: 0 });
    expect(world.log.store.commit(seq, seq, [bytes])).to.equal(true);
    const log = new MemoryLog({ store: world.log.store });
    expect(() => replay(log, { digestText })).to.throw(/record 4: TaskCompleted: prev is 1/);
  });

  it('ends where it is told to', async () => {
    const world = await World.started();
    for (let n = 0; n < 5; n += 1) await world.submit();
    const { state, records } = replay(world.log, { digestText, until: 4 });
    expect([state.lastSeq, state.tasks.size, records]).to.deep.equal([4, 3, 4]);
    expect(replay(world.log, { digestText }).records).to.equal(6);
  });

  it('a restored log skips numbers, and its old leases are not issued twice', async () => {
    const world = await World.started();
    await world.submit();
    const lease = await world.lease();
    await world.restart({ skip: 1_000_000 });
    const next = await world.submit();
    expect(next).to.be.greaterThan(1_000_000);
    expect(await world.complete(lease)).to.include({ kind: 'committed' });
    expect(world.broken()).to.deep.equal([]);
  });
});
