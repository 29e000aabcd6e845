// What becomes of the records that say that history was forgotten: they would be all that a log of
// years holds, so they go with that history, and none goes that replay still needs.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { stateDigest } from '../src/core/digest.ts';
import type { LogRecord } from '../src/core/records.ts';
import { openLmdbLog } from '../src/log/lmdb-log.ts';
import { MemoryLog } from '../src/log/memory-log.ts';
import type { Leased } from '../src/protocol/response.ts';
import { replay } from '../src/replay.ts';
import { digestText, leaseRequest, World } from './support/world.ts';

const RETENTION_MS = 1_000;
/** The least that lies between two forgettings. */
const STRIDE_MS = 200;
const KNOBS = { retentionMs: RETENTION_MS, retentionFailedMs: RETENTION_MS };

const forgettings = (world: World): LogRecord[] =>
  world.records().filter(({ type }) => type === 'HistoryForgotten');

/** Each round one task ends, and history is forgotten and removed. */
async function rounds(world: World, count: number, each?: (n: number) => Promise<void>) {
  for (let n = 1; n <= count; n += 1) {
    world.time += STRIDE_MS;
    await world.submit({ payload: new Uint8Array(100) });
    await world.complete(await world.lease());
    await each?.(n);
    await world.tick();
    while (world.loop.removal.busy) await new Promise(setImmediate);
  }
}

const live = (world: World): string => stateDigest(world.loop.state);
const replayed = (world: World): string => stateDigest(replay(world.log, { digestText }).state);

/** Less than a third of those that are written. */
const FEW = 70;

describe('records of forgetting', () => {
  it('go with what they forgot, but the first of each stretch', async () => {
    const log = new MemoryLog({ segmentRecords: 40 });
    const world = await World.started(KNOBS, log);
    await rounds(world, 200);
    const before = live(world);
    expect(replayed(world)).to.equal(before);
    // A start looks at every stretch again, however lately it was rewritten.
    await world.restart();
    while (world.loop.removal.busy) await new Promise(setImmediate);
    const stretches = log.sealed().length;
    const young = RETENTION_MS / STRIDE_MS + 40 / 4;
    expect(forgettings(world).length).to.be.within(stretches, stretches + young + 1);
    expect(world.broken()).to.deep.equal([]);
  });

  it('stay while a task that they forgot may be left in an earlier stretch', async () => {
    const world = await World.started(KNOBS, new MemoryLog({ segmentRecords: 40 }));
    const again = { queue: 'patient', requestId: 'again', contentHash: new Uint8Array(16) };
    const seen = new Set<number>();
    await rounds(world, 300, async (n) => {
      // The same task as long as it is remembered, a new one under its id after that.
      seen.add(await world.submit(again));
      if (n % 45 === 0) {
        const { leases } = (await world.ask(leaseRequest({ queues: ['patient'] }))) as Leased;
        for (const lease of leases) await world.complete(lease);
      }
      expect(replayed(world), `round ${n}`).to.equal(live(world));
    });
    expect(seen.size).to.be.greaterThan(5);
    await world.restart();
    expect(world.broken()).to.deep.equal([]);
  });

  it('are few on the device however long it goes on', async () => {
    const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-forgettings-'));
    const log = await openLmdbLog({ dataDir, segmentBytes: 60_000, lock: false });
    try {
      const world = await World.started(KNOBS, log as unknown as MemoryLog);
      const counts: number[] = [];
      for (let part = 0; part < 4; part += 1) {
        await rounds(world, 50);
        counts.push(forgettings(world).length);
      }
      expect(Math.max(...counts), counts.join()).to.be.at.most(FEW);
      expect(log.dropped.ranges.length, 'ranges of absent numbers').to.be.at.most(FEW);
      expect(replayed(world)).to.equal(live(world));
      await world.loop.stop();
    } finally {
      await log.close();
      fs.rmSync(dataDir, { recursive: true });
    }
  }).timeout(60_000);
});
