// Damages the files of a log while nobody has it open: each damage is refused in words that name a
// record, or changes nothing. Never is something else given as what was written.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { encodeRecord } from '../../src/log/codec.ts';
import { copyLog } from '../../src/log/copy-log.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import {
  type Log,
  LogCorrupt,
  LogError,
  type LogReader,
  type SealedSegment,
} from '../../src/log/log.ts';
import { rewriteEntry } from './lmdb-faults.ts';
import { created, started } from './records.ts';

const LAST = 400;
/** More of them: FLIPS=20000 npx mocha dist/test/log/lmdb-damage.test.js */
const FLIPS = Number(process.env['FLIPS'] ?? 150);

const open = (dataDir: string): Promise<Log> => openLmdbLog({ dataDir, segmentBytes: 60_000 });
const bytesOf = (log: LogReader): string[] =>
  [...log.read(1)].map((record) => Buffer.from(encodeRecord(record)).toString('base64'));

/** What opening and reading it comes to: the records, or the error. */
async function read(dataDir: string, how: (dir: string) => Promise<LogReader>) {
  let log: LogReader | undefined;
  try {
    log = await how(dataDir);
    return { last: log.lastNumber, records: bytesOf(log) };
  } catch (error) {
    if (error instanceof LogCorrupt || error instanceof LogError) return error;
    throw error;
  } finally {
    await log?.close();
  }
}

describe('a damaged log', () => {
  let original: string;
  let expected: string[];
  let directory: string;
  let dataDir: string;
  const segment = (name: string, file = 'data.mdb') => path.join(dataDir, 'log', name, file);

  before(async () => {
    original = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-sound-'));
    const log = await open(original);
    await log.start(started(1));
    for (let seq = 2; seq <= LAST; seq += 3) {
      const large = seq % 50 === 0 ? 9_000 : 40;
      const records = [seq, seq + 1, seq + 2].filter((n) => n <= LAST);
      await log.append(records.map((n) => created(n, 'p'.repeat(large))));
    }
    expected = bytesOf(log);
    expect(log.sealed().length).to.be.within(2, 8);
    await log.close();
  });
  after(() => fs.rmSync(original, { recursive: true }));

  beforeEach(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-damaged-'));
    dataDir = path.join(directory, 'data');
    fs.cpSync(original, dataDir, { recursive: true });
  });
  afterEach(() => fs.rmSync(directory, { recursive: true }));

  const names = () => fs.readdirSync(path.join(dataDir, 'log')).toSorted();
  /** The segment in which the log ends: one made ahead of need may follow it. */
  const live = () => names().findLast((name) => fs.statSync(segment(name)).size > 16_384) as string;

  async function refused(): Promise<{ opened: Error; shown: Error }> {
    const opened = await read(dataDir, open);
    const shown = await read(dataDir, openLmdbReader);
    expect(opened).to.be.instanceOf(Error);
    expect(shown).to.be.instanceOf(Error);
    return { opened: opened as Error, shown: shown as Error };
  }

  it('is none when nothing was damaged', async () => {
    for (const how of [open, openLmdbReader]) {
      expect(await read(dataDir, how)).to.deep.equal({ last: LAST, records: expected });
    }
  });

  it('is refused when its newest file was cut in half; what is before can be saved', async () => {
    const file = segment(live());
    fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2));
    const { opened } = await refused();
    expect(opened).to.be.instanceOf(LogCorrupt);
    expect(opened.message).to.match(/record \d+: cannot read .*data\.mdb: it is cut off/);
    const { seq } = opened as LogCorrupt;
    const target = path.join(directory, 'saved');
    expect((await copyLog(dataDir, target, { until: seq - 1 })).last).to.equal(seq - 1);
    const saved = await read(target, open);
    expect(saved).to.deep.equal({ last: seq - 1, records: expected.slice(0, seq - 1) });
  });

  for (const [what, from, to] of [
    ['its first meta page is zeroed', 0, 4_096],
    ['its second meta page is zeroed', 4_096, 8_192],
    ['a file is emptied', 0, Number.POSITIVE_INFINITY],
  ] as const) {
    it(`is refused when ${what}`, async () => {
      const bytes = fs.readFileSync(segment(live()));
      const end = Math.min(to, bytes.length);
      fs.writeFileSync(segment(live()), end < to ? Buffer.alloc(0) : bytes.fill(0, from, end));
      const { opened, shown } = await refused();
      expect(opened.message).to.match(/record \d+: cannot read .*(meta page|cut off)/);
      expect(shown.message).to.equal(opened.message);
    });
  }

  it('is refused when a segment is missing', async () => {
    const first = names()[0] as string;
    const missing: [string, RegExp][] = [
      [live(), /record \d+: segment \d+, in which the log goes on after segment \d+, is missing/],
      [names()[1] as string, /record \d+: segment 2, in which the log goes on .* is missing/],
    ];
    for (const [name, words] of missing) {
      const away = path.join(directory, name);
      fs.renameSync(path.dirname(segment(name)), away);
      expect((await refused()).opened.message, name).to.match(words);
      fs.renameSync(away, path.dirname(segment(name)));
    }
    fs.renameSync(path.dirname(segment(first)), path.join(directory, first));
    expect((await refused()).shown.message).to.match(/record 1: it is missing/);
  });

  it('is refused when segments changed places, or an older copy of one came back', async () => {
    const [one, two] = names() as [string, string];
    fs.renameSync(path.dirname(segment(one)), path.join(directory, 'one'));
    fs.renameSync(path.dirname(segment(two)), path.dirname(segment(one)));
    fs.renameSync(path.join(directory, 'one'), path.dirname(segment(two)));
    expect((await refused()).opened.message).to.match(/is not the segment that its name says/);
  });

  it('is refused when an older copy of a segment knows of none after it', async () => {
    fs.rmSync(dataDir, { recursive: true });
    const first = await open(dataDir);
    await first.start(started(1));
    await first.append([created(2, 'p')]);
    await first.close();
    const [name] = names() as [string];
    const older = path.join(directory, 'older');
    fs.cpSync(path.dirname(segment(name)), older, { recursive: true });
    const log = await open(dataDir);
    for (let seq = 3; names().length < 2 || log.sealed().length === 0; seq += 1) {
      await log.append([created(seq, 'p'.repeat(9_000))]);
    }
    const { last } = log.sealed()[0] as SealedSegment;
    await log.append([created(log.lastNumber + 1, 'p')]);
    await log.close();
    expect(names().length).to.equal(2);
    fs.rmSync(path.dirname(segment(name)), { recursive: true });
    fs.cpSync(older, path.dirname(segment(name)), { recursive: true });
    const { opened, shown } = await refused();
    expect(opened.message).to.match(/record 3: segment 1 goes on without a seal/);
    expect(shown.message).to.equal(opened.message);
    expect(last).to.be.greaterThan(3);
  });

  it('is refused by its seal when another sound record took the place of one', async () => {
    const other = encodeRecord(created(5, 'q'.repeat(40)));
    await rewriteEntry(dataDir, 5, () => other);
    const log = await open(dataDir);
    try {
      const [first] = log.sealed();
      const rewriting = log.rewrite(first as SealedSegment, ({ seq }) => seq !== 4);
      const told = await rewriting.catch((error: unknown) => error);
      expect(told).to.be.instanceOf(LogCorrupt).with.property('seq', first?.last);
      // Nothing was removed: the damage can still be looked at.
      expect(log.get(4)?.seq).to.equal(4);
      expect(() => [...log.read(1)]).to.throw(LogCorrupt, 'not what its seal says');
    } finally {
      await log.close();
    }
  });

  it('is sound without its lock files, as a copy of the data files is', async () => {
    for (const name of names()) fs.rmSync(segment(name, 'lock.mdb'));
    for (const how of [openLmdbReader, open]) {
      expect(await read(dataDir, how)).to.deep.equal({ last: LAST, records: expected });
    }
  });

  it(`never shows anything else for ${FLIPS} flipped bits`, async function () {
    this.timeout(180_000 + FLIPS * 200);
    const files = names().map((name) => segment(name));
    let refusals = 0;
    for (let flip = 0; flip < FLIPS; flip++) {
      const file = files[flip % files.length] as string;
      const bytes = fs.readFileSync(file);
      // Every third one in the head of a page, where the fields that LMDB believes are.
      const bit = Math.floor(Math.random() * (flip % 3 === 0 ? 4_096 : bytes.length * 8));
      const page = Math.floor(Math.random() * (bytes.length / 4_096)) * 4_096;
      const at = flip % 3 === 0 ? page + (Math.floor(bit / 8) % 200) : Math.floor(bit / 8);
      bytes[at] = (bytes[at] as number) ^ (1 << (bit & 7));
      fs.writeFileSync(file, bytes);
      for (const how of [openLmdbReader, open]) {
        const found = await read(dataDir, how);
        if (found instanceof Error) refusals += 1;
        else
          expect(found, `${file} byte ${at} bit ${bit & 7}`).to.deep.equal({
            last: LAST,
            records: expected,
          });
      }
      bytes[at] ^= 1 << (bit & 7);
      fs.writeFileSync(file, bytes);
    }
    expect(refusals).to.be.greaterThan(FLIPS / 10);
  });
});
