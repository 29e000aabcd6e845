// Makes one segment of small neighbours, and leaves rolling over, rewriting and merging at every
// step, as a kill would: what can be read is the same before, between and after, and the log goes
// on. Readers stay through all of it; damage in what was made anew is named.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import { LogCorrupt } from '../../src/log/log.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { grow, numbers, SEGMENT_BYTES, tens } from './growing.ts';
import { created, started } from './records.ts';
import { everyStep, type Step } from './steps.ts';

describe('segments that became small', function () {
  this.timeout(180_000);
  let root: string;
  let dataDir: string;
  let logDir: string;
  let log: LmdbLog;

  beforeEach(async () => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-merge-'));
    dataDir = path.join(root, 'data');
    logDir = path.join(dataDir, 'log');
    log = await open(dataDir);
    await log.start(started(1));
  });
  afterEach(async () => {
    await log.close();
    fs.rmSync(root, { recursive: true });
  });

  const open = (directory: string) =>
    openLmdbLog({ dataDir: directory, segmentBytes: SEGMENT_BYTES, lock: false });
  const segments = () => fs.readdirSync(logDir).toSorted();
  const bytes = () => log.bytes().total;

  const append = (groups: number): Promise<void> => grow(log, groups);
  async function siftAll(): Promise<void> {
    for (const segment of log.sealed()) await log.rewrite(segment, tens);
  }
  async function mergeAll(): Promise<number> {
    for (let merged = 0; ; merged += 1) if ((await log.merge()) === undefined) return merged;
  }
  async function read(directory: string): Promise<number[]> {
    const reader = await openLmdbReader(directory);
    try {
      return numbers(reader.read(1));
    } finally {
      await reader.close();
    }
  }

  /** Each copy reads as one of these, goes on, and has nothing left over then. */
  async function allGoOn(steps: readonly Step[], ...expected: readonly number[][]): Promise<void> {
    const seen = new Set<string>();
    for (const { name, copy } of steps) {
      const found = await read(copy);
      expect(expected.map(String), name).to.include(String(found));
      seen.add(String(found));
      const again = await open(copy);
      const next = again.lastNumber + 1;
      expect(await again.start(started(next)), name).to.equal('durable');
      expect(await again.append([created(next + 1)]), name).to.equal('durable');
      while ((await again.merge()) !== undefined);
      expect(numbers(again.read(1)), name).to.deep.equal([...found, next, next + 1]);
      await again.close();
      expect(await read(copy), name).to.deep.equal([...found, next, next + 1]);
      const ordinals = fs.readdirSync(path.join(copy, 'log')).map((one) => one.split('-')[0]);
      expect(new Set(ordinals).size, `${name}: ${ordinals.join()}`).to.equal(ordinals.length);
    }
    expect(seen.size, 'outcomes').to.equal(expected.length);
  }

  it('become one, and nothing that can be read changes', async () => {
    await append(80);
    await siftAll();
    const [before, size, files] = [numbers(log.read(1)), bytes(), segments().length];
    const { ranges } = log.dropped;
    expect(await mergeAll()).to.be.greaterThan(0);
    expect(segments().length).to.be.lessThan(files - 2);
    expect(bytes()).to.be.lessThan(size);
    const again = await open(dataDir);
    for (const one of [log, again]) {
      expect(numbers(one.read(1))).to.deep.equal(before);
      expect(one.dropped.ranges).to.deep.equal(ranges);
      for (const seq of before) expect(one.get(seq)?.seq).to.equal(seq);
      expect(one.get(5)).to.equal(undefined);
    }
    await again.close();
    await append(40);
    await siftAll();
    const more = numbers(log.read(1));
    await mergeAll();
    for (const segment of log.sealed()) await log.rewrite(segment, ({ seq }) => seq % 20 === 1);
    expect(more.length).to.be.greaterThan(numbers(log.read(1)).length);
    expect(await read(dataDir)).to.deep.equal(numbers(log.read(1)));
  });

  it('stay apart when they are large together, or not sealed', async () => {
    await append(40);
    const before = segments();
    expect(await log.merge()).to.equal(undefined);
    expect(segments()).to.deep.equal(before);
  });

  it('are whole at each step of rolling over', async () => {
    // It begins with the successor made ahead of need and ends in that.
    const ordinal = log.sealed().length;
    while (fs.statSync(path.join(logDir, '00000001-0', 'data.mdb')).size < 0.7 * SEGMENT_BYTES) {
      await append(1);
    }
    const before = numbers(log.read(1));
    const steps = await everyStep(dataDir, path.join(root, 'steps'), async () => {
      while (log.sealed().length === ordinal) await append(1);
    });
    expect(steps.length).to.be.greaterThan(5);
    for (const { name, copy } of steps) {
      const found = await read(copy);
      expect(found.slice(0, before.length), name).to.deep.equal(before);
      expect((found.length - before.length) % 10, `${name}: whole groups`).to.equal(0);
      const again = await open(copy);
      expect(await again.start(started(found.length + 1)), name).to.equal('durable');
      expect(await again.append([created(found.length + 2)]), name).to.equal('durable');
      await again.close();
      expect((await read(copy)).length, name).to.equal(found.length + 2);
    }
  });

  it('are as before or as after at each step of a rewrite', async () => {
    await append(20);
    const [segment] = log.sealed();
    const before = numbers(log.read(1));
    const steps = await everyStep(dataDir, path.join(root, 'steps'), () =>
      log.rewrite(segment as never, tens),
    );
    expect(steps.some(({ name }) => name.startsWith('after renameSync'))).to.equal(true);
    await allGoOn(steps, before, numbers(log.read(1)));
  });

  it('read the same at each step of merging', async () => {
    await append(40);
    await siftAll();
    const before = numbers(log.read(1));
    const steps = await everyStep(dataDir, path.join(root, 'steps'), () => log.merge());
    const removals = steps.filter(({ name }) => /^after rmSync \d/.test(name));
    expect(removals.length, 'old ones deleted').to.be.greaterThan(2);
    await allGoOn(steps, before);
  });

  it('are followed and searched by readers while they are made anew', async () => {
    await append(40);
    const reader = await openLmdbReader(dataDir);
    const slow = reader.read(1)[Symbol.iterator]();
    expect(slow.next().value?.seq).to.equal(1);
    let followed = reader.lastNumber;
    for (const segment of log.sealed()) {
      await log.rewrite(segment, tens);
      await append(1);
      for (const { seq } of reader.read(followed + 1)) {
        expect(seq).to.equal(followed + 1);
        followed = seq;
      }
      expect(followed).to.equal(log.lastNumber);
      expect(reader.get(segment.last - (segment.last % 10) + 1)?.type).to.equal('TaskCreated');
    }
    await mergeAll();
    const seen = [1];
    for (let next = slow.next(); !next.done; next = slow.next()) seen.push(next.value.seq);
    expect(seen).to.deep.equal([...new Set(seen)].toSorted((a, b) => a - b));
    expect(seen).to.include.members(numbers(log.read(1)).filter((seq) => seq <= 401));
    expect(numbers(reader.read(1))).to.deep.equal(numbers(log.read(1)));
    await reader.close();
  });

  it('can be opened at any moment of it', async () => {
    await append(40);
    const progress = { over: false };
    const work = (async () => {
      await siftAll();
      await mergeAll();
      progress.over = true;
    })();
    let opened = 0;
    for (; !progress.over; opened += 1) {
      await new Promise(setImmediate);
      const found = await read(dataDir);
      expect(found.filter((seq) => seq % 10 === 1).length, `opening ${opened}`).to.equal(41);
    }
    await work;
    expect(opened).to.be.greaterThan(3);
  });

  it('are as they were when making them anew is given up', async () => {
    await append(40);
    const before = [segments(), numbers(log.read(1))];
    const [segment] = log.sealed();
    let asked = 0;
    for (const at of [0, 30]) {
      const ending = new AbortController();
      const keep = ({ seq }: LogRecord): boolean => {
        asked += 1;
        if (asked === at) ending.abort();
        return seq % 10 === 1;
      };
      if (at === 0) ending.abort();
      const error = await log.rewrite(segment as never, keep, ending.signal).catch((e: Error) => e);
      expect(error).to.have.property('name', 'AbortError');
      expect([segments(), numbers(log.read(1))]).to.deep.equal(before);
    }
    expect(asked, 'it went no further').to.equal(30);
    expect(await log.rewrite(segment as never, tens)).to.be.greaterThan(0);
  });

  it('are refused by number when they are damaged, or missing', async () => {
    await append(40);
    await siftAll();
    await mergeAll();
    await log.close();
    const name = segments().find((one) => !one.endsWith('-0')) as string;
    const file = path.join(logDir, name, 'data.mdb');
    const sound = fs.readFileSync(file);
    const damaged = Buffer.from(sound);
    for (let at = damaged.indexOf('xxxxx'); at >= 0; at = damaged.indexOf('xxxxx', at + 3_000)) {
      damaged[at + 2] = 0;
    }
    fs.writeFileSync(file, damaged);
    await refusesToRead(/record \d+: .*checksum/);
    fs.writeFileSync(file, sound.subarray(0, sound.length / 2));
    await refusesToRead(/record \d+/);
    fs.writeFileSync(file, sound);
    const [second] = segments().slice(1);
    fs.renameSync(path.join(logDir, second as string), path.join(root, 'away'));
    await refusesToRead(/record \d+: segment \d+, in which the log goes on .* is missing/);
    fs.renameSync(path.join(root, 'away'), path.join(logDir, second as string));
    log = await open(dataDir);
  });

  async function refusesToRead(words: RegExp): Promise<void> {
    const told = await read(dataDir).catch((error: unknown) => error);
    expect(told).to.be.instanceOf(LogCorrupt);
    expect((told as Error).message).to.match(words);
  }
});
