// Seals over the lives of a log: what a writer counts itself, what it counted when it read the log
// at its start, and what it has to read again come to the same.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import { created, started } from './records.ts';

describe('the seals of a log', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-seals-'));
  });
  afterEach(() => fs.rmSync(dataDir, { recursive: true }));

  const numbers = (log: LmdbLog): number[] => [...log.read(1)].map(({ seq }) => seq);

  /** One life of the log: it is read, whole or not at all, and takes so many records. */
  async function live(records: number, isRead: boolean): Promise<void> {
    const log = await openLmdbLog({ dataDir, segmentBytes: 60_000 });
    try {
      if (isRead) numbers(log);
      expect(await log.start(started(log.lastNumber + 1))).to.equal('durable');
      const last = log.lastNumber + records;
      while (log.lastNumber < last) {
        const seq = log.lastNumber + 1;
        expect(await log.append([created(seq, 'p'.repeat(2_000))])).to.equal('durable');
      }
      const all = Array.from({ length: log.lastNumber }, (_, place) => place + 1);
      expect(numbers(log)).to.deep.equal(all);
    } finally {
      await log.close();
    }
  }

  for (const isRead of [true, false]) {
    it(`hold over several lives, ${isRead ? 'each read' : 'none read'} at its start`, async () => {
      // Some lives end within a segment, some go over several.
      for (const records of [3, 4, 100, 2, 60, 1]) await live(records, isRead);
      await live(0, true);
      const log = await openLmdbLog({ dataDir, segmentBytes: 60_000 });
      expect(log.sealed().length).to.be.greaterThan(4);
      await log.close();
    });
  }
});
