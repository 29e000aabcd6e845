// Holds the tiers of the suite to one another: what `npm test` plays in part, or not each day,
// `npm run proofs` plays whole.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';

interface Run {
  readonly files: readonly string[];
}
type Lists = 'WITH_PROCESSES' | 'WITHOUT' | 'ON_DISK' | 'BY_DAYS' | 'DAILY' | 'PROOFS';
type Others = 'LONG' | 'LONGEST' | 'WITH_INSTALLATIONS';
type Tiers = Readonly<Record<Lists | Others, readonly string[]>> & {
  readonly DAYS: number;
  runsOf(tier: string, all: readonly string[], day: number): readonly Run[];
};

const script = pathToFileURL(path.resolve('scripts', 'tiers.mjs')).href;
const { DAYS, runsOf, ...lists } = (await import(script)) as Tiers;

const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => name.split(path.sep).join('/'))
  .sort();
const played = (tier: string, day = 0): string[] =>
  runsOf(tier, tests, day).flatMap(({ files }) => files);
const days = Array.from({ length: DAYS }, (_, day) => played('test', 20_000 + day));
const proofs = new Set(played('proofs'));

describe('the tiers', () => {
  it('play whole in proofs what a short round plays in parts', () => {
    const inParts = tests.filter((name) =>
      /'[./]*\/support\/tier\.ts'/.test(readFileSync(path.join('test', name), 'utf8')),
    );
    expect(inParts.length).to.be.greaterThan(20);
    expect(inParts.filter((name) => !proofs.has(name))).to.deep.equal([]);
  });

  it('play in proofs what is not played each day', () => {
    const seldom = tests.filter((name) => !days.every((day) => day.includes(name)));
    expect(seldom.length).to.be.greaterThan(20);
    expect(seldom.filter((name) => !proofs.has(name))).to.deep.equal([]);
  });

  it('play each file within so many days, but for whole installations', () => {
    const never = tests.filter((name) => !days.some((day) => day.includes(name)));
    const installs = (name: string): boolean =>
      lists.WITH_INSTALLATIONS.some((part) => name.startsWith(part));
    expect(never).to.deep.equal(tests.filter(installs));
  });

  it('play no file twice, and quick within test', () => {
    const quick = played('quick');
    const onDisk = tests.filter((name) => lists.ON_DISK.some((part) => name.startsWith(part)));
    expect(quick.filter((name) => onDisk.includes(name))).to.deep.equal([]);
    for (const files of [quick, played('proofs'), ...days]) {
      expect(new Set(files).size).to.equal(files.length);
    }
    for (const day of days) expect(day).to.include.members(quick);
  });

  it('name files and folders that exist', () => {
    for (const [name, list] of Object.entries(lists)) {
      const gone = list.filter((part) => !tests.some((test) => test.startsWith(part)));
      expect(gone, name).to.deep.equal([]);
    }
  });
});
