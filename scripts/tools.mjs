// Owns the way to the tools of maintainers: the formatter, the linters, and those that look at the
// package. They are three times the size of all that running and testing needs. So `npm ci` leaves
// them out, and the first command that needs one of them installs them into tools/.
//
// usage: node scripts/tools.mjs TOOL [ARGUMENT …]
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'tools');
const [tool = '', ...args] = process.argv.slice(2);

if (!isInstalled()) install();
const bins = [join(folder, 'node_modules', '.bin'), join(root, 'node_modules', '.bin')];
const env = { ...process.env, PATH: [...bins, process.env.PATH].join(delimiter) };
process.exit(run(tool, args, env));

/** Whether what the lock file of the tools says is there. */
function isInstalled() {
  try {
    const installed = fs.statSync(join(folder, 'node_modules', '.package-lock.json'));
    return installed.mtimeMs >= fs.statSync(join(folder, 'package-lock.json')).mtimeMs;
  } catch {
    return false;
  }
}

function install() {
  console.error('installing the tools of maintainers …');
  const status = run('npm', ['ci', '--prefix', folder, '--silent', '--no-audit', '--no-fund']);
  if (status !== 0) process.exit(status);
}

function run(command, given, environment = process.env) {
  const shell = process.platform === 'win32';
  const ended = spawnSync(command, given, { cwd: root, env: environment, stdio: 'inherit', shell });
  if (ended.error) console.error(`${command}: ${ended.error.message}`);
  return ended.status ?? 1;
}
