// Holds the project to the oldest Node that package.json asks for. The compiler knows what the
// language has there. It does not know what Node itself has only since a later version, because
// the types are those of a later one; that is listed here.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { files } from './sources.ts';

const engineOf = (folder: string): string => {
  const manifest = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  return String(manifest.engines.node).replace('>=', '');
};
const OLDEST = engineOf('');

/** What came to Node after 20.0, by the version of its documentation. */
const SINCE: readonly (readonly [version: string, pattern: RegExp])[] = [
  ['20.1', /\breaddir(Sync)?\(.*\brecursive\b/],
  ['20.1', /\bgetDefaultResultOrder\b/],
  ['20.3', /\bAbortSignal\.any\b/],
  ['20.4', /\bSymbol\.(asyncD|d)ispose\b|\b(await )?using \w+ =/],
  ['20.4', /\bmock\.timers\b/],
  ['20.5', /\baddAbortListener\b/],
  ['20.6', /\bimport\.meta\.resolve\b/],
  ['20.6', /--env-file\b/],
  ['20.10', /\bwith \{ type: 'json' \}/],
  ['20.11', /\bimport\.meta\.(dir|file)name\b/],
  ['20.12', /\.parentPath\b/],
  ['20.12', /\bstyleText\b|\bparseEnv\b|\bloadEnvFile\b|\bappendHeader\b|\bnode:sea\b/],
  ['20.12', /\bcrypto\.hash\(|\{[^}]*\bhash\b[^}]*\} from 'node:crypto'/],
  ['20.13', /\bavailableMemory\b|\bqueryObjects\b/],
  ['20.15', /\bcrc32\b[^;]* from 'node:zlib'|\bzlib\.crc32\b/],
  ['20.16', /\bgetBuiltinModule\b|\ballowNegative\b|\.bytes\(\)(?=.*\b[Bb]lob\b)/],
  ['20.17', /\bduplexPair\b|\bmatchesGlob\b|\bsetKeyCert\b/],
  ['20.18', /\bURL\.parse\(|\bDONT_CONTEXTIFY\b|\ballowPartialTrustChain\b/],
  ['21.0', /\b(Object|Map)\.groupBy\b|\bnavigator\./],
  ['22.0', /\bPromise\.(withResolvers|try)\b|\bArray\.fromAsync\b|\bnew WebSocket\(/],
  ['22.0', /\bglob(Sync)?\b[^;]* from 'node:fs|\bfs\.glob/],
  ['22.9', /\bgetCallSites?\b|\bpostMessageToThread\b/],
];

const asNumber = (version: string): number => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 1_000 + minor;
};

/** What of a text the oldest Node does not have, with the version that has it. */
function tooNewIn(text: string, oldest: string): string[] {
  return SINCE.filter(([version]) => asNumber(version) > asNumber(oldest)).flatMap(
    ([version, pattern]) => {
      const [found] = pattern.exec(text) ?? [];
      return found === undefined ? [] : [`${found} (Node ${version})`];
    },
  );
}

describe('the oldest Node', () => {
  it('is the same in every place that names it', () => {
    expect(engineOf('tools/')).to.equal(OLDEST);
    const pages = ['README.md', 'src/client/README.md', 'CHANGELOG.md'];
    const named = pages.map((page) => {
      const text = files.find(({ path }) => path === page)?.text ?? '';
      return [page, /\bNode (\d+(?:\.\d+)?)\s+(?:or|and)\s+newer/.exec(text)?.[1]];
    });
    expect(named).to.deep.equal(pages.map((page) => [page, OLDEST]));
  });

  it('has all that the code uses', () => {
    const code = files.filter(({ path }) =>
      /^(src|actors|scripts|test|bench|docs\/examples)\/.*\.(ts|mjs|cjs)$/.test(path),
    );
    expect(code.length).to.be.greaterThan(300);
    const own = 'test/house/node-version.test.ts';
    const found = code
      .filter(({ path }) => path !== own)
      .flatMap(({ path, text }) => tooNewIn(text, OLDEST).map((what) => `${path}: ${what}`));
    expect(found).to.deep.equal([]);
  });

  it('would be found out', () => {
    const found = (text: string, oldest = '20.0'): string[] => tooNewIn(text, oldest);
    const any = 'const both = AbortSignal.any([one, other]);';
    expect(found(any)).to.deep.equal(['AbortSignal.any (Node 20.3)']);
    expect(found(any, '20.3')).to.deep.equal([]);
    expect(found('path.join(entry.parentPath, entry.name)', '20.9')).to.have.length(1);
    expect(found("import { crc32 } from 'node:zlib';", '20.9')).to.have.length(1);
    expect(found("import { createHash, hash } from 'node:crypto';", '20.9')).to.have.length(1);
    expect(found('Promise.withResolvers<void>()', '20.19')).to.have.length(1);
    expect(found('readdirSync(dir, { recursive: true })')).to.have.length(1);
    expect(found('mkdirSync(dir, { recursive: true })')).to.deep.equal([]);
  });
});
