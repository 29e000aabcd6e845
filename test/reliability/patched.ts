// Owns copies of the built program with a fault in them: what a proof must catch. The product has
// no switch for a fault; a copy is text in which something stands otherwise.

import fs from 'node:fs';
import path from 'node:path';
import { BUILT, CompiledFiles, type Patch, PRODUCT } from '../support/planted.ts';

export type { Patch } from '../support/planted.ts';

/** @returns where a package of that name is found from here. */
function nodeModules(): string {
  for (let at = BUILT; ; at = path.dirname(at)) {
    const found = path.join(at, 'node_modules');
    if (fs.existsSync(path.join(found, 'lmdb'))) return found;
    if (at === path.dirname(at)) throw new Error('node_modules is missing');
  }
}

/**
 * @param to the root of the copy, which must not exist yet.
 * @returns the compiled program in it. @throws Error that names a text which is not there once.
 */
export function copyProgram(to: string, patches: readonly Patch[]): string {
  const files = CompiledFiles.of(PRODUCT);
  for (const patch of patches) files.plant(patch);
  const dist = path.join(to, 'dist');
  files.write(dist);
  const manifest = path.join(path.dirname(nodeModules()), 'package.json');
  const near = path.join(path.dirname(BUILT.replace(/\/$/, '')), 'package.json');
  fs.copyFileSync(fs.existsSync(near) ? near : manifest, path.join(to, 'package.json'));
  fs.symlinkSync(fs.realpathSync(nodeModules()), path.join(to, 'node_modules'));
  return dist;
}

export const executableOf = (dist: string): string => path.join(dist, 'src', 'cli', 'main.js');
