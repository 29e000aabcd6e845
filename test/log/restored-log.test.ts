// A log that was restored from a copy stays one that can be told from a log whose history was
// removed: the numbers that it left free are known as such in every form that the log takes.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { openArchive } from '../../src/log/archive.ts';
import { copyLog } from '../../src/log/copy-log.ts';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import { grow, numbers, SEGMENT_BYTES } from './growing.ts';
import { started } from './records.ts';

const GAP = 1_000_000;

describe('the gap of a restored log', () => {
  let root: string;
  let dataDir: string;
  let log: LmdbLog;
  /** The first start after the gap. */
  let start: number;

  beforeEach(async () => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-restored-'));
    dataDir = path.join(root, 'data');
    log = await openLmdbLog({ dataDir, segmentBytes: SEGMENT_BYTES, lock: false });
    await log.start(started(1));
    await grow(log, 15);
    start = log.lastNumber + 1 + GAP;
    await log.start(started(start));
    await grow(log, 30);
  });
  afterEach(async () => {
    await log.close();
    fs.rmSync(root, { recursive: true });
  });

  async function isKnownIn(directory: string): Promise<void> {
    const reader = await openLmdbReader(directory);
    try {
      expect(reader.get(start)?.type).to.equal('CoordinatorStarted');
      expect(reader.skippedBefore(start)).to.equal(GAP);
      for (const seq of numbers(reader.read(1))) {
        if (seq !== start) expect(reader.skippedBefore(seq), `before ${seq}`).to.equal(0);
      }
    } finally {
      await reader.close();
    }
  }

  it('is known when the history around it was removed', async () => {
    for (const segment of log.sealed()) {
      await log.rewrite(segment, ({ seq }) => seq % 10 === 5 || seq === start);
    }
    expect(log.dropped.has(start - GAP - 1), 'the numbers before the gap').to.equal(true);
    expect(log.skippedBefore(start)).to.equal(GAP);
    await isKnownIn(dataDir);
    while ((await log.merge()) !== undefined);
    expect(log.skippedBefore(start)).to.equal(GAP);
    await isKnownIn(dataDir);
  });

  it('is known in a copy and in an archive', async () => {
    const copy = path.join(root, 'copy');
    await copyLog(dataDir, copy);
    await isKnownIn(copy);
    const kept = path.join(root, 'archive');
    const archive = await openArchive(kept, log);
    for (const segment of log.sealed()) await archive.keep(segment);
    await archive.close();
    await isKnownIn(kept);
  });
});
