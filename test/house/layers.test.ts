// Who may import whom. A direction that is not in the table is a violation, also for types, and a
// folder that is not in the table is one too: whoever adds a part decides where it stands.

import { expect } from 'chai';
import { filesIn, type Import, importsOf } from './sources.ts';

interface Layer {
  /** The modules that it is made of; the first layer that matches has the module. */
  readonly has: RegExp;
  /** Modules of ours beyond the layer itself that it may import. */
  readonly mayImport: RegExp;
  /** Packages and node: modules that it may import; undefined: any. */
  readonly packages?: RegExp;
}

const NOTHING = /^$/;
const CORE_WORDS = 'src/core/(records|assert|knobs)';

const layers: Record<string, Layer> = {
  protocol: {
    has: /^src\/protocol\//,
    mayImport: RegExp(`^${CORE_WORDS}\\.ts$`),
    packages: /^(typebox|ajv)(\/|$)|^node:(crypto|buffer)$/,
  },
  core: {
    has: /^src\/core\//,
    mayImport:
      /^src\/protocol\/(request|response|refusal|ids|limits|bytes|explanation|time-text)\.ts$/,
    packages: NOTHING,
  },
  mailbox: {
    has: /^src\/mailbox\//,
    mayImport: /^src\/protocol\/bytes\.ts$/,
    packages: /^node:worker_threads$/,
  },
  log: { has: /^src\/log\//, mayImport: /^src\/core\/|^src\/protocol\/bytes\.ts$/ },
  reader: { has: /^src\/reader\//, mayImport: /^src\/(core|protocol)\/|^src\/log\/log\.ts$/ },
  metrics: {
    has: /^src\/metrics\//,
    mayImport: /^src\/protocol\/|^src\/histogram\.ts$/,
    packages: NOTHING,
  },
  learn: { has: /^src\/learn\//, mayImport: /^src\/(core|protocol|demo|client|errors)/ },
  client: { has: /^src\/client\//, mayImport: /^src\/protocol\/|^src\/errors\.ts$/ },
  cli: { has: /^src\/cli\//, mayImport: /^(src|actors)\// },
  demo: { has: /^src\/demo\//, mayImport: /^src\/index\.ts$|^src\/cli\/record-line\.ts$/ },
  'public interface': { has: /^src\/index\.ts$/, mayImport: /^src\/(client|protocol|errors)/ },
  tables: { has: /^src\/(errors|knobs)\.ts$/, mayImport: RegExp(`^${CORE_WORDS}\\.ts$`) },
  'coordinator loop': {
    has: /^src\/[^/]+\.ts$/,
    mayImport: /^src\/(core|protocol)\/|^src\/log\/log\.ts$|^src\/errors\.ts$/,
    packages: NOTHING,
  },
  actors: { has: /^actors\//, mayImport: /^src\/(?!cli\/|client\/|index\.ts)/ },
};

const layerOf = (path: string) =>
  Object.entries(layers).find(([, { has }]) => has.test(path))?.[0] ?? `no layer (${path})`;

function violation({ from, to, ours }: Import): string | undefined {
  const name = layerOf(from);
  const layer = layers[name];
  if (layer === undefined) return `${from} is in no layer`;
  const allowed = ours
    ? layer.has.test(to) || layer.mayImport.test(to)
    : (layer.packages?.test(to) ?? true);
  return allowed ? undefined : `${name}: ${from} imports ${to}`;
}

describe('layers', () => {
  const modules = filesIn('src', 'actors');
  const imports = modules.flatMap(importsOf);

  it('hold for every import of src and actors', () => {
    const violations = imports.map(violation).filter((found) => found !== undefined);
    expect(violations).to.deep.equal([]);
  });

  it('have a place for every module', () => {
    const homeless = modules.filter(({ path }) => layerOf(path).startsWith('no layer'));
    expect(homeless.map(({ path }) => path)).to.deep.equal([]);
  });

  it('were checked over all modules, not over none', () => {
    expect(modules.length).to.be.greaterThan(20);
    expect(imports.filter(({ ours }) => ours).length).to.be.greaterThan(modules.length / 2);
    const known = new Set(modules.map(({ path }) => path));
    const dangling = imports
      .filter(({ to, ours }) => ours && /^(src|actors)\/.*\.ts$/.test(to) && !known.has(to))
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(dangling).to.deep.equal([]);
  });

  const forbidden: [path: string, text: string][] = [
    ['src/core/apply.ts', "import { open } from '../log/lmdb-log.ts';"],
    ['src/core/apply.ts', "import { randomUUID } from 'node:crypto';"],
    ['src/core/apply.ts', "export * from '../protocol/parse.ts';"],
    ['src/protocol/parse.ts', "import type {\n  State,\n} from '../core/state.ts';"],
    ['src/mailbox/mailbox.ts', "import { invariant } from '../core/assert.ts';"],
    ['src/log/codec.ts', "import { Client } from '../client/client.ts';"],
    ['src/coordinator.ts', "import { openLmdbLog } from './log/lmdb-log.ts';"],
    ['src/coordinator.ts', "const late = await import('../actors/clock.ts');"],
    ['actors/coordinator.ts', "import { serve } from '../src/cli/serve.ts';"],
    ['src/client/client.ts', "import 'node:fs';\nimport '../core/apply.ts';"],
    ['src/client/client.ts', "new Worker(new URL('../../actors/timer.ts', import.meta.url));"],
  ];
  for (const [path, text] of forbidden) {
    it(`refuse ${text.split('\n').at(-1)} in ${path}`, () => {
      const found = importsOf({ path, text }).map(violation);
      expect(found.filter(Boolean)).to.have.length(1);
    });
  }
});
