// Owns where the version is found: package.json is its only place.

import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  // The file lies in src/cli or, built, in dist/src/cli.
  const up = import.meta.url.endsWith('.ts') ? '../..' : '../../..';
  const file = new URL(`${up}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
