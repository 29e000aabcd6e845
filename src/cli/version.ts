// Owns where the version is found (package.json is its only place), `version`, which prints it, and
// the refusal of a Node that is too old.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CliError, EXIT, type Io, say } from './command.ts';

export function define(command: Command, { stdout }: Io): void {
  command.action(() => say(stdout, packageVersion()));
}

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

export const packageVersion = (): string => manifest().version;

/**
 * npm warns of such a Node, and installs nevertheless. Up to Node 20.7 the lock of a data directory
 * does not work: two servers could write to one log.
 * @param running as process.versions.node
 * @throws CliError
 */
export function assertNode(running: string): void {
  const oldest = manifest().engines.node.replace('>=', '');
  if (running.localeCompare(oldest, 'en', { numeric: true }) >= 0) return;
  const needed = `leasehold needs Node ${oldest} or newer`;
  throw new CliError(EXIT.failed, `leasehold: ${needed}; this is Node ${running}`);
}

function manifest(): Manifest {
  // The file lies in src/cli or, built, in dist/src/cli.
  const up = import.meta.url.endsWith('.ts') ? '../..' : '../../..';
  const file = new URL(`${up}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
}
