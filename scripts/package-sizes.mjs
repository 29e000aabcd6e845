// Prints how large both packages are, how long a program takes to load each of them, and how large
// a bundle with each becomes. It fails when leasehold-client is more than it may be. Needs
// `npm run client-package` before.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const IMPORTS = 9;
const CLIENT_MUST = { dependencies: 5, unpackedKiB: 1_000_000 / 1_024 };

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const scratch = fs.mkdtempSync(join(tmpdir(), 'leasehold-sizes-'));
const rows = [measure('.'), measure(join('dist', 'leasehold-client'))];
fs.rmSync(scratch, { recursive: true });
console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
const [, client] = rows;
for (const [what, most] of Object.entries(CLIENT_MUST)) {
  if (client[what] <= most) continue;
  console.error(`${client.name}: ${what} is ${client[what]}, and may be ${Math.floor(most)}`);
  process.exitCode = 1;
}

function measure(folder) {
  const { name, dependencies, exports } = JSON.parse(
    fs.readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const how = ['pack', '--dry-run', '--json', '--ignore-scripts', `./${folder}`];
  const [{ entryCount, size, unpackedSize }] = JSON.parse(execFileSync('npm', how).toString());
  const entry = pathToFileURL(join(folder, exports['.'].default));
  return {
    name,
    dependencies: Object.keys(dependencies).length,
    files: entryCount,
    packedKiB: kib(size),
    unpackedKiB: kib(unpackedSize),
    importMs: importMs(entry.href),
    clientBundleKiB: bundleKiB(entry, 'Client'),
    workerBundleKiB: bundleKiB(entry, 'Worker'),
  };
}

/** Processor time, and the best of several: a neighbour may use the processors meanwhile. */
function importMs(url) {
  const script = `const from = process.cpuUsage(); await import(${JSON.stringify(url)});
    const { user, system } = process.cpuUsage(from); console.log((user + system) / 1000)`;
  const once = () =>
    Number(execFileSync(process.execPath, ['--input-type=module', '-e', script]).toString());
  return Number(Math.min(...Array.from({ length: IMPORTS }, once)).toFixed(1));
}

/** Minified, with all that it imports of other packages, but what is optional. */
function bundleKiB(url, name) {
  const source = join(scratch, 'app.mjs');
  const outfile = join(scratch, 'bundle.mjs');
  const path = JSON.stringify(fileURLToPath(url));
  fs.writeFileSync(source, `import { ${name} } from ${path};\nconsole.log(${name});\n`);
  const how = ['--bundle', '--minify', '--platform=node', '--format=esm', '--log-level=error'];
  const call = ['esbuild', source, ...how, '--external:@opentelemetry/api'];
  execFileSync(process.execPath, [join('scripts', 'tools.mjs'), ...call, `--outfile=${outfile}`]);
  return kib(fs.statSync(outfile).size);
}

function kib(bytes) {
  return Math.round(bytes / 1_024);
}
