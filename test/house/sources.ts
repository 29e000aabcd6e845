// What the house rules read: the project's own text files, and the imports between its modules. The
// sources are read, not dist/: the compiler erases type imports, and layers hold for types too.

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface SourceFile {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
}

export interface Import {
  readonly from: string;
  /** A path from the root for our own modules, else the bare specifier. */
  readonly to: string;
  readonly ours: boolean;
}

const NOT_OURS = new Set(['node_modules', 'dist', '.git', 'coverage', 'results', 'leasehold-data']);
const TEXT = /\.(ts|mjs|cjs|json|md|ya?ml|txt|sh)$|^\.ci\/run$/;

/** All text files of the project; mocha runs at its root. */
export const files: readonly SourceFile[] = walk('.')
  .filter((path) => TEXT.test(path) && path !== 'package-lock.json')
  .map((path) => {
    const text = readFileSync(path, 'utf8');
    return { path, text, lines: text.replace(/\n$/, '').split('\n') };
  });

export const filesIn = (...folders: string[]): readonly SourceFile[] =>
  files.filter(
    ({ path }) => path.endsWith('.ts') && folders.some((folder) => path.startsWith(`${folder}/`)),
  );

/** A build beside the tests has a folder of its own for a while. */
function isOurs(name: string): boolean {
  return !NOT_OURS.has(name) && !name.startsWith('dist.building-');
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name).replaceAll('\\', '/');
    if (entry.isDirectory()) return isOurs(entry.name) ? walk(path) : [];
    return entry.isFile() ? [path] : [];
  });
}

// Import and export declarations, dynamic imports, and files named for a thread.
const SPECIFIER = new RegExp(
  [
    "(?:^|\\n)\\s*(?:import|export)\\b[^'\";]*?\\bfrom\\s+'([^']+)'",
    "(?:^|\\n)\\s*import\\s+'([^']+)'",
    "\\bimport\\(\\s*'([^']+)'\\s*\\)",
    "\\bnew URL\\(\\s*'(\\.[^']+)'",
  ].join('|'),
  'g',
);

export function importsOf({ path, text }: Pick<SourceFile, 'path' | 'text'>): Import[] {
  return [...text.matchAll(SPECIFIER)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? match[4] ?? '';
    const ours = specifier.startsWith('.');
    const to = ours ? posix.join(posix.dirname(path), specifier) : specifier;
    return { from: path, to, ours };
  });
}
