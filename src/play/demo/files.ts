// Owns the choice of the files that the demonstration works on.

import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const LEFT_OUT = new Set(['node_modules', '.git', 'dist']);

/** The project's own sources and lock file. */
export function ownFiles(): string[] {
  const up = import.meta.url.endsWith('.ts') ? '../../..' : '../../../..';
  const root = fileURLToPath(new URL(up, import.meta.url));
  const own = ['src', 'actors', 'test', 'package.json', 'package-lock.json'];
  return own.flatMap((name) => filesIn(path.join(root, name)));
}

/** Regular files under a folder, or the file itself; nothing when there is no such thing. */
export function filesIn(place: string): string[] {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found?.isFile() === true) return [path.resolve(place)];
  if (found?.isDirectory() !== true) return [];
  const entries = readdirSync(place, { withFileTypes: true });
  return entries
    .filter((entry) => !LEFT_OUT.has(entry.name) && (entry.isFile() || entry.isDirectory()))
    .flatMap((entry) => filesIn(path.join(place, entry.name)))
    .toSorted();
}
