// Reads a log while it grows: in the same process as its writer, over rollovers, and from another
// process. What the writer has not flushed is never seen.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import type { LogReader } from '../../src/log/log.ts';
import type { LogRecord } from '../../src/model/records.ts';

const created = (seq: number, bytes: number): LogRecord => ({
  type: 'TaskCreated',
  seq,
  at: 1_000 + seq,
  prev: 0,
  queue: 'q',
  payload: new Uint8Array(bytes).fill(seq % 251),
  executionWindowMs: 1_000,
  retryPolicy: { maxRetries: 0, backoffMs: 0, backoffFactor: 1 },
});

describe('a reader beside the writer', () => {
  let dataDir: string;
  let log: LmdbLog;
  let reader: LogReader;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'leasehold-reader-'));
    // What the device takes its time for says nothing of the reader.
    log = await openLmdbLog({ dataDir, segmentBytes: 128 * 1024, stallMs: 50_000 });
    await log.start({
      type: 'CoordinatorStarted',
      seq: 1,
      at: 1_000,
      prev: 0,
      formatVersion: 1,
      startedAt: 1_000,
    });
    reader = await openLmdbReader(dataDir);
  });
  afterEach(async () => {
    await reader.close();
    await log.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('sees each record once it is durable, over many rollovers', async () => {
    let seen = 1;
    for (let group = 0; group < 60; group += 1) {
      const first = log.lastNumber + 1;
      const records = Array.from({ length: 5 }, (_, index) => created(first + index, 4_000));
      expect(await log.append(records)).equal('durable');
      expect(reader.get(first + 4)).property('seq', first + 4);
      for (const { seq } of reader.read(seen + 1)) {
        expect(seq).equal(seen + 1);
        seen = seq;
      }
      expect(reader.lastNumber).equal(log.lastNumber);
    }
    expect(seen).equal(301);
    expect(reader.get(302)).equal(undefined);
    expect([...reader.read(1)].map(({ seq }) => seq)).deep.equal(
      Array.from({ length: 301 }, (_, index) => index + 1),
    );
    expect(reader.bytes().total).equal(log.bytes().total);
  });

  it('sees what was committed also after it read something older', async () => {
    expect(await log.append([created(2, 10)])).equal('durable');
    expect(reader.get(1)).property('seq', 1);
    expect(reader.get(2)).property('seq', 2);
    expect(await log.append([created(3, 10)])).equal('durable');
    expect([...reader.read(1, 2)]).length(2);
    expect(reader.lastNumber).equal(3);
  });

  it('follows a restored log over the numbers that it skips', async () => {
    expect(await log.append([created(2, 10)])).equal('durable');
    expect(reader.lastNumber).equal(2);
    const start = { type: 'CoordinatorStarted', at: 1_000, prev: 0, formatVersion: 1 } as const;
    expect(await log.start({ ...start, seq: 1_003, startedAt: 1_000 })).equal('durable');
    expect(reader.lastNumber).equal(1_003);
    // Known before anything is read: who follows the log asks for the ranges first.
    expect(reader.dropped.ranges).deep.equal([[3, 1_002]]);
    expect([...reader.read(1)].map(({ seq }) => seq)).deep.equal([1, 2, 1_003]);
    expect(reader.get(3)).equal(undefined);
  });

  it('shows no more than is known to be durable, where somebody knows', async () => {
    let known = 1;
    const careful = await openLmdbReader(dataDir, () => known);
    try {
      await log.append([created(2, 10), created(3, 10)]);
      expect(careful.lastNumber).equal(1);
      expect(careful.get(2)).equal(undefined);
      expect([...careful.read(1)]).length(1);
      known = 2;
      expect(careful.lastNumber).equal(2);
      expect(careful.get(2)).property('seq', 2);
      expect(careful.get(3)).equal(undefined);
      expect([...careful.read(1)]).length(2);
    } finally {
      await careful.close();
    }
  });

  it('reads from another process what is durable there', async () => {
    await log.append([created(2, 10), created(3, 10)]);
    const module = new URL('../../src/log/lmdb-reader.js', import.meta.url).href;
    const script =
      `const { openLmdbReader } = await import(${JSON.stringify(module)});` +
      `const log = await openLmdbReader(${JSON.stringify(dataDir)});` +
      'console.log([...log.read(1)].map(({ seq, type }) => seq + type).join(" "));' +
      'await log.close();';
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 120_000,
    });
    expect(out.trim()).equal('1CoordinatorStarted 2TaskCreated 3TaskCreated');
    expect(await log.append([created(4, 10)])).equal('durable');
  });

  it('goes on where it was when what it reads is rewritten, and has nothing twice', async () => {
    for (let group = 0; group < 40; group += 1) {
      const first = log.lastNumber + 1;
      await log.append(Array.from({ length: 5 }, (_, index) => created(first + index, 4_000)));
    }
    expect(log.sealed().length).above(3);
    const isKept = (seq: number): boolean => seq % 3 !== 0;
    const seen: number[] = [];
    for (const { seq } of reader.read(1)) {
      seen.push(seq);
      if (seq !== 7) continue;
      for (const segment of log.sealed()) await log.rewrite(segment, (each) => isKept(each.seq));
    }
    expect(seen).deep.equal(seen.toSorted((a, b) => a - b));
    expect(new Set(seen).size).equal(seen.length);
    const sealedTo = log.sealed().at(-1)?.last ?? 0;
    const mustBe = Array.from({ length: log.lastNumber }, (_, index) => index + 1).filter(
      (seq) => isKept(seq) || seq > sealedTo,
    );
    expect(seen).include.members(mustBe);
    expect([...reader.read(1)].map(({ seq }) => seq)).deep.equal(mustBe);
    expect(reader.get(9), 'dropped').equal(undefined);
    expect(reader.get(10)).property('seq', 10);
  });

  it('says that there is no log where there is none', async () => {
    const error = await openLmdbReader(join(dataDir, 'nothing')).catch((thrown: Error) => thrown);
    expect(error).property('code', 'LOG_DIRECTORY');
  });

  it('finds no log where a crash left half of the first segment', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'leasehold-half-'));
    mkdirSync(join(empty, 'log', 'tmp-abc'), { recursive: true });
    let told: unknown;
    await openLmdbReader(empty).catch((error: unknown) => {
      told = error;
    });
    expect(told).to.have.property('code', 'LOG_DIRECTORY');
    rmSync(empty, { recursive: true });
  });
});
