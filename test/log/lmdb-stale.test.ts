// LMDB keeps the number of its newest commit in memory that all processes share, and every process
// that opens an environment stores there what it read a moment ago. A commit that was made in that
// moment must not be replaced by the next one, whoever made it.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { PageFile } from '../../src/log/lmdb/page-file.ts';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { OtherProcess } from './processes.ts';
import { created, group, started } from './records.ts';

const SEGMENT = ['log', '00000001-0'];
const COMMITS = 1_500;
const numbers = (records: Iterable<LogRecord>) => [...records].map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

describe('a number of the newest commit that is not the newest', () => {
  let dataDir: string;
  const logs: LmdbLog[] = [];
  beforeEach(() => {
    dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-stale-'));
  });
  afterEach(async () => {
    for (const log of logs.splice(0)) await log.close();
    fs.rmSync(dataDir, { recursive: true });
  });

  const open = async (): Promise<LmdbLog> => {
    const log = await openLmdbLog({ dataDir, lock: false });
    logs.push(log);
    return log;
  };
  const newest = (): number => {
    const file = new PageFile(path.join(dataDir, ...SEGMENT, 'data.mdb'));
    file.close();
    return file.meta.transaction;
  };
  /** What an opening process does that read the file one commit ago. */
  const forgetNewest = (): void => {
    const lockFile = path.join(dataDir, ...SEGMENT, 'lock.mdb');
    const words = new BigInt64Array(Uint8Array.from(fs.readFileSync(lockFile)).buffer);
    const place = words.indexOf(BigInt(newest()));
    expect(place, 'the number stands in the lock file').to.be.within(0, 7);
    const fd = fs.openSync(lockFile, 'r+');
    fs.writeSync(fd, new BigInt64Array([BigInt(newest() - 1)]), 0, 8, place * 8);
    fs.closeSync(fd);
  };

  it('makes an append fail that would replace the group before', async () => {
    const log = await open();
    await log.start(started(1));
    await log.append(group(2, 4));
    await log.append(group(5, 7));
    forgetNewest();
    expect(await log.append(group(8, 9))).to.equal('failed');
    await log.reopen();
    expect(numbers(log.read(1))).to.deep.equal(upTo(7));
    expect(await log.start(started(8))).to.equal('durable');
    expect(await log.append(group(9, 10))).to.equal('durable');
    expect(numbers((await open()).read(1))).to.deep.equal(upTo(10));
  });

  it('makes an append fail that would replace the group of another writer', async () => {
    const stale = await open();
    await stale.start(started(1));
    await stale.append(group(2, 3));
    const next = await open();
    expect(await next.start(started(4))).to.equal('durable');
    forgetNewest();
    // Where it begins, number 4 is free and number 3 is there: all but the newest commit.
    expect(await stale.append([created(4, 'stale')])).to.equal('failed');
    const reader = await open();
    expect([...reader.read(4)].map(({ type }) => type)).to.deep.equal(['CoordinatorStarted']);
  });

  it(`harms none of ${COMMITS} commits beside a process that opens at any moment`, async () => {
    const log = await open();
    await log.start(started(1));
    const other = new OtherProcess('open', dataDir, '60000');
    expect(await other.line()).to.equal('opening');
    let failures = 0;
    for (let n = 0; n < COMMITS; n += 1) {
      const first = log.lastNumber + 1;
      const result = await log.append(group(first, first + 2));
      if (result === 'durable') continue;
      expect(result).to.equal('failed');
      failures += 1;
      await log.reopen();
      expect(log.lastNumber, 'nothing acknowledged is gone').to.equal(first - 1);
    }
    await other.end();
    expect(failures).to.be.lessThan(COMMITS / 10);
    expect(numbers((await open()).read(1))).to.deep.equal(upTo(1 + 3 * (COMMITS - failures)));
  });
});
