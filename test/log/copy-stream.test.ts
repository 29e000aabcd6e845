// A log that is sent as it stands in a directory, and the copy that is made of what comes.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { receiveLog } from '../../src/log/copy-received.ts';
import { sentLog } from '../../src/log/copy-sent.ts';
import { encodeFrame, framesOf } from '../../src/log/copy-wire.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import { created, started } from './records.ts';

async function* parts(chunks: Iterable<Uint8Array>, size = 1_000_000) {
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
  }
}

async function textOf(dataDir: string): Promise<string> {
  const log = await openLmdbReader(dataDir);
  const text = [...log.read(1)].map((record) => JSON.stringify(record)).join('\n');
  await log.close();
  return text;
}

describe('a log that is sent to another machine', () => {
  let dir: string;
  const at = (name: string): string => path.join(dir, name);
  const beside = (): void => {};
  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-sent-'));
  });
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

  /** Several small segments. */
  async function written(records: number): Promise<string> {
    const log = await openLmdbLog({ dataDir: at('source'), segmentBytes: 65_536 });
    await log.start(started(1));
    for (let seq = 2; seq <= records; seq += 100) {
      const last = Math.min(records, seq + 99);
      await log.append(Array.from({ length: last - seq + 1 }, (_, n) => created(seq + n)));
    }
    await log.close();
    return at('source');
  }

  it('takes the largest record that there can be, in small chunks', async () => {
    const largest = Buffer.alloc(64 * 1_024 * 1_024 + 70_000, 'p');
    const rows = [[7, largest]] as const;
    const frames = [];
    for await (const frame of framesOf(parts([encodeFrame({ kind: 'rows', rows })], 65_536))) {
      frames.push(frame);
    }
    expect(frames).to.have.length(1);
    const [frame] = frames;
    const [key, bytes] = (frame?.kind === 'rows' && frame.rows[0]) || [];
    expect(key).to.equal(7);
    expect(bytes && Buffer.compare(bytes, largest)).to.equal(0);
  });

  it('arrives record by record, in however many pieces', async () => {
    const source = await written(3_001);
    expect(fs.readdirSync(path.join(source, 'log')).length).to.be.greaterThan(3);
    for (const size of [977, 100_000_000]) {
      const target = at(`copy-${size}`);
      const copied = await receiveLog(parts(sentLog(source), size), target, { beside });
      expect(copied).to.include({ records: 3_001, last: 3_001, leftBehind: 0, goneBy: 0 });
      expect(await textOf(target)).to.equal(await textOf(source));
      // A writer goes on with it.
      const log = await openLmdbLog({ dataDir: target, segmentBytes: 65_536 });
      expect(await log.start(started(3_002))).to.equal('durable');
      await log.close();
    }
  });

  it('is what was there at the beginning, also while it is written to', async () => {
    const source = await written(500);
    const log = await openLmdbLog({ dataDir: source, segmentBytes: 65_536 });
    await log.start(started(501));
    const growing = function* () {
      let seq = 502;
      for (const chunk of sentLog(source)) {
        yield chunk;
        for (let n = 0; n < 20; n += 1, seq += 1) void log.append([created(seq)]);
      }
    };
    const copied = await receiveLog(parts(growing()), at('copy'), { beside });
    expect(copied).to.include({ records: 501, last: 501 });
    await log.close();
  });

  it('is what was there at the beginning, also when that is rewritten and merged', async () => {
    const source = await written(12_001);
    expect(fs.readdirSync(path.join(source, 'log')).length).to.be.greaterThan(20);
    const before = await textOf(source);
    const log = await openLmdbLog({ dataDir: source, segmentBytes: 65_536 });
    const chunks = sentLog(source);
    const begin = chunks.next().value as Buffer;
    await log.start(started(12_002));
    const more = Array.from({ length: 600 }, (_, n) => created(12_003 + n));
    for (let at = 0; at < more.length; at += 100) await log.append(more.slice(at, at + 100));
    for (const segment of [...log.sealed()]) await log.rewrite(segment, ({ seq }) => seq % 9 === 0);
    while ((await log.merge()) !== undefined);
    expect(log.dropped.has(12_001)).to.equal(true);
    const rest = function* () {
      yield begin;
      yield* chunks;
    };
    const copied = await receiveLog(parts(rest()), at('copy'), { beside });
    expect(copied).to.include({ records: 12_001, last: 12_001, leftBehind: 0, goneBy: 0 });
    expect(await textOf(at('copy'))).to.equal(before);
    await log.close();
  });

  it('leaves nothing when it breaks off anywhere', async () => {
    const source = await written(1_000);
    const whole = Buffer.concat([...sentLog(source)]);
    fs.mkdirSync(at('target'));
    const before = fs.readdirSync(dir);
    const cuts = [0, 3, 5, 60, whole.length / 3, whole.length / 2, whole.length - 1].map(
      Math.floor,
    );
    for (const cut of cuts) {
      const received = receiveLog(parts([whole.subarray(0, cut)]), at('target'), { beside });
      const error = await received.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error, `cut at ${cut}`).to.have.property('code', 'LOG_IO');
      expect(fs.readdirSync(dir)).to.deep.equal(before);
      expect(fs.readdirSync(at('target'))).to.deep.equal([]);
    }
  });

  it('is not believed when a byte is another one', async () => {
    const source = await written(300);
    const whole = Buffer.concat([...sentLog(source)]);
    for (let place = 40; place < whole.length; place += Math.floor(whole.length / 20)) {
      const bytes = Buffer.from(whole);
      bytes[place] = (bytes[place] as number) ^ 0x10;
      const outcome = await receiveLog(parts([bytes]), at('copy'), { beside }).then(
        () => 'taken',
        ({ code }: { code?: string }) => code,
      );
      expect(outcome, `byte ${place}`).to.match(/^LOG_(CORRUPT|IO|FORMAT_NEWER)$/);
      expect(fs.existsSync(at('copy'))).to.equal(false);
    }
  });

  it('of another form, or something else, is refused', async () => {
    const begin = encodeFrame({ kind: 'begin', begin: { format: 2, last: 1 } });
    const html = Buffer.from('<html>not found</html>');
    const wild = encodeFrame({
      kind: 'part',
      part: { ordinal: '../../x' as never, generation: 0, dropped: [], removedAt: 0 },
    });
    const good = encodeFrame({ kind: 'begin', begin: { format: 1, last: 1 } });
    for (const [chunks, code] of [
      [[begin], 'LOG_FORMAT_NEWER'],
      [[html], 'LOG_IO'],
      [[good, wild], 'LOG_IO'],
      [[good, good], 'LOG_IO'],
    ] as const) {
      const error = await receiveLog(parts(chunks), at('copy'), { beside }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.have.property('code', code);
    }
    expect(fs.readdirSync(dir)).to.deep.equal([]);
  });
});
