// The package is whole: what its documents name is in it, its source maps carry their sources, and
// nothing is imported that it does not depend on.

import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { importsOf } from '../house/sources.ts';
import { manifestOf, type Packed, packed } from './packed.ts';

const IN_REPOSITORY =
  /(?<![\w/.@-])(?:src|actors|test|bench|scripts|docs|dist|tools|\.ci)\/[\w.*/-]*[\w*]/g;
const LINK = /\]\(([^)#\s]+)[^)]*\)/g;

/** Names of files that a page links to, or that stand in its text. */
function namesIn(page: string, text: string): string[] {
  const links = [...text.matchAll(LINK)]
    .map(([, link]) => String(link))
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => path.posix.join(path.posix.dirname(page), link));
  return [...links, ...(text.replace(LINK, ']').match(IN_REPOSITORY) ?? [])];
}

describe('the package', () => {
  let one: Packed;
  const read = (name: string): string => fs.readFileSync(path.join(one.dir, name), 'utf8');
  before(async () => {
    one = await packed();
  });

  it('has every file that its documents name', () => {
    const has = new Set(one.files);
    const pages = one.files.filter((name) => name.endsWith('.md'));
    const named = pages.flatMap((page) =>
      namesIn(page, read(page)).map((name) => ({ page, name: name.replace(/\/$/, '') })),
    );
    expect(pages.length).to.be.greaterThan(8);
    expect(named.length).to.be.greaterThan(20);
    expect(named.filter(({ name }) => !has.has(name))).to.deep.equal([]);
  });

  it('would be found to lack one', () => {
    const text =
      'See `src/core/apply.ts`, [it](internals/ARCHITECTURE.md#a) and https://a.b/docs/c.md.';
    expect(namesIn('docs/A.md', text)).to.deep.equal([
      'docs/internals/ARCHITECTURE.md',
      'src/core/apply.ts',
    ]);
  });

  it('has source maps that carry their sources', () => {
    const maps = one.files.filter((name) => name.endsWith('.map'));
    expect(maps.length).to.be.greaterThan(200);
    const empty = maps.filter((name) => {
      const { sources, sourcesContent } = JSON.parse(read(name)) as {
        sources: string[];
        sourcesContent?: (string | null)[];
      };
      return sources.some((_, index) => !sourcesContent?.[index]);
    });
    expect(empty).to.deep.equal([]);
  });

  it('imports nothing that it does not depend on, and has what it imports', () => {
    const { dependencies, peerDependencies } = manifestOf(one);
    const known = { ...dependencies, ...peerDependencies };
    const has = new Set(one.files);
    const code = one.files.filter((name) => name.endsWith('.js'));
    const imports = code.flatMap((name) => importsOf({ path: name, text: read(name) }));
    const strange = imports.filter(({ to, ours }) => {
      if (ours) return !has.has(to);
      const [scope = '', name = ''] = to.split('/');
      return !to.startsWith('node:') && !((to[0] === '@' ? `${scope}/${name}` : scope) in known);
    });
    expect(imports.length).to.be.greaterThan(500);
    expect(strange).to.deep.equal([]);
  });

  it('has what its declarations import', () => {
    const has = new Set(one.files);
    const declarations = one.files.filter((name) => name.endsWith('.d.ts'));
    const lacking = declarations.flatMap((name) =>
      importsOf({ path: name, text: read(name) })
        .filter(({ ours, to }) => ours && !has.has(to.replace(/\.[jt]s$/, '.d.ts')))
        .map(({ to }) => `${name}: ${to}`),
    );
    expect(declarations.length).to.be.greaterThan(200);
    expect(lacking).to.deep.equal([]);
  });

  it('needs no overrides, which do not travel with it', () => {
    expect(manifestOf(one).overrides).to.equal(undefined);
  });
});
