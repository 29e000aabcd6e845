// Who may import whom. A direction that is not in the table is a violation, also for types, and a
// folder that is not in the table is one too: whoever adds a part decides where it stands.

import { expect } from 'chai';
import { filesIn, type Import, importsOf } from './sources.ts';

interface Layer {
  /** Folders and files of ours beyond itself; a folder does not include its subfolders. */
  readonly mayImport: readonly string[];
  /** Packages and node: modules that it may import; undefined: any. */
  readonly packages?: RegExp;
}

const NOTHING = /^$/;
const THE_PROMISE = 'src/log/log.ts';

/** One row a folder, or a file that lies in none. The longest row that fits has a module. */
const layers: Record<string, Layer> = {
  'src/model': { mayImport: [], packages: NOTHING },
  'src/core': { mayImport: ['src/model'], packages: NOTHING },
  'src/explain': { mayImport: ['src/model'], packages: NOTHING },
  'src/protocol': { mayImport: ['src/model'], packages: /^ajv(\/|$)|^node:(crypto|buffer)$/ },
  'src/mailbox': { mayImport: ['src/model'], packages: /^node:worker_threads$/ },
  'src/metrics': { mayImport: ['src/model', 'src/protocol'], packages: NOTHING },
  'src/log': { mayImport: ['src/model', 'src/log/segments', 'src/log/lmdb'] },
  'src/log/segments': {
    mayImport: ['src/model', 'src/log', 'src/log/lmdb', 'src/make-directory.ts'],
  },
  'src/log/lmdb': { mayImport: ['src/model', 'src/log'] },
  'src/log/etcd': { mayImport: ['src/model', 'src/log'] },
  'src/cluster': {
    mayImport: [...rooms('model', 'core', 'log', 'log/etcd', 'loop'), 'src/settings'],
    packages: /^node:(fs|path)$/,
  },
  'src/loop': {
    mayImport: ['src/model', 'src/core', 'src/metrics', THE_PROMISE],
    packages: NOTHING,
  },
  'src/reader': {
    mayImport: [...rooms('model', 'core', 'explain', 'protocol', 'loop'), THE_PROMISE],
  },
  'src/settings': { mayImport: ['src/model', 'src/protocol'] },
  'src/monotonic.ts': { mayImport: [], packages: NOTHING },
  'src/make-directory.ts': { mayImport: [], packages: /^node:(fs|path)$/ },
  'src/client': { mayImport: ['src/model', 'src/protocol', 'src/monotonic.ts'] },
  'src/index.ts': { mayImport: ['src/client', 'src/model'] },
  'src/rehearse': { mayImport: ['src/model', 'src/protocol', 'src/explain', 'src/play/demo'] },
  'src/testing': {
    mayImport: [
      ...rooms('model', 'core', 'log', 'loop', 'mailbox', 'protocol', 'reader', 'settings'),
      ...['http', 'ingress', 'reader', 'shared', 'supervisor'].map((actor) => `actors/${actor}`),
      'src/index.ts',
    ],
  },
  'src/play': { mayImport: ['src/model', 'src/play/demo'] },
  'src/play/demo': { mayImport: ['src/index.ts', 'src/model'] },
  'src/cli': {
    mayImport: [
      ...['model', 'core', 'explain', 'protocol', 'log', 'loop', 'reader', 'settings', 'client'],
      ...['play', 'play/demo', 'rehearse', 'cluster', 'log/etcd'],
    ]
      .map((room) => `src/${room}`)
      // The doctor compares the server's clock with the wall clock here.
      .concat('actors/supervisor', 'actors/shared/clock.ts'),
  },
  'actors/shared': {
    mayImport: [
      ...rooms('model', 'mailbox', 'metrics', 'protocol', 'loop', 'reader', 'settings'),
      'src/monotonic.ts',
    ],
  },
  'actors/coordinator': {
    mayImport: [
      ...rooms('model', 'core', 'log', 'loop', 'mailbox', 'metrics', 'protocol'),
      ...rooms('cluster', 'log/etcd', 'settings'),
      'actors/shared',
    ],
  },
  'actors/ingress': {
    mayImport: [...rooms('model', 'mailbox', 'metrics', 'protocol', 'reader'), 'actors/shared'],
  },
  'actors/http': {
    mayImport: [...rooms('model', 'mailbox', 'protocol'), 'actors/ingress', 'actors/shared'],
  },
  'actors/socket': {
    mayImport: [
      ...rooms('model', 'mailbox', 'protocol'),
      ...['actors/ingress', 'actors/shared', 'src/make-directory.ts'],
    ],
  },
  'actors/reader': {
    mayImport: [
      ...rooms('model', 'explain', 'log', 'protocol', 'reader'),
      // A copy says of which cluster's log it is.
      'src/cluster/mirror-note.ts',
      'actors/shared',
    ],
  },
  'actors/timer': { mayImport: ['src/mailbox', 'actors/shared'] },
  'actors/supervisor': {
    mayImport: [
      ...rooms('mailbox', 'settings'),
      ...['actors/ingress', 'actors/shared', 'actors/timer'],
    ],
  },
};

function rooms(...names: string[]): string[] {
  return names.map((name) => `src/${name}`);
}

const rows = Object.keys(layers).sort((a, b) => b.length - a.length);
const layerOf = (path: string): string =>
  rows.find((row) => path === row || path.startsWith(`${row}/`)) ?? `no layer (${path})`;

function violation({ from, to, ours }: Import): string | undefined {
  const name = layerOf(from);
  const layer = layers[name];
  if (layer === undefined) return `${from} is in no layer`;
  const allowed = ours
    ? layerOf(to) === name || layer.mayImport.includes(layerOf(to)) || layer.mayImport.includes(to)
    : (layer.packages?.test(to) ?? true);
  return allowed ? undefined : `${name}: ${from} imports ${to}`;
}

/** @returns each circle that a walk along the imports meets, as the files that it goes through. */
function circles(imports: readonly Import[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to, ours } of imports) {
    if (ours) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const found: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) found.push(way.slice(way.indexOf(path)).join(' → '));
    if (done.has(path) || way.includes(path)) return;
    for (const to of next.get(path) ?? []) walk(to, [...way, path]);
    done.add(path);
  };
  for (const path of next.keys()) walk(path, []);
  return found;
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

  it('let nobody import itself, over however many files, also for a type', () => {
    expect(circles([...imports, ...filesIn('bench').flatMap(importsOf)])).to.deep.equal([]);
  });

  it('see a circle within one room', () => {
    const around = ['src/core/a.ts', 'src/core/b.ts', 'src/core/c.ts'];
    const texts = [
      "import type { B } from './b.ts';",
      "export * from './c.ts';",
      "import './a.ts';",
    ];
    const found = around.flatMap((path, i) => importsOf({ path, text: texts[i] as string }));
    expect(circles(found)).to.deep.equal([around.join(' → ')]);
    expect(circles(found.slice(1))).to.deep.equal([]);
  });

  it('no base name stands twice, but that of a command and of what it shows', () => {
    const seen = new Map<string, string>();
    const twice: string[] = [];
    // A file of src/cli is named after its command; so a command may share the name of a thing.
    for (const { path } of modules.filter(({ path }) => !path.startsWith('src/cli/'))) {
      const base = path.slice(path.lastIndexOf('/') + 1);
      const other = seen.get(base);
      if (other !== undefined) twice.push(`${other} and ${path}`);
      seen.set(base, path);
    }
    expect(twice).to.deep.equal([]);
  });

  const forbidden: [path: string, text: string][] = [
    ['src/core/apply.ts', "import { open } from '../log/lmdb-log.ts';"],
    ['src/core/apply.ts', "import { randomUUID } from 'node:crypto';"],
    ['src/core/apply.ts', "export * from '../protocol/fields-to-request.ts';"],
    ['src/model/records.ts', "import type { State } from '../core/state.ts';"],
    ['src/explain/causes.ts', "import type { State } from '../core/state.ts';"],
    ['src/protocol/fields-to-request.ts', "import type {\n  State,\n} from '../core/state.ts';"],
    ['src/mailbox/mailbox.ts', "import { find } from '../core/task-table.ts';"],
    ['src/log/codec.ts', "import { Client } from '../client/client.ts';"],
    ['src/log/lmdb/env.ts', "import { scanRecords } from '../segments/scan.ts';"],
    ['src/log/lmdb-log.ts', "import { keysOf } from './etcd/keys.ts';"],
    ['src/loop/coordinator.ts', "import { openLmdbLog } from '../log/lmdb-log.ts';"],
    ['src/loop/coordinator.ts', "const late = await import('../../actors/shared/clock.ts');"],
    ['actors/coordinator/notices.ts', "import { serve } from '../../src/cli/serve.ts';"],
    ['actors/timer/timer.ts', "import { Gate } from '../ingress/gate.ts';"],
    ['src/client/client.ts', "import 'node:fs';\nimport '../core/apply.ts';"],
    [
      'src/client/client.ts',
      "new Worker(new URL('../../actors/timer/timer.ts', import.meta.url));",
    ],
  ];
  for (const [path, text] of forbidden) {
    it(`refuse ${text.split('\n').at(-1)} in ${path}`, () => {
      const found = importsOf({ path, text }).map(violation);
      expect(found.filter(Boolean)).to.have.length(1);
    });
  }
});
