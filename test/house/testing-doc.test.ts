// Holds the internals' TESTING.md to what there is: every file and every command that it names
// exists.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const text = readFileSync(path.join(ROOT, 'docs', 'internals', 'TESTING.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

describe('docs/internals/TESTING.md', () => {
  it('names files that exist', () => {
    const named = [...text.matchAll(/\b[\w/.-]+\.(?:test\.)?(?:ts|js)\b/g)].map(([name]) =>
      name.replace(/^dist\//, '').replace(/\.js$/, '.ts'),
    );
    const places = ['', 'test/reliability', 'src/log', 'test/simulator'];
    const missing = named.filter(
      (name) => !places.some((place) => existsSync(path.join(ROOT, place, name))),
    );
    expect(named.length).to.be.greaterThan(15);
    expect(missing).to.deep.equal([]);
  });

  it('names commands that exist, and every soak there is', () => {
    const commands = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name as string);
    for (const name of commands) expect(scripts, name).to.have.property(name);
    const list = path.join(ROOT, 'scripts', 'soak.mjs');
    const listed = execFileSync(process.execPath, [list], { encoding: 'utf8' });
    const soaks = listed.trim().split(': ')[1]?.split(' ');
    const named = [...text.matchAll(/`soak -- (\w+)`/g)].map(([, name]) => name as string);
    expect([...new Set(named)]).to.have.members(soaks as string[]);
  });

  it('names every proof of test/reliability', () => {
    const proofs = readdirSync(path.join(ROOT, 'test', 'reliability'));
    for (const name of proofs.filter((file) => file.endsWith('.test.ts'))) {
      expect(text).to.include(name);
    }
  });
});
