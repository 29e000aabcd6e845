// Holds the build to what those rely on who run from dist/ while somebody else builds: it is there
// until the next one is whole, has no ghosts, and several builds at once do not spoil each other.

import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const execute = promisify(execFile);

describe('the build', function () {
  this.timeout(180_000);
  let root = '';
  const at = (...names: string[]): string => path.join(root, ...names);
  const build = () => execute(process.execPath, [at('scripts', 'build.mjs')]);
  const builtAt = (): number => statSync(at('dist', 'src', 'one.js')).mtimeMs;

  // Each goes on with what the one before it has left, for a build takes a second of a processor.
  before(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'leasehold-build-'));
    for (const folder of ['src', 'actors', 'test', 'bench', 'scripts']) mkdirSync(at(folder));
    cpSync(path.join('scripts', 'build.mjs'), at('scripts', 'build.mjs'));
    symlinkSync(path.resolve('node_modules'), at('node_modules'));
    writeFileSync(at('package.json'), '{"type":"module"}');
    writeFileSync(at('package-lock.json'), '{}');
    const compilerOptions = { module: 'nodenext', target: 'es2023', rootDir: '.', types: [] };
    writeFileSync(at('tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    writeFileSync(at('src', 'one.ts'), 'export const one = 1;\n');
    writeFileSync(at('src', 'two.ts'), 'export const two = 2;\n');
  });
  after(() => rmSync(root, { recursive: true }));

  it('says that it builds; does and says nothing when no source has changed', async () => {
    expect((await build()).stderr).to.equal('building …\n');
    const first = builtAt();
    expect((await build()).stderr).to.equal('');
    expect(builtAt()).to.equal(first);
  });

  it('leaves what was there when a source does not compile', async () => {
    const first = builtAt();
    writeFileSync(at('src', 'two.ts'), 'export const two: string = 2;\n');
    const failed = build().then(
      () => 0,
      (error: { code: number }) => error.code,
    );
    expect(await failed).to.equal(1);
    expect(builtAt()).to.equal(first);
    expect(readdirSync(root).filter((name) => name.startsWith('dist'))).to.deep.equal(['dist']);
  });

  it('leaves no ghost of a source that went', async () => {
    const first = builtAt();
    rmSync(at('src', 'two.ts'));
    await build();
    expect(builtAt()).to.be.greaterThan(first);
    expect(existsSync(at('dist', 'src', 'two.js'))).to.equal(false);
  });

  it('comes to a whole dist when several build at once, and after one was killed', async () => {
    mkdirSync(at('dist.building-999999999'));
    writeFileSync(at('src', 'two.ts'), 'export const two = 3;\n');
    await Promise.all([build(), build()]);
    expect(builtAt()).to.be.greaterThan(0);
    expect(existsSync(at('dist', 'src', 'two.js'))).to.equal(true);
    expect(readdirSync(root).filter((name) => name.startsWith('dist'))).to.deep.equal(['dist']);
  });
});
