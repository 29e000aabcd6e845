// Has publint and attw look at both packages, leasehold and leasehold-client: what is exported can
// be found, with its types. Needs `npm run client-package` before.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const CHECKS = [
  ['publint', '--strict'],
  ['attw', '--profile', 'esm-only', '--format', 'table', '--pack'],
];

for (const folder of ['.', join('dist', 'leasehold-client')]) {
  for (const check of CHECKS) {
    const call = [join('scripts', 'tools.mjs'), ...check, folder];
    if (spawnSync(process.execPath, call, { stdio: 'inherit' }).status !== 0) process.exitCode = 1;
  }
}
