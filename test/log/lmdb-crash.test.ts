// Leaves a log as a crash between any two steps leaves it (rolling over, rewriting, creating), and
// kills a process that appends: what was acknowledged is there, and the log goes on.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { Environment } from '../../src/log/lmdb/env.ts';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import { createSegment } from '../../src/log/lmdb-writer.ts';
import { encodeMark } from '../../src/log/segments/marks.ts';
import { Segments } from '../../src/log/segments/segments.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { skip } from '../support/skip.ts';
import { OtherProcess } from './processes.ts';
import { group, started } from './records.ts';

const numbers = (records: Iterable<LogRecord>) => [...records].map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

describe('a log after a crash', () => {
  let root: string;
  let dataDir: string;
  let logDir: string;
  let log: LmdbLog | undefined;

  beforeEach(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-crash-'));
    dataDir = path.join(root, 'data');
    logDir = path.join(dataDir, 'log');
  });
  afterEach(async () => {
    await log?.close();
    log = undefined;
    fs.rmSync(root, { recursive: true });
  });

  const segments = () => fs.readdirSync(logDir).toSorted();
  const open = async (segmentBytes = 1_000_000) => {
    log = await openLmdbLog({ dataDir, segmentBytes, lock: false });
    return log;
  };
  /** Records 1..10 in one segment, closed. */
  const ten = async () => {
    const made = await open();
    await made.start(started(1));
    await made.append(group(2, 10));
    await made.close();
  };
  const goesOn = async (from: number) => {
    const again = await open(1);
    expect(numbers(again.read(1))).to.deep.equal(upTo(from - 1));
    expect(await again.start(started(from))).to.equal('durable');
    expect(await again.append(group(from + 1, from + 3))).to.equal('durable');
    expect(await again.append(group(from + 4, from + 5))).to.equal('durable');
    expect(numbers(again.read(1))).to.deep.equal(upTo(from + 5));
    await again.close();
    expect(numbers((await open()).read(1))).to.deep.equal(upTo(from + 5));
  };

  describe('while rolling over', () => {
    it('goes on after the successor was made', async () => {
      await ten();
      expect(await createSegment(logDir, 2)).to.equal(true);
      await goesOn(11);
    });

    it('goes on after the seal was written', async () => {
      await ten();
      await createSegment(logDir, 2);
      await seal(11);
      await goesOn(11);
      expect(segments()).to.include('00000002-0');
    });

    it('goes on after half of a successor was made', async () => {
      await ten();
      fs.mkdirSync(path.join(logDir, 'tmp-abc'));
      fs.writeFileSync(path.join(logDir, 'tmp-abc', 'data.mdb'), 'half');
      const again = await open();
      expect(numbers(again.read(1))).to.deep.equal(upTo(10));
      expect(segments()).to.deep.equal(['00000001-0', 'tmp-abc']); // Opening changes nothing.
      await again.start(started(11));
      expect(segments()).to.deep.equal(['00000001-0']);
    });

    it('is refused when the seal names a successor that was never made', async () => {
      await ten();
      await seal(11);
      let told: unknown;
      await open().catch((error: unknown) => {
        told = error;
      });
      expect(told).to.have.property('code', 'LOG_CORRUPT');
      expect(told).to.have.property('seq', 11);
    });

    it('fences a writer that believes in the segment before', async () => {
      await ten();
      const stale = await open();
      const other = new OtherProcess('append', dataDir, '400');
      try {
        expect(await other.line()).to.equal('durable');
        let line: string | undefined = '';
        while (line !== undefined && !line.startsWith('durable 1211')) line = await other.line();
      } finally {
        await other.end();
      }
      expect(segments().length).to.be.greaterThan(1);
      expect(await stale.append(group(11, 13))).to.equal('fenced');
      await stale.close();
      expect((await open()).lastNumber).to.equal(1_211);
    });

    async function seal(key: number): Promise<void> {
      const chain = new Segments(logDir);
      const { count, hash } = chain.tally(chain.live);
      chain.close();
      const environment = new Environment(path.join(logDir, '00000001-0'));
      const mark = encodeMark(key, { kind: 'seal', count, hash, successor: 2 });
      expect(environment.commit(key, key - 1, [[key, mark]])).to.equal('written');
      await environment.close(5_000);
    }
  });

  describe('while rewriting', () => {
    const odd = ({ seq }: LogRecord) => seq % 2 === 1;

    it('takes the new generation when the old one was not yet removed', async () => {
      const made = await open(1);
      await made.start(started(1));
      for (let from = 2; from < 12; from += 2) await made.append(group(from, from + 1));
      const before = path.join(root, 'before');
      fs.cpSync(logDir, before, { recursive: true });
      for (const segment of made.sealed()) await made.rewrite(segment, odd);
      const expected = numbers(made.read(1));
      await made.close();
      expect(segments()).to.include('00000002-1').and.not.include('00000002-0');
      fs.cpSync(before, logDir, { recursive: true });
      const again = await open();
      const late = await open();
      expect(numbers(again.read(1))).to.deep.equal(expected);
      await again.start(started(12));
      const ofSecond = () => segments().filter((name) => name.startsWith('00000002'));
      expect(ofSecond()).to.deep.equal(['00000002-1']);
      // Who is not the writer removes nothing.
      const name = '00000002-0';
      fs.cpSync(path.join(before, name), path.join(logDir, name), { recursive: true });
      expect(await late.start(started(12))).to.equal('fenced');
      expect(ofSecond()).to.deep.equal([name, '00000002-1']);
    });
  });

  it('holds what was acknowledged when its writer was killed', async () => {
    let last = 0;
    for (let round = 0; round < 4; round++) {
      const other = new OtherProcess('append', dataDir, '100000');
      expect(await other.line()).to.equal('durable');
      let acknowledged = 0;
      const until = last + 60 + Math.floor(Math.random() * 900);
      while (acknowledged < until) acknowledged = Number((await other.line())?.split(' ')[1]);
      await other.end();
      const again = await open();
      expect(again.lastNumber).to.be.at.least(acknowledged);
      last = again.lastNumber;
      expect(numbers(again.read(1))).to.deep.equal(upTo(last));
      await again.close();
    }
  });
});

describe('the directory of a log', () => {
  let root: string;
  beforeEach(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-dir-'));
  });
  afterEach(() => fs.rmSync(root, { recursive: true }));

  const refusal = async (dataDir: string): Promise<Error & { code?: string }> => {
    try {
      await (await openLmdbLog({ dataDir })).close();
    } catch (error) {
      return error as Error;
    }
    throw new Error(`${dataDir} was not refused`);
  };

  it('is made, for its owner alone', async () => {
    const dataDir = path.join(root, 'a', 'b');
    const log = await openLmdbLog({ dataDir });
    expect(log.created).to.equal(true);
    await log.start(started(1));
    await log.close();
    const again = await openLmdbLog({ dataDir });
    expect(again.created).to.equal(false);
    await again.close();
    const mode = (...names: string[]) => fs.statSync(path.join(dataDir, ...names)).mode & 0o777;
    expect([mode(), mode('log'), mode('log', '00000001-0')]).to.deep.equal([0o700, 0o700, 0o700]);
    for (const file of fs.readdirSync(path.join(dataDir, 'log', '00000001-0'))) {
      expect(mode('log', '00000001-0', file), file).to.equal(0o600);
    }
  });

  it('is refused by name when it is a file, or lies in one', async () => {
    const file = path.join(root, 'file');
    fs.writeFileSync(file, '');
    for (const dataDir of [file, path.join(file, 'data')]) {
      const error = await refusal(dataDir);
      expect(error.code).to.equal('LOG_DIRECTORY');
      expect(error.message).to.include(dataDir).and.to.include('--data-dir');
    }
    expect(fs.readFileSync(file, 'utf8')).to.equal('');
  });

  it('is refused when it cannot be written', async function () {
    const dataDir = path.join(root, 'data');
    fs.mkdirSync(dataDir, { mode: 0o500 });
    const asRoot = process.getuid?.() === 0;
    const mounted = asRoot
      ? spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', dataDir])
      : null;
    if (mounted !== null && mounted.status !== 0) {
      skip(this, 'root writes everywhere, and may not mount a directory to be read only');
    }
    try {
      const error = await refusal(dataDir);
      expect(error.code).to.equal('LOG_DIRECTORY');
      expect(error.message).to.include(dataDir).and.to.include('--data-dir');
    } finally {
      if (mounted !== null) spawnSync('umount', [dataDir]);
    }
  });
});
