// What a copy that was broken off has left beside its target: removed when the process is gone, and
// left alone where somebody may still be writing.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { GrowingCopy, type Leftover } from '../../src/log/growing-copy.ts';

describe('a copy that grows', () => {
  let dir: string;
  let told: Leftover[];
  const target = (): string => path.join(dir, 'copy');
  const begin = () => GrowingCopy.begin(target(), (leftover) => told.push(leftover));
  const names = (): string[] => fs.readdirSync(dir);
  beforeEach(() => {
    told = [];
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-growing-'));
  });
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

  it('leaves nothing when it is closed, and all of it when it got its name', async () => {
    const first = await begin();
    fs.writeFileSync(path.join(first.path, 'file'), 'x');
    await first.close();
    expect(names()).to.deep.equal([]);
    const second = await begin();
    fs.writeFileSync(path.join(second.path, 'file'), 'y');
    await second.name(target());
    await second.close();
    expect(names()).to.deep.equal(['copy']);
    expect(fs.readFileSync(path.join(target(), 'file'), 'utf8')).to.equal('y');
    expect(told).to.deep.equal([]);
  });

  it('takes away what a process has left that is gone', async () => {
    const before = await begin();
    await before.close();
    // As if that process had been killed: its directory is there, and its lock is not.
    fs.mkdirSync(before.path);
    fs.writeFileSync(path.join(before.path, 'file'), 'x');
    const copy = await begin();
    expect(told).to.deep.equal([{ path: before.path, isRemoved: true }]);
    expect(names()).to.deep.equal([path.basename(copy.path)]);
    await copy.close();
  });

  it('leaves alone what another process is writing, and is refused', async () => {
    const living = await begin();
    const refused = await begin().catch((error: { code: string }) => error.code);
    expect(refused).to.equal('LOG_LOCKED');
    expect(names()).to.deep.equal([path.basename(living.path)]);
    await living.close();
    await (await begin()).close();
  });

  it('says where it cannot be made', async () => {
    fs.writeFileSync(target(), 'x');
    const inFile = path.join(target(), 'copy');
    const told = await GrowingCopy.begin(inFile, () => {}).catch(({ message }) => message);
    expect(told).to.include(`cannot keep a log in ${target()}: it is a file`);
  });

  it('leaves alone what may belong to another machine, and says so', async () => {
    const elsewhere = path.join(dir, 'copy.part-00000000-abcdef');
    fs.mkdirSync(elsewhere);
    fs.mkdirSync(path.join(dir, 'copy.parts'));
    fs.mkdirSync(path.join(dir, 'other.part-00000000-abcdef'));
    const copy = await begin();
    expect(told).to.deep.equal([{ path: elsewhere, isRemoved: false }]);
    await copy.close();
    expect(names()).to.have.length(3);
  });
});
