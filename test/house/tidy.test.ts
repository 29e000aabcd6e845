// The style of the house as a test. Each rule is a function over one file, and each has examples
// that it must find, so that no rule can pass by seeing nothing. That functions stay below 70 lines
// is the linter's to say; who may import whom stands in layers.test.ts.

import { expect } from 'chai';
import { files, importsOf, type SourceFile } from './sources.ts';

interface Rule {
  readonly name: string;
  readonly applies: RegExp;
  /** What is wrong with the file, one string a finding. */
  find(file: SourceFile): readonly string[];
  /** Texts that must be found, each alone in a file that the rule applies to. */
  readonly examples: readonly string[];
  readonly examplePath: string;
}

const CODE = /^(src|actors|test|bench|scripts)\/.*\.(ts|mjs|cjs)$/;

/** Finds a pattern line by line. Comments count: what must not be said is not said there either. */
const lineRule = (
  name: string,
  applies: RegExp,
  pattern: RegExp,
  examplePath: string,
  examples: readonly string[],
): Rule => ({
  name,
  applies,
  examplePath,
  examples,
  find: ({ lines }) =>
    lines.flatMap((line, index) => (pattern.test(line) ? [`${index + 1}: ${line.trim()}`] : [])),
});

const lengthRule = (name: string, applies: RegExp, examplePath: string, max: number): Rule => ({
  name: `${name} have at most ${max} lines`,
  applies,
  examplePath,
  examples: ['a line\n'.repeat(max + 1)],
  find: ({ lines }) => (lines.length > max ? [`${lines.length} lines`] : []),
});

const packageRule = (packages: readonly string[], where: RegExp, home: string): Rule => ({
  name: `only ${home} imports ${packages.join(' and ')}`,
  applies: /^(src|actors)\//,
  examplePath: 'src/elsewhere.ts',
  examples: packages.map((name) => `import * as it from '${name}';`),
  find: (file) =>
    where.test(file.path)
      ? []
      : importsOf(file)
          .filter(({ to }) => packages.some((name) => to === name || to.startsWith(`${name}/`)))
          .map(({ to }) => `imports ${to}`),
});

// Letters stand in brackets, and examples in pieces, where this file would break its own rules.
const LEFTOVER = /\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b/;
const WORDS: Record<string, string> = {
  'jo[b]s?': 'task',
  'blackl[i]st|whitel[i]st': 'deny list, allow list',
  'sanity che[c]k': 'what it checks',
  'leverag[e]|seamles[s]|blazin[g]|cutting-edg[e]': 'the fact, with its figure',
  'obviousl[y]|of cours[e]': 'nothing: leave it out',
};

const rules: readonly Rule[] = [
  lengthRule('sources', /^(src|actors|scripts|bench)\/.*\.(ts|mjs|cjs)$/, 'src/a.ts', 250),
  lengthRule('tests', /^test\/.*\.ts$/, 'test/a.test.ts', 400),
  lineRule('lines have at most 100 columns', CODE, /^.{101}/u, 'src/a.ts', ['x'.repeat(101)]),
  {
    name: 'a file opens by saying what it owns',
    applies: /^(src|actors|test|bench|scripts)\/.*\.(ts|mjs|cjs)$/,
    examplePath: 'src/a.ts',
    examples: ["import { a } from './a.ts';", '', '//\nconst a = 1;'],
    find: ({ lines }) => {
      const first = lines[0]?.startsWith('#!') ? lines[1] : lines[0];
      return /^(\/\/|\/\*\*) \S/.test(first ?? '') ? [] : ['no opening comment'];
    },
  },
  lineRule(
    'the model, the core, explain and the protocol have no clock and no dice',
    /^src\/(model|core|explain|protocol)\//,
    /\bnew Date\(\)|\bDate\.now\b|\bMath\.random\b|\bperformance\b|\bcrypto\.random/,
    'src/core/a.ts',
    ['const at = Date.now();', 'new Date()', 'Math.random()', 'performance.now()'],
  ),
  lineRule(
    'only actors/shared/clock.ts reads the wall clock',
    /^(src\/|actors\/(?!shared\/clock\.ts$))/,
    /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.timeOrigin\b/,
    'src/client/a.ts',
    ['const at = Date.now();', 'const clock = Date.now;', 'new Date().getTime()'],
  ),
  packageRule(['lmdb'], /^src\/log\/lmdb\//, 'src/log/lmdb'),
  packageRule(
    ['@grpc/grpc-js', '@grpc/proto-loader'],
    /^src\/log\/etcd\/grpc-etcd\.ts$/,
    'src/log/etcd/grpc-etcd.ts',
  ),
  packageRule(
    ['comlink'],
    /^actors\/shared\/(control-port|comlink\.d)\.ts$/,
    'actors/shared/control-port.ts',
  ),
  packageRule(
    ['piscina'],
    /^(actors\/supervisor\/pool|src\/client\/handler-pool)\.ts$/,
    "the supervisor's pool and the client's handler-pool",
  ),
  lineRule('nothing is left over', CODE, LEFTOVER, 'src/a.ts', [`// ${'TO'}DO: later`]),
  lineRule(
    'no test is singled out or left out in its source',
    /^test\//,
    RegExp('\\b(describe|context|it|specify)\\.(onl[y]|ski[p])\\('),
    'test/a.test.ts',
    [`it.${'only'}('a', () => {});`, `describe.${'skip'}('a', () => {});`],
  ),
  lineRule(
    'no test has less time than .mocharc.cjs gives each: a busy machine is slow',
    /^test\//,
    RegExp('(this|\\))\\.timeou[t]\\(([0-9]{1,2}|1[0-7][0-9])_000\\)'),
    'test/a.test.ts',
    [`}).timeout${'('}60_000);`, `this.timeout${'('}120_000);`],
  ),
  lineRule(
    'no path of one machine stands in the project',
    /./,
    RegExp('(^|[^\\w.])/(wor[k]|far[m]|hom[e]|root|tm[p]/wt)(/|-)'),
    'docs/a.md',
    [`see ${'/wo'}rk/main`, `'${'/ho'}me/ann/leasehold'`],
  ),
  ...Object.entries(WORDS).map(([word, instead]) =>
    lineRule(
      `the word ${word.replace(/[[\]?]/g, '').split('|')[0]} gives way to ${instead}`,
      /^(src|actors|docs)\/|^README\.md$/,
      RegExp(`\\b(${word})\\b`, 'i'),
      'docs/a.md',
      [
        `a ${word
          .replace(/[[\]?]/g, '')
          .split('|')
          .at(-1)} here`,
      ],
    ),
  ),
];

const asFile = (path: string, text: string): SourceFile => ({
  path,
  text,
  lines: text.replace(/\n$/, '').split('\n'),
});

describe('tidy', () => {
  for (const rule of rules) {
    it(rule.name, () => {
      for (const example of rule.examples) {
        const file = asFile(rule.examplePath, example);
        expect(rule.applies.test(file.path), `${rule.examplePath} is looked at`).to.equal(true);
        expect(rule.find(file), `finds: ${example.slice(0, 60)}`).to.have.length.greaterThan(0);
      }
      const found = files
        .filter(({ path }) => rule.applies.test(path))
        .flatMap((file) => rule.find(file).map((what) => `${file.path}: ${what}`));
      expect(found).to.deep.equal([]);
    });
  }

  it('has looked at the whole project', () => {
    const paths = files.map(({ path }) => path);
    expect(paths).to.include.members(['package.json', 'CHANGELOG.md', 'src/model/records.ts']);
    expect(paths.filter((path) => CODE.test(path)).length).to.be.greaterThan(30);
  });
});
