// Makes the package leasehold-client from dist/: the Client and the Worker without the coordinator,
// for programs that only submit tasks or work on them. It has the modules that src/index.ts
// reaches, unchanged, and of the dependencies those that these modules import. Needs
// `npm run build` before.
//
// usage: node scripts/client-package.mjs [FOLDER]
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const from = join(root, 'dist');
const to = resolve(process.argv[2] ?? join(from, 'leasehold-client'));
const IMPORTS = 5;
/** Declarations with a source, bare imports, and dynamic ones. */
const IMPORT = new RegExp(
  [
    "^\\s*(?:import|export)\\b[^'\";]*?\\bfrom\\s+'([^']+)'",
    "^\\s*import\\s+'([^']+)'",
    "\\bimport\\(\\s*'([^']+)'\\s*\\)",
  ].join('|'),
  'gm',
);
const byName = (a, b) => a.localeCompare(b);

const manifest = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
const { files, packages } = reachedFrom(['src/index.js', 'src/index.d.ts']);
fs.rmSync(to, { recursive: true, force: true });
for (const file of [...files].flatMap(withMap)) copy(join(from, file), join(to, 'dist', file));
copy(join(root, 'LICENSE'), join(to, 'LICENSE'));
copy(join(root, 'src', 'client', 'README.md'), join(to, 'README.md'));
fs.writeFileSync(join(to, 'package.json'), `${JSON.stringify(clientManifest(), null, 2)}\n`);
report();

/** The modules and declarations that these need, and the packages that they import. */
function reachedFrom(entries) {
  const files = new Set();
  const packages = new Set();
  const left = [...entries];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const name of importsOf(file)) {
      if (name.startsWith('.')) left.push(...targetsOf(file, name));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  const known = { ...manifest.dependencies, ...manifest.peerDependencies };
  const unknown = [...packages].filter((name) => !(name in known));
  if (unknown.length > 0) throw new Error(`no dependency: ${unknown.join(', ')}`);
  return { files, packages };
}

function importsOf(file) {
  const text = fs.readFileSync(join(from, file), 'utf8');
  const named = text.matchAll(IMPORT);
  const threads = text.matchAll(/\bthreadModule\('([^']+)'\)/g);
  return [
    ...Array.from(named, (match) => match[1] ?? match[2] ?? match[3]),
    ...Array.from(threads, ([, name]) => `./${name}.js`),
  ];
}

/** Of a module its declarations too: a type may be all that is imported from it. */
function targetsOf(file, name) {
  const path = posix.join(posix.dirname(file), name).replace(/(\.d)?\.(ts|js)$/, '');
  const kinds = file.endsWith('.d.ts') ? ['.d.ts'] : ['.js', '.d.ts'];
  return kinds.map((suffix) => path + suffix);
}

function withMap(file) {
  return file.endsWith('.js') ? [file, `${file}.map`] : [file];
}

function copy(source, target) {
  fs.mkdirSync(dirname(target), { recursive: true });
  fs.copyFileSync(source, target);
}

function clientManifest() {
  const { version, license, type, engines, peerDependencies, peerDependenciesMeta } = manifest;
  return {
    name: 'leasehold-client',
    version,
    description: 'The client and the worker of leasehold, a durable, lease-based task coordinator.',
    license,
    type,
    engines,
    sideEffects: false,
    exports: {
      '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' },
      './package.json': './package.json',
    },
    files: ['dist'],
    dependencies: neededOf(manifest.dependencies),
    peerDependencies: neededOf(peerDependencies),
    peerDependenciesMeta: neededOf(peerDependenciesMeta),
  };
}

/** Of a table of the main package, the packages that the client needs. */
function neededOf(table) {
  const names = [...packages].sort(byName).filter((name) => name in table);
  return Object.fromEntries(names.map((name) => [name, table[name]]));
}

function report() {
  const bytes = [...files].flatMap(withMap).reduce((sum, file) => sum + sizeOf(file), 0);
  console.log(`${to}: ${files.size} files, ${Math.round(bytes / 1024)} KiB`);
  console.log(`dependencies: ${Object.keys(neededOf(manifest.dependencies)).join(', ')}`);
  console.log(`optional: ${Object.keys(neededOf(manifest.peerDependencies)).join(', ')}`);
  const times = Array.from({ length: IMPORTS }, importMs).sort((a, b) => a - b);
  console.log(
    `import: ${times[0].toFixed(1)} ms at best, ${times[IMPORTS >> 1].toFixed(1)} ms median`,
  );
}

function sizeOf(file) {
  return fs.statSync(join(from, file)).size;
}

function importMs() {
  const entry = JSON.stringify(pathToFileURL(join(from, 'src', 'index.js')).href);
  const script = `const from = performance.now(); await import(${entry});
    console.log(performance.now() - from)`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', script]).toString());
}
