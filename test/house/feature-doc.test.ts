// Holds the internals' ADDING-A-FEATURE.md to what there is: every file that it names exists, and
// every file through which the option goes that it takes for its example is named.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { filesIn } from './sources.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const text = readFileSync(path.join(ROOT, 'docs', 'internals', 'ADDING-A-FEATURE.md'), 'utf8');
const named = new Set(
  [...text.matchAll(/`((?:src|test|bench|docs|actors)\/[\w/.-]+)`/g)].map(([, name]) => `${name}`),
);
/** The example's option, not the pauses of the client library that are called alike. */
const OPTION = /delay_ms|not_before|notBefore|request\.delayMs|readonly delayMs/;

describe('docs/internals/ADDING-A-FEATURE.md', () => {
  it('names files that exist', () => {
    expect(named.size).to.be.greaterThan(35);
    expect([...named].filter((name) => !existsSync(path.join(ROOT, name)))).to.deep.equal([]);
  });

  it('names every file through which the option of its example goes, 12 at most', () => {
    const through = filesIn('src')
      .filter((file) => OPTION.test(file.text))
      .map((file) => file.path);
    expect(through.length).to.be.within(6, 12);
    expect(through.filter((name) => !named.has(name))).to.deep.equal([]);
  });

  it('takes a plain option through 12 files at most, and names them', () => {
    const plain = text.slice(text.indexOf('## A plain option'), text.indexOf('## A feature that'));
    const rows = plain.split('\n').filter((line) => line.startsWith('| `'));
    const files = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)]);
    expect(files.length).to.be.within(8, 12);
    for (const [, name] of files)
      expect(existsSync(path.join(ROOT, `${name}`)), name).to.equal(true);
  });

  it('says that nothing of it is built, which is so', () => {
    expect(text).to.include('**Nothing of it is built**');
    const table = readFileSync(path.join(ROOT, 'src/model/coordinator-operations.ts'), 'utf8');
    expect(table).not.to.match(/priority/i);
  });
});
