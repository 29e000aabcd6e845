// Keeps history in an archive before it is removed: the archive reads like the log that was,
// whatever step of it a kill leaves, and what cannot follow on what it holds is refused.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { assertTold, removedText } from '../../src/cli/offline.ts';
import { stateDigest } from '../../src/core/digest.ts';
import { type LmdbArchive, openArchive } from '../../src/log/archive.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { replay } from '../../src/loop/replay.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { digestText, World } from '../support/world.ts';
import { everyStep } from './steps.ts';

const RETENTION_MS = 10_000;
const KNOBS = { retentionMs: RETENTION_MS, retentionFailedMs: 2 * RETENTION_MS };

const run = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [EXECUTABLE, ...args], { timeout: 120_000 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

const numbers = (records: Iterable<LogRecord>) => [...records].map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

async function readAll(dataDir: string): Promise<LogRecord[]> {
  const reader = await openLmdbReader(dataDir);
  try {
    return [...reader.read(1)];
  } finally {
    await reader.close();
  }
}

async function told(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was not refused');
}

/** Tasks that end; each batch is forgotten and removed while the next one is worked on. */
async function work(world: World, rounds: number, from = 0): Promise<void> {
  for (let round = from; round < from + rounds; round += 1) {
    world.time += RETENTION_MS / 20;
    await world.submit({ payload: new Uint8Array(20).fill(round) });
    const lease = await world.lease();
    if (round % 5 === 0) await world.fail(lease, { kind: 'permanent' });
    else await world.complete(lease);
    await world.tick();
  }
}

describe('an archive', function () {
  this.timeout(180_000);
  let root: string;
  let directory: string;
  let archive: LmdbArchive | undefined;

  beforeEach(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-archive-'));
    directory = path.join(root, 'archive');
  });
  afterEach(async () => {
    await archive?.close();
    archive = undefined;
    fs.rmSync(root, { recursive: true });
  });

  /** A world whose log loses what is forgotten, and all that was ever in it. */
  async function archived(rounds = 150): Promise<{ world: World; all: LogRecord[] }> {
    const log = new MemoryLog({ segmentRecords: 40 });
    archive = await openArchive(directory, log);
    const world = await World.started(KNOBS, log, archive);
    const all = new Map<number, LogRecord>();
    for (let part = 0; part < rounds; part += 1) {
      await work(world, 1, part);
      // The device is slower than the clock of this world.
      while (world.loop.view.isRemoving) await new Promise(setImmediate);
      for (const record of world.records()) all.set(record.seq, record);
    }
    await world.loop.stop();
    return { world, all: [...all.values()].toSorted((a, b) => a.seq - b.seq) };
  }

  it('has each record once, before it is gone from the log', async () => {
    const { world, all } = await archived();
    expect(world.removed).to.be.greaterThan(200);
    const kept = await readAll(directory);
    expect(kept).to.deep.equal(all.slice(0, kept.length));
    for (const [, to] of world.log.dropped.ranges) expect(to).to.be.at.most(kept.length);
    await archive?.close();
    archive = await openArchive(directory, world.log);
    expect(numbers(await readAll(directory)), 'after a restart').to.deep.equal(numbers(kept));
  });

  it('is read by explain, log, state and verify, also of what is forgotten', async () => {
    const { world, all } = await archived(80);
    await archive?.close();
    archive = undefined;
    const first = all.filter(({ type }) => type === 'TaskCreated')[1]?.seq as number;
    expect(world.log.get(first), 'it is gone from the log').to.equal(undefined);
    const explained = await run('explain', '--data-dir', directory, `T${first}`);
    expect(explained.code, explained.err).to.equal(0);
    expect(explained.out).to.include(`T${first}`).and.to.include('It is COMPLETED');
    expect(explained.err).to.match(/was forgotten by record \d+; this is its story as of/);
    const lines = await run('log', '--data-dir', directory, '--task', `T${first}`, '--json');
    const types = lines.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type as string);
    expect(types).to.deep.equal(['TaskCreated', 'LeaseGranted', 'TaskCompleted']);
    const full = new MemoryLog();
    await full.start(all[0] as never);
    await full.append(all.slice(1));
    for (const at of [first, 50, 100]) {
      const state = await run('state', '--data-dir', directory, '--at', String(at), '--json');
      const digest = stateDigest(replay(full, { digestText, until: at }).state);
      expect(JSON.parse(state.out)).to.include({ seq: at, digest });
    }
    expect((await run('verify', '--data-dir', directory)).code).to.equal(0);
  });

  it('is named where a log has the history of a task no more', async () => {
    const { world, all } = await archived(80);
    const first = all.find(({ type }) => type === 'TaskCreated')?.seq as number;
    expect(world.log.get(first), 'it is gone from the log').to.equal(undefined);
    expect(removedText(world.log, first)).to.equal(
      ': its history was forgotten and is removed, and only an archive has it (--archive-dir)',
    );
    expect(removedText(world.log, all.length + 1)).to.equal('');
  });

  it('is not served, but a copy of it is a log', async () => {
    await archived(60);
    await archive?.close();
    archive = undefined;
    expect((await told(openLmdbLog({ dataDir: directory }))).message).to.include('is an archive');
    const copy = path.join(root, 'copy');
    expect((await run('backup', '--data-dir', directory, copy)).code).to.equal(0);
    const log = await openLmdbLog({ dataDir: copy });
    expect(numbers(log.read(1))).to.deep.equal(numbers(await readAll(directory)));
    await log.close();
  });

  it('reads as before or as after whatever step of it a kill leaves, and goes on', async () => {
    const log = new MemoryLog({ segmentRecords: 30 });
    const world = await World.started({}, log);
    await work(world, 40);
    const [first, second, third] = log.sealed();
    archive = await openArchive(directory, log);
    await archive.keep(first as never);
    const copies = path.join(root, 'steps');
    const steps = await everyStep(directory, copies, () => archive?.keep(second as never) as never);
    expect(steps.length).to.be.greaterThan(15);
    const seen = new Set<number>();
    for (const { name, copy } of steps) {
      const { length } = await readAll(copy);
      expect([first?.last, second?.last], name).to.include(length);
      seen.add(length);
      const again = await openArchive(copy, log);
      for (const segment of [first, second, third]) await again.keep(segment as never);
      await again.close();
      expect(numbers(await readAll(copy)), name).to.deep.equal(upTo(third?.last as number));
    }
    expect(seen.size, 'before and after').to.equal(2);
  });

  it('that cannot be written to stops the removal, and nothing is lost', async () => {
    const log = new MemoryLog({ segmentRecords: 40 });
    let refusing = true;
    const failing = {
      keep: () => (refusing ? Promise.reject(new Error('no space')) : Promise.resolve()),
    };
    const world = await World.started(KNOBS, log, failing);
    const stopped: string[] = [];
    world.onStopped = (error) => stopped.push(error.message);
    await work(world, 60);
    expect(stopped).to.include('no space');
    expect(world.removed).to.equal(0);
    expect(log.dropped.ranges).to.deep.equal([]);
    refusing = false;
    await work(world, 10);
    expect(world.removed).to.be.greaterThan(50);
  });

  it('of another log, or with a hole before what would follow, is refused', async () => {
    const { world } = await archived(60);
    await archive?.close();
    archive = undefined;
    const other = new MemoryLog({ segmentRecords: 40 });
    const elsewhere = await World.started(KNOBS, other);
    await work(elsewhere, 3);
    expect(await told(openArchive(directory, other))).to.have.property('code', 'LOG_ARCHIVE');
    elsewhere.time += 1; // Its times differ from here on.
    await work(elsewhere, 60);
    const foreign = await told(openArchive(directory, other));
    expect(foreign.message).to.match(/archive-dir a new directory/);
    const restored = await told(openArchive(directory, world.log, { isRestored: true }));
    expect(restored.message).to.include('before its restore');
    const { length } = await readAll(directory);
    world.log.store.drop(length + 2);
    const holed = await told(openArchive(directory, world.log));
    expect(holed.message).to.include(`it ends at record ${length}`);
    const served = path.join(root, 'served');
    await (await openLmdbLog({ dataDir: served })).close();
    const log = await told(openArchive(served, world.log));
    expect(log.message).to.include('a log of its own');
  });

  it('that was begun after a removal says so: no state of before can be told from it', async () => {
    const log = new MemoryLog({ segmentRecords: 40 });
    const world = await World.started(KNOBS, log);
    await work(world, 60);
    expect(world.removed).to.be.greaterThan(50);
    archive = await openArchive(directory, Object.assign(log, { removedAt: () => 90_000 }));
    for (const segment of log.sealed()) await archive.keep(segment);
    const reader = await openLmdbReader(directory);
    expect(reader.removedAt).to.equal(90_000);
    expect(() => assertTold(reader, reader.lastNumber)).to.throw('goes back to record 90000');
    await reader.close();
  });
});
