// Owns copies of the built program with a fault in them: what a proof must catch. The product has
// no switch for a fault; a copy is text in which something stands otherwise.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const BUILT = fileURLToPath(new URL('../..', import.meta.url));

/** @returns where a package of that name is found from here. */
function nodeModules(): string {
  for (let at = BUILT; ; at = path.dirname(at)) {
    const found = path.join(at, 'node_modules');
    if (fs.existsSync(path.join(found, 'lmdb'))) return found;
    if (at === path.dirname(at)) throw new Error('node_modules is missing');
  }
}

export interface Patch {
  /** Of the built program, as in `src/loop/group-commit.js`. */
  readonly file: string;
  /** Stands in it exactly once; undefined: the end of the file. */
  readonly from?: string;
  readonly to: string;
}

/** @returns the root of the copy, which must not exist yet. */
export function copyProgram(to: string, patches: readonly Patch[]): string {
  const dist = path.join(to, 'dist');
  for (const part of ['src', 'actors']) {
    fs.cpSync(path.join(BUILT, part), path.join(dist, part), { recursive: true });
  }
  const manifest = path.join(path.dirname(nodeModules()), 'package.json');
  const near = path.join(path.dirname(BUILT.replace(/\/$/, '')), 'package.json');
  fs.copyFileSync(fs.existsSync(near) ? near : manifest, path.join(to, 'package.json'));
  fs.symlinkSync(fs.realpathSync(nodeModules()), path.join(to, 'node_modules'));
  for (const { file, from, to: text } of patches) {
    const target = path.join(dist, file);
    const before = fs.readFileSync(target, 'utf8');
    if (from !== undefined && before.split(from).length !== 2) {
      throw new Error(`${file}: not exactly once: ${from}`);
    }
    const after = from === undefined ? `${before}\n${text}\n` : before.replace(from, () => text);
    fs.writeFileSync(target, after);
  }
  return dist;
}

export const executableOf = (dist: string): string => path.join(dist, 'src', 'cli', 'main.js');
