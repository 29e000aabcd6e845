// Breaks the device under a log in ways of its own: an error of the very last write of a commit, a
// write that does not come back, a disk that is full. What was acknowledged must be there after.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import { LogError } from '../../src/log/log.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { skip } from '../support/skip.ts';
import { breakDataFile } from './lmdb-faults.ts';
import { OtherProcess } from './processes.ts';
import { created, group, started } from './records.ts';

const numbers = (records: Iterable<LogRecord>) => [...records].map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

/** A bound against hanging: a device that is only slow must not be given up. */
const STALL_MS = 60_000;

describe('a log on a device that fails', () => {
  let dataDir: string;
  let log: LmdbLog | undefined;
  let other: OtherProcess | undefined;

  beforeEach(() => {
    dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-fails-'));
  });
  afterEach(async () => {
    await other?.end();
    await log?.close().catch(() => {});
    log = undefined;
    fs.rmSync(dataDir, { recursive: true });
  });

  it('acknowledges nothing more when its file was removed', async () => {
    log = await openLmdbLog({ dataDir, stallMs: STALL_MS });
    await log.start(started(1));
    expect(await log.append(group(2, 4))).to.equal('durable');
    fs.rmSync(path.join(dataDir, 'log'), { recursive: true });
    const removed = log;
    expect(() => removed.append(group(5, 7))).to.throw('ENOENT');
    const reopened = await log.reopen().catch((error: Error) => error);
    expect(reopened).to.be.instanceOf(Error);
  });

  it('goes on after an error of the last write of a commit', async () => {
    log = await openLmdbLog({ dataDir, stallMs: STALL_MS });
    await log.start(started(1));
    breakDataFile(dataDir, 'meta');
    expect(await log.append(group(2, 4))).to.equal('failed');
    await log.reopen();
    expect(numbers(log.read(1))).to.deep.equal([1]);
    expect(await log.start(started(2))).to.equal('durable');
    expect(await log.append(group(3, 5))).to.equal('durable');
    expect(numbers(log.read(1))).to.deep.equal(upTo(5));
  });

  it('is read on after an error of the last write of a commit, not opened anew', async () => {
    log = await openLmdbLog({ dataDir, stallMs: STALL_MS });
    await log.start(started(1));
    await log.append(group(2, 4));
    breakDataFile(dataDir, 'meta');
    expect(await log.append(group(5, 7))).to.equal('failed');
    expect(log.get(3)?.seq).to.equal(3);
    expect(numbers(log.read(1))).to.deep.equal(upTo(4));
  });

  it('goes on after an error while a reader of the same process has the log open', async () => {
    log = await openLmdbLog({ dataDir, stallMs: STALL_MS });
    await log.start(started(1));
    const reader = await openLmdbReader(dataDir);
    breakDataFile(dataDir, 'meta');
    expect(await log.append(group(2, 4))).to.equal('failed');
    expect(numbers(reader.read(1))).to.deep.equal([1]);
    await log.reopen();
    expect(await log.start(started(2))).to.equal('durable');
    expect(numbers(reader.read(1))).to.deep.equal([1, 2]);
    await reader.close();
  });

  it('leaves LMDB nothing on the stack that its words for an error have no room for', async () => {
    other = new OtherProcess('refuse', dataDir, '40');
    const sizes = new Set<string | undefined>();
    for (let n = 0; n < 40; n += 1) {
      expect(await other.line()).to.equal('failed');
      sizes.add(await other.line());
    }
    sizes.delete('no sizes');
    expect([...sizes]).to.deep.equal(['buffer sizes 4096 0 0']);
  });

  it('waits within the commit for another process that holds the lock of LMDB', async () => {
    const told: boolean[] = [];
    const onCommit = (isUnderWay: boolean) => void told.push(isUnderWay);
    log = await openLmdbLog({ dataDir, onCommit });
    await log.start(started(1));
    other = new OtherProcess('hang', dataDir, '600');
    expect(await other.line()).to.equal('holding');
    told.length = 0;
    const began = performance.now();
    expect(log.append(group(2, 4))).to.equal('durable');
    expect(performance.now() - began).to.be.greaterThan(300);
    // Whoever watches was told before it could wait, and after.
    expect(told).to.deep.equal([true, false]);
    expect(numbers(log.read(1))).to.deep.equal(upTo(4));
  });

  describe('that is full', () => {
    let device: string;
    const ballast = () => path.join(device, 'ballast');

    beforeEach(function () {
      device = path.join(dataDir, 'device');
      fs.mkdirSync(device);
      const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4M', 'tmpfs', device]);
      if (status !== 0) skip(this, 'only root may mount');
      fs.writeFileSync(ballast(), Buffer.alloc(1_000_000));
    });
    afterEach(async () => {
      await log?.close();
      log = undefined;
      spawnSync('umount', [device]);
    });

    it('refuses appends, serves reads, and takes records when there is space again', async () => {
      log = await openLmdbLog({ dataDir: path.join(device, 'data') });
      await log.start(started(1));
      let last = 1;
      let result = '';
      while (result !== 'failed') {
        result = await log.append([created(last + 1, 'x'.repeat(100_000))]);
        if (result === 'durable') last += 1;
      }
      expect(last).to.be.greaterThan(10);
      for (let probe = 0; probe < 3; probe++) {
        await log.reopen();
        expect(log.lastNumber).to.equal(last);
        expect(numbers(log.read(1))).to.deep.equal(upTo(last));
        expect(await log.append([created(last + 1, 'x'.repeat(1_000_000))])).to.equal('failed');
      }
      await log.close();

      fillUp(path.join(device, 'rest'));
      log = await openLmdbLog({ dataDir: path.join(device, 'data') });
      expect(numbers(log.read(1))).to.deep.equal(upTo(last));
      expect(await log.append([created(last + 1, 'x'.repeat(100_000))])).to.equal('failed');
      await log.reopen();

      fs.rmSync(ballast());
      expect(await log.start(started(last + 1))).to.equal('durable');
      expect(await log.append(group(last + 2, last + 9))).to.equal('durable');
      expect(numbers(log.read(1))).to.deep.equal(upTo(last + 9));
    });

    it('refuses to begin a log, in words', async () => {
      fillUp(path.join(device, 'rest'));
      let told: unknown;
      await openLmdbLog({ dataDir: path.join(device, 'data') }).catch((error: unknown) => {
        told = error;
      });
      expect(told).to.be.instanceOf(LogError);
      expect(['LOG_IO', 'LOG_DIRECTORY']).to.include((told as LogError).code);
    });
  });
});

/** Writes until the device takes nothing more. */
function fillUp(file: string): void {
  for (let size = 1_048_576; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) fs.appendFileSync(file, Buffer.alloc(size));
    } catch {
      // Smaller pieces may still fit.
    }
  }
}
