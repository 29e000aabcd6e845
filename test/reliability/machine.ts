// Owns what the proofs need of the machine beside Node: a tracer, a compiler, root. What is missing
// is installed where that is possible, else the proof is skipped and says why; never silently.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { skip } from '../support/skip.ts';
import { Ext4 } from './ext4.ts';

export const isRoot = process.getuid?.() === 0;

/** Programs, and the Debian packages that hold them. */
const PACKAGES = { strace: 'strace', cc: 'gcc libc6-dev' } as const;
export type Tool = keyof typeof PACKAGES;

const INSTALL_MS = 120_000;
const missing = new Map<Tool, boolean>();

/** Skips the test, visibly, unless the machine has these. */
export function need(
  test: Mocha.Context,
  ...tools: readonly (Tool | 'root' | 'linux' | 'mount' | 'ext4')[]
): void {
  for (const tool of tools) {
    if (tool === 'linux') {
      if (process.platform !== 'linux') skip(test, 'this proof runs on Linux only');
    } else if (tool === 'root') {
      if (!isRoot) skip(test, 'only root may mount');
    } else if (tool === 'mount') {
      if (!mayMount()) skip(test, 'this machine does not let us mount');
    } else if (tool === 'ext4') {
      const why = noExt4();
      if (why !== undefined) skip(test, `no ext4 on a loop device: ${why}`);
    } else if (isMissing(tool)) {
      skip(test, `${tool} is missing (apt-get install ${PACKAGES[tool]})`);
    }
  }
}

function isMissing(tool: Tool): boolean {
  const known = missing.get(tool);
  if (known !== undefined) return known;
  const found = isThere(tool) || (install(PACKAGES[tool]) && isThere(tool));
  missing.set(tool, !found);
  return !found;
}

const isThere = (tool: Tool): boolean =>
  spawnSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' }).status === 0 &&
  (tool !== 'strace' || mayTrace());

/** A container may have strace and forbid its use. */
const mayTrace = (): boolean =>
  spawnSync('strace', ['-f', '-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;

/** @returns whether the package manager says that it is there now. */
function install(name: string): boolean {
  if (!isRoot || process.platform !== 'linux') return false;
  console.warn(`    installing ${name}`);
  const command = `apt-get install -y --no-install-recommends ${name}`;
  const options = { stdio: 'ignore', timeout: INSTALL_MS } as const;
  if (spawnSync('sh', ['-c', command], options).status === 0) return true;
  return spawnSync('sh', ['-c', `apt-get update && ${command}`], options).status === 0;
}

function mayMount(): boolean {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-mount-'));
  const mounted = mountTmpfs(directory, '1m');
  if (mounted) unmount(directory);
  fs.rmdirSync(directory);
  return mounted;
}

/** @returns why there can be no ext4 of ours, which only a mounted one shows. */
function noExt4(): string | undefined {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-ext4-'));
  try {
    new Ext4(directory, 'disk').close();
    return undefined;
  } catch (error) {
    return (error as Error).message.trim();
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

/** A temporary file system of this size. @returns whether it was mounted. */
export const mountTmpfs = (directory: string, size: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory]).status === 0;

export const unmount = (directory: string): void => {
  spawnSync('umount', ['-l', directory]);
};
