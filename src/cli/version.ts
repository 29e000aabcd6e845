// Owns where the version is found (package.json is its only place), and `version`, which prints it.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Io, say } from './command.ts';

export function define(command: Command, { stdout }: Io): void {
  command.action(() => say(stdout, packageVersion()));
}

export function packageVersion(): string {
  // The file lies in src/cli or, built, in dist/src/cli.
  const up = import.meta.url.endsWith('.ts') ? '../..' : '../../..';
  const file = new URL(`${up}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
