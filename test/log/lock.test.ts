// Holds the lock to what the kernel promises: one process at a time, as long as it lives.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { LogError } from '../../src/log/log.ts';
import { OtherProcess } from './processes.ts';
import { started } from './records.ts';

describe('log/lock', () => {
  let dataDir: string;
  let holder: OtherProcess;

  beforeEach(async () => {
    dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-lock-'));
    holder = new OtherProcess('lock', dataDir);
    expect(await holder.line()).to.equal('holding');
  });
  afterEach(async () => {
    await holder.end();
    fs.rmSync(dataDir, { recursive: true });
  });

  const refusal = async (directory: string): Promise<unknown> => {
    try {
      await (await openLmdbLog({ dataDir: directory })).close();
      return undefined;
    } catch (error) {
      return error;
    }
  };

  it('refuses a second process, naming the directory', async () => {
    const error = await refusal(dataDir);
    expect(error).to.be.instanceOf(LogError).with.property('code', 'LOG_LOCKED');
    expect((error as Error).message).to.include(fs.realpathSync(dataDir));
  });

  it('refuses by the directory, not by the path to it', async () => {
    const link = `${dataDir}-link`;
    fs.symlinkSync(dataDir, link);
    try {
      expect(await refusal(link)).to.have.property('code', 'LOG_LOCKED');
    } finally {
      fs.unlinkSync(link);
    }
  });

  it('refuses while the holder is stopped', async () => {
    holder.signal('SIGSTOP');
    expect(await refusal(dataDir)).to.have.property('code', 'LOG_LOCKED');
    holder.signal('SIGCONT');
  });

  it('is free at once when the holder was killed', async () => {
    await holder.end();
    expect(await refusal(dataDir)).to.equal(undefined);
  });

  it('is free again after closing, and held within one process too', async () => {
    await holder.end();
    const log = await openLmdbLog({ dataDir });
    expect(await refusal(dataDir)).to.have.property('code', 'LOG_LOCKED');
    expect(await log.start(started(1))).to.equal('durable');
    await log.close();
    expect(await refusal(dataDir)).to.equal(undefined);
  });
});
