// Brings copies of a log up to date: only what is new, grew, or was rewritten or merged is copied,
// the copy reads like its source after it and like an earlier state at any step of it, and what is
// no copy of this log is left alone.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { type Copied, copyLog } from '../../src/log/copy-log.ts';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import { LogCorrupt } from '../../src/log/log.ts';
import { grow, numbers, SEGMENT_BYTES, tens } from './growing.ts';
import { created, started } from './records.ts';
import { everyStep } from './steps.ts';

describe('a copy of a log', function () {
  this.timeout(180_000);
  let root: string;
  let dataDir: string;
  let target: string;
  let log: LmdbLog;

  beforeEach(async () => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-copy-'));
    dataDir = path.join(root, 'data');
    target = path.join(root, 'copy');
    log = await openLmdbLog({ dataDir, segmentBytes: SEGMENT_BYTES, lock: false });
    await log.start(started(1));
  });
  afterEach(async () => {
    await log.close();
    fs.rmSync(root, { recursive: true });
  });

  it('names its own directory where it cannot be made, and not the one that is read', async () => {
    const file = path.join(root, 'file');
    fs.writeFileSync(file, '');
    const { code, message } = await told(copyLog(dataDir, path.join(file, 'copy')));
    expect(code).to.equal('LOG_DIRECTORY');
    expect(message).to.include('for the copy').and.not.to.include('--data-dir');
  });

  const append = (groups: number): Promise<void> => grow(log, groups);
  async function siftAndMerge(count: number): Promise<void> {
    for (const segment of log.sealed().slice(0, count)) await log.rewrite(segment, tens);
    while ((await log.merge()) !== undefined);
  }
  async function read(directory: string): Promise<number[]> {
    const reader = await openLmdbReader(directory);
    try {
      return numbers(reader.read(1));
    } finally {
      await reader.close();
    }
  }
  async function copied(): Promise<Copied> {
    const done = await copyLog(dataDir, target);
    const found = await read(target);
    expect(found).to.deep.equal(numbers(log.read(1)));
    expect(done.records).to.equal(found.length);
    expect(fs.readdirSync(path.join(target, 'log')).filter((one) => one.startsWith('tmp'))).empty;
    return done;
  }
  async function told(promise: Promise<unknown>): Promise<Error & { code?: string }> {
    try {
      await promise;
    } catch (error) {
      return error as Error;
    }
    throw new Error('it was not refused');
  }

  it('takes what is new, what grew and what was made anew, and skips the rest', async () => {
    await append(35);
    const whole = await copied();
    expect(whole.segmentsSkipped).to.equal(0);
    const { length } = log.sealed();
    expect(await copied()).to.include({ segmentsCopied: 0, segmentsSkipped: length + 1 });
    await append(1);
    expect(await copied()).to.include({ segmentsCopied: 1, segmentsSkipped: length });
    await append(20);
    const grown = await copied();
    expect(grown.segmentsSkipped).to.equal(length);
    await log.rewrite(log.sealed()[1] as never, tens);
    expect(await copied()).to.include({ segmentsCopied: 1 });
    await siftAndMerge(4);
    const merged = await copied();
    expect(merged.segmentsCopied).to.be.within(1, 3);
    expect(merged.segmentsSkipped).to.be.greaterThan(0);
    const restored = await openLmdbLog({ dataDir: target, segmentBytes: SEGMENT_BYTES });
    const next = log.lastNumber + 1_000_001;
    expect(await restored.start(started(next))).to.equal('durable');
    expect(await restored.append([created(next + 1)])).to.equal('durable');
    await restored.close();
    expect((await told(copyLog(dataDir, target))).message).to.match(/beyond \d+; choose a new/);
  });

  it('reads as a log at each step of being brought up to date, and is then', async () => {
    await append(14);
    await copied();
    await append(14);
    await siftAndMerge(1);
    const now = numbers(log.read(1));
    const steps = await everyStep(target, path.join(root, 'steps'), () => copied());
    expect(steps.length).to.be.greaterThan(25);
    const ends = new Set<number>();
    for (const { name, copy } of steps) {
      const found = await read(copy);
      const last = found.at(-1) as number;
      ends.add(last);
      const isWhole = (seq: number): boolean => found.includes(seq) || seq > last;
      expect(now.every(isWhole), `${name}: all up to ${last}`).to.equal(true);
      await copyLog(dataDir, copy);
      expect(await read(copy), name).to.deep.equal(now);
    }
    expect(ends.size, 'ends between').to.be.greaterThan(1);
  });

  it('is whole when its source is rewritten while it is made', async () => {
    await append(40);
    const work = (async () => {
      await siftAndMerge(100);
      await append(5);
    })();
    for (let round = 0; round < 3; round += 1) {
      const { last } = await copyLog(dataDir, target);
      const found = await read(target);
      expect(found.at(-1)).to.equal(last);
      expect(found.filter((seq) => seq % 10 === 1).length).to.equal(Math.floor(last / 10) + 1);
    }
    await work;
    await copied();
  });

  it('takes the sound beginning of a damaged log on top of what it has', async () => {
    await append(15);
    await copied();
    await append(25);
    const until = log.lastNumber - 15;
    await log.close();
    const files = fs.readdirSync(path.join(dataDir, 'log')).toSorted();
    const file = path.join(dataDir, 'log', files.at(-1) as string, 'data.mdb');
    const bytes = fs.readFileSync(file);
    fs.writeFileSync(file, bytes.subarray(0, bytes.length / 2));
    const error = await told(copyLog(dataDir, target));
    expect(error).to.be.instanceOf(LogCorrupt);
    const { seq } = error as LogCorrupt;
    expect(seq).to.be.greaterThan(151);
    const wanted = Math.min(until, seq - 1);
    const done = await copyLog(dataDir, target, { until: wanted });
    expect(done).to.include({ last: wanted, records: wanted });
    expect(done.segmentsSkipped).to.be.greaterThan(0);
    expect((await read(target)).at(-1)).to.equal(wanted);
    fs.writeFileSync(file, bytes);
    log = await openLmdbLog({ dataDir, segmentBytes: SEGMENT_BYTES, lock: false });
  });

  it('ends at the last record up to any number, and goes on from there', async () => {
    await append(20);
    await siftAndMerge(2);
    const standing = numbers(log.read(1));
    expect(standing).to.not.include.members([2, 3, 9]);
    for (let until = 1; until <= 60; until += 1) {
      const part = path.join(root, `part-${until}`);
      const wanted = standing.filter((seq) => seq <= until);
      const last = wanted.at(-1) as number;
      const { records, leftBehind, ...rest } = await copyLog(dataDir, part, { until });
      expect([rest.last, records, leftBehind]).to.deep.equal([
        last,
        wanted.length,
        log.lastNumber - last,
      ]);
      expect(await read(part)).to.deep.equal(wanted);
      const restored = await openLmdbLog({ dataDir: part, segmentBytes: SEGMENT_BYTES });
      expect(restored.lastNumber).to.equal(last);
      const next = last + 1_000_001;
      expect(await restored.start(started(next))).to.equal('durable');
      await restored.close();
      expect(await read(part)).to.deep.equal([...wanted, next]);
    }
  });

  it('takes what is sound of a restored log, before and after its gap', async () => {
    await append(1);
    const gap = log.lastNumber + 1;
    const from = gap + 1_000_000;
    expect(await log.start(started(from))).to.equal('durable');
    await append(5);
    const standing = numbers(log.read(1));
    await log.close();
    const file = path.join(dataDir, 'log', '00000001-0', 'data.mdb');
    const bytes = fs.readFileSync(file);
    const { seq } = (await told(damagedCopy(file, bytes))) as LogCorrupt;
    expect(seq).to.be.greaterThan(from + 3);
    for (const until of [seq - 1, from, from - 1, gap, gap - 1]) {
      const part = path.join(root, `part-${until}`);
      const wanted = standing.filter((one) => one <= until);
      expect(await copyLog(dataDir, part, { until })).to.include({ last: wanted.at(-1) });
      expect(await read(part)).to.deep.equal(wanted);
    }
    fs.writeFileSync(file, bytes);
    log = await openLmdbLog({ dataDir, segmentBytes: SEGMENT_BYTES, lock: false });
  });

  /** Destroys pages of the file, one after the other, until the log is damaged behind its gap. */
  async function damagedCopy(file: string, bytes: Buffer): Promise<unknown> {
    for (let page = bytes.length / 4_096 - 1; page > 1; page -= 1) {
      const broken = Buffer.from(bytes);
      broken.fill(0xff, page * 4_096, (page + 1) * 4_096);
      fs.writeFileSync(file, broken);
      const error = await copyLog(dataDir, path.join(root, `try-${page}`)).catch((one) => one);
      if (error instanceof LogCorrupt && error.seq > 20) throw error;
    }
    throw new Error('no page was needed');
  }

  it('is not made over another log, nor shortened', async () => {
    await append(3);
    await copied();
    const shorter = await told(copyLog(dataDir, target, { until: 5 }));
    expect(shorter).to.have.property('code', 'LOG_DIRECTORY');
    const other = path.join(root, 'other');
    const foreign = await openLmdbLog({ dataDir: other, lock: false });
    await foreign.start(started(1));
    await foreign.append([created(2, 'another'), created(3, 'another')]);
    await foreign.close();
    const before = await read(other);
    const refused = await told(copyLog(dataDir, other));
    expect(refused.message).to.include('that of another log');
    expect(await read(other)).to.deep.equal(before);
  });
});
