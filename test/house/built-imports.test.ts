// Holds the scripts that run on the built program to what it exports. The compiler does not read
// them, so a name that was moved is missed only when somebody runs the script.

import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect } from 'chai';
import { files } from './sources.ts';

const STATIC = /^import \{([^}]+)\} from '([^']*\bdist\/[^']+)';$/gm;
const DYNAMIC = /^const \{([^}]+)\} = await import\('([^']*\bdist\/[^']+)'\);$/gm;
const EXPORTED = /^export (?:async )?(?:const|let|function\*?|class) (\w+)|^export \{([^}]+)\}/gm;

interface Taken {
  readonly script: string;
  readonly name: string;
  readonly from: string;
}

function takenBy(script: string, text: string): Taken[] {
  return [...text.matchAll(STATIC), ...text.matchAll(DYNAMIC)].flatMap(([, names, to]) => {
    const from = posix.join(posix.dirname(script), to as string);
    return (names as string)
      .split(',')
      .map(
        (name) =>
          name
            .trim()
            .split(/ as |:/)[0]
            ?.trim() ?? '',
      )
      .filter((name) => name !== '')
      .map((name) => ({ script, name, from }));
  });
}

function exportsOf(path: string): Set<string> {
  const names = new Set<string>();
  for (const [, one, many] of readFileSync(path, 'utf8').matchAll(EXPORTED)) {
    const listed = many?.split(',').map((name) => name.split(' as ').at(-1)?.trim() ?? '');
    for (const name of listed ?? [one ?? '']) names.add(name);
  }
  return names;
}

const missing = ({ script, name, from }: Taken): string | undefined =>
  existsSync(from) && exportsOf(from).has(name) ? undefined : `${script}: ${name} of ${from}`;

describe('scripts that run on the built program', () => {
  const scripts = files.filter(({ path }) => path.endsWith('.mjs'));

  it('import what it exports', () => {
    const taken = scripts.flatMap(({ path, text }) => takenBy(path, text));
    // Scripts of two folders, in both ways.
    expect(new Set(taken.map(({ script }) => script)).size).to.be.greaterThan(10);
    expect(taken.flatMap((one) => missing(one) ?? [])).to.deep.equal([]);
  });

  it('would be found with a name that was moved', () => {
    const text = "import { rowOf, print } from '../../dist/bench/harness.js';";
    const found = takenBy('bench/peers/main.mjs', text).flatMap((one) => missing(one) ?? []);
    expect(found).to.deep.equal(['bench/peers/main.mjs: print of dist/bench/harness.js']);
  });
});
