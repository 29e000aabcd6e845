// Owns the Debian packages that the peers come in: installs those that are missing, and nothing
// else. Their services are not started: this bench runs its own, in directories of its own.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const POLICY = '/usr/sbin/policy-rc.d';
const POSTGRES = '/usr/lib/postgresql';

/** By package: whether what we need of it is there. */
const NEEDED = {
  beanstalkd: () => commandPath('beanstalkd') !== undefined,
  'redis-server': () => commandPath('redis-server') !== undefined,
  postgresql: () => postgresBin() !== undefined,
  strace: () => commandPath('strace') !== undefined,
  'librdkafka-dev': () => existsSync('/usr/include/librdkafka/rdkafka_mock.h'),
};

/** @throws Error when one of those that are named is missing and cannot be installed. */
export function installMissing(names) {
  const missing = names.filter((name) => !NEEDED[name]());
  if (missing.length === 0) return;
  if (process.getuid() !== 0 || commandPath('apt-get') === undefined) {
    throw new Error(`missing: ${missing.join(', ')}; install them, or run this as root on Debian`);
  }
  console.error(`installing ${missing.join(', ')}`);
  const options = { stdio: ['ignore', 'ignore', 'inherit'] };
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    execFileSync('apt-get', ['update', '-q'], options);
    execFileSync('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...missing], {
      ...options,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  } finally {
    if (ours) rmSync(POLICY);
  }
}

/** @returns the folder of initdb and postgres, of the newest version that is there. */
export function postgresBin() {
  if (!existsSync(POSTGRES)) return undefined;
  return readdirSync(POSTGRES)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => `${POSTGRES}/${version}/bin`)
    .find((folder) => existsSync(`${folder}/initdb`));
}

function commandPath(name) {
  const found = spawnSync('sh', ['-c', `command -v ${name}`]);
  return found.status === 0 ? found.stdout.toString().trim() : undefined;
}
