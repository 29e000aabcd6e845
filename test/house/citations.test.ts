// Holds the project to what its readers have. A rule may be called by its number (R12) where
// docs/internals/DECISIONS.md is at hand: in comments and in the pages for maintainers. Pages for
// users, help texts and printed output say the rule in words.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { statesPage, transitionsText } from '../../src/play/transitions-text.ts';
import { files } from './sources.ts';

const CITATION = /\b[SR]\d{1,2}[a-z]?\b/g;
const FOR_MAINTAINERS = /^docs\/internals\//;
const CODE = /^(src|actors|test|bench|scripts)\/.*\.(ts|mjs|cjs)$/;
const PAGE = /^(README|CHANGELOG|docs\/.*)\.md$/;
/** A comment, or what stands behind one. */
const COMMENT = /^\s*(\/\/|\/?\*)|\s\/\/ |\/\*\*? .*\*\//;

const decisions = files.find(({ path }) => path.endsWith('/DECISIONS.md'));
const decided = new Set(
  [...(decisions?.text ?? '').matchAll(/^- \*\*(R\d+[a-z]?)\*\*/gm)].map(([, name]) => name),
);

const citationsIn = (text: string): string[] => text.match(CITATION) ?? [];

/** Citations that whoever reads this line cannot look up. */
function lostIn(path: string, line: string): string[] {
  const found = citationsIn(line);
  if (PAGE.test(path) && !FOR_MAINTAINERS.test(path)) return found;
  const mayCite = FOR_MAINTAINERS.test(path) || (CODE.test(path) && COMMENT.test(line));
  return mayCite ? found.filter((name) => !decided.has(name)) : found;
}

describe('citations', () => {
  it('name what the reader can look up', () => {
    const looked = files.filter(({ path }) => CODE.test(path) || PAGE.test(path));
    const lost = looked.flatMap(({ path, lines }) =>
      lines.flatMap((line, index) =>
        lostIn(path, line).map((name) => `${path}:${index + 1}: ${name}`),
      ),
    );
    expect(looked.length).to.be.greaterThan(300);
    expect(lost).to.deep.equal([]);
  });

  it('do not stand in what is printed', () => {
    const readme = readFileSync('README.md', 'utf8');
    for (const text of [statesPage(), transitionsText(), readme]) {
      expect(citationsIn(text)).to.deep.equal([]);
    }
  });

  it('would be found out', () => {
    expect(decided.size).to.be.greaterThan(30);
    expect(lostIn('docs/WORKERS.md', `as ${'R'}12 says`)).to.have.length(1);
    expect(lostIn('docs/internals/ADDING-A-FEATURE.md', `(${'S'}3 §2)`)).to.have.length(1);
    expect(lostIn('src/a.ts', `// The order is a ruling (${'R'}99).`)).to.have.length(1);
    expect(lostIn('src/a.ts', `const text = 'see ${'R'}12';`)).to.have.length(1);
    expect(lostIn('src/a.ts', `/** Once (${'R'}12). */`)).to.deep.equal([]);
  });
});
