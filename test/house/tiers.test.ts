// Holds the tiers of the suite to one another: what `npm test` plays a part of, `npm run proofs`
// plays whole.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';

const script = readFileSync(path.join('scripts', 'test.mjs'), 'utf8');

/** @returns the names in a list of the script. */
function listed(name: string): string[] {
  const [, list = ''] = new RegExp(`^const ${name} = \\[([^\\]]*)\\];$`, 'm').exec(script) ?? [];
  const names = [...list.matchAll(/'([^']+)'/g)].map(([, one]) => String(one));
  expect(names, name).to.not.deep.equal([]);
  return names;
}

const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => name.split(path.sep).join('/'));

describe('the tiers', () => {
  it('play whole in proofs what a short round plays in parts', () => {
    const proofs = [...listed('PROOFS'), ...listed('WITH_INSTALLATIONS')];
    const inParts = tests.filter((name) =>
      /'[./]*\/support\/tier\.ts'/.test(readFileSync(path.join('test', name), 'utf8')),
    );
    expect(inParts.length).to.be.greaterThan(20);
    inParts.push(...tests.filter((name) => listed('BY_DAYS').some((one) => name.startsWith(one))));
    const lost = inParts.filter((name) => !proofs.some((proof) => name.startsWith(proof)));
    expect(lost).to.deep.equal([]);
  });

  it('name files and folders that exist', () => {
    for (const list of [
      'LONG',
      'WITH_PROCESSES',
      'WITHOUT',
      'WITH_INSTALLATIONS',
      'BY_DAYS',
      'PROOFS',
    ]) {
      const gone = listed(list).filter((part) => !tests.some((name) => name.startsWith(part)));
      expect(gone, list).to.deep.equal([]);
    }
  });
});
