// Holds the making of directories to what `mkdir -p` does, and to an end where nothing may be made.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { makeDirectory } from '../../src/make-directory.ts';
import { need } from '../reliability/machine.ts';

const MODE = 0o700;

describe('making a directory', () => {
  let dir: string;
  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-make-'));
  });
  afterEach(() => fs.rmSync(dir, { recursive: true }));

  it('makes all that lead to it, and tells the first', () => {
    const whole = path.join(dir, 'a', 'b', 'c');
    expect(makeDirectory(whole, MODE)).to.equal(path.join(dir, 'a'));
    expect(fs.statSync(whole).mode & 0o777).to.equal(MODE);
    expect(makeDirectory(whole, MODE)).to.equal(undefined);
  });

  it('refuses a file, and what would lie below one', () => {
    const file = path.join(dir, 'file');
    fs.writeFileSync(file, '');
    expect(() => makeDirectory(file, MODE)).to.throw('EEXIST');
    expect(() => makeDirectory(path.join(file, 'below'), MODE)).to.throw('ENOTDIR');
  });

  it('ends where the system lets nobody make one', function () {
    need(this, 'linux');
    expect(() => makeDirectory('/proc/leasehold/log', MODE)).to.throw(/^E/);
  });
});
