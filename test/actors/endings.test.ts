// What a server that cannot listen says of the data directory.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { withOwner } from '../../actors/supervisor/endings.ts';
import { isLocked, lockDirectory } from '../../src/log/lock.ts';

describe('a server that cannot listen', () => {
  it('says that the data directory is taken, too, where that is so', async () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-owner-'));
    const taken = { ok: false, code: 'EADDRINUSE', message: 'choose another port' } as const;
    const lock = await lockDirectory(dir);
    try {
      const said = await withOwner(taken, dir, isLocked);
      expect(said).to.equal(
        `choose another port. A coordinator already runs on ${dir}: ` +
          'to start a second one, choose another --data-dir, too',
      );
      expect(await withOwner({ ...taken, code: 'EACCES' }, dir, isLocked)).to.equal(taken.message);
      expect(await withOwner(taken, path.join(dir, 'none'), isLocked)).to.equal(taken.message);
    } finally {
      await lock.release();
    }
    expect(await withOwner(taken, dir, isLocked)).to.equal(taken.message);
    fs.rmSync(dir, { recursive: true });
  });
});
