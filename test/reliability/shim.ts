// Owns the building of what stands between a test's process and its system (device/*.c).

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../../test/reliability/device/', import.meta.url));

/** @returns the library, for LD_PRELOAD. @throws Error when the compiler does not take it. */
export function buildShim(name: 'device' | 'clock'): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), `leasehold-${name}-`));
  process.once('exit', () => fs.rmSync(directory, { recursive: true, force: true }));
  const library = path.join(directory, `${name}.so`);
  const source = path.join(SOURCES, `${name}.c`);
  const args = ['-O1', '-Wall', '-Werror', '-shared', '-fPIC', '-o', library, source, '-ldl'];
  const { status, error, stderr } = spawnSync('cc', args, { encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(stderr);
  return library;
}
