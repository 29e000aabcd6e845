// Holds the product to what it loads at its start: whoever does not use etcd waits for nothing of
// gRPC. Imports that are carried out when a file is loaded are followed; `import()` and types are
// not.

import { posix } from 'node:path';
import { expect } from 'chai';
import { files } from './sources.ts';

const GRPC = 'src/log/etcd/grpc-etcd.ts';
// `import { type A }` counts: the compiler leaves an import of the file behind.
const AT_ONCE = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?\bfrom\s+)?'(\.[^']+)'/gm;
const ENTRIES = /^(src\/cli\/main|src\/index|actors\/\w+\/[\w-]+-(thread|ingress))\.ts$/;

const texts = new Map(files.map(({ path, text }) => [path, text]));
const importsAtOnce = (path: string, text: string): string[] =>
  [...text.matchAll(AT_ONCE)].map(([, to]) => posix.join(posix.dirname(path), to as string));

/** @returns the way from an entry to the file, undefined when there is none. */
function wayTo(target: string, entry: string): readonly string[] | undefined {
  const ways: string[][] = [[entry]];
  const seen = new Set([entry]);
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const last = way.at(-1) as string;
    if (last === target) return way;
    for (const next of importsAtOnce(last, texts.get(last) ?? '')) {
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

describe('what is loaded at a start', () => {
  it('is nothing of gRPC', () => {
    const entries = [...texts.keys()].filter((path) => ENTRIES.test(path));
    expect(entries.length).to.be.greaterThan(4);
    const ways = entries.flatMap((entry) => wayTo(GRPC, entry)?.join(' → ') ?? []);
    expect(ways).to.deep.equal([]);
  });

  it('is followed through imports of every form', () => {
    expect(wayTo('src/log/log.ts', 'src/log/lmdb-log.ts')).to.deep.equal([
      'src/log/lmdb-log.ts',
      'src/log/log.ts',
    ]);
    expect(wayTo('src/log/codec.ts', 'src/log/etcd/replicated-log.ts')).not.to.equal(undefined);
    const found = (text: string) => importsAtOnce('src/a.ts', text);
    expect(found("import { a } from './b.ts';")).to.deep.equal(['src/b.ts']);
    expect(found("import {\n  a,\n} from './b.ts';")).to.deep.equal(['src/b.ts']);
    expect(found("import { type A } from './b.ts';")).to.deep.equal(['src/b.ts']);
    expect(found("export * from './b.ts';")).to.deep.equal(['src/b.ts']);
    expect(found("import './b.ts';")).to.deep.equal(['src/b.ts']);
    expect(found("import type { A } from './b.ts';")).to.deep.equal([]);
    expect(found("const { a } = await import('./b.ts');")).to.deep.equal([]);
  });
});
