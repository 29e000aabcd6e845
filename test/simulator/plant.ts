// Owns the planting of a fault: a copy of the compiled loop and simulator beside the real one, with
// the fault's lines changed, loaded as modules of its own. The product's files are not touched.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Fault } from './faults.ts';
import type { run } from './run.ts';
import type { shrink } from './shrink.ts';

const DIST = fileURLToPath(new URL('../../', import.meta.url));
const PARTS = ['src/core', 'src/log', 'src/protocol', 'src/client', 'test/simulator'];

/** The simulator on the changed loop. */
export interface Planted {
  readonly run: typeof run;
  readonly shrink: typeof shrink;
  remove(): void;
}

export async function plant(fault: Fault, number: number): Promise<Planted> {
  const root = `${DIST}planted/${process.pid}-${number}/`;
  mkdirSync(root, { recursive: true });
  const isCode = (path: string): boolean => !/\.(map|d\.ts)$|\.test\.js$/.test(path);
  for (const part of PARTS) {
    cpSync(DIST + part, root + part, { recursive: true, filter: isCode });
  }
  const isLoop = (path: string): boolean =>
    path.endsWith('/src') || path.endsWith('/src/') || /\/src\/[^/]+\.js$/.test(path);
  cpSync(`${DIST}src`, `${root}src`, { recursive: true, filter: isLoop });
  for (const [file, from, to] of fault.changes) {
    const path = file.startsWith('test/') ? root + file : `${root}src/${file}`;
    const parts = readFileSync(path, 'utf8').split(from);
    if (parts.length !== 2) {
      throw new Error(`${fault.name}: ${file} has ${parts.length - 1} times: ${from}`);
    }
    writeFileSync(path, parts.join(to));
  }
  const runs = (await import(`${root}test/simulator/run.js`)) as Pick<Planted, 'run'>;
  const shrinks = (await import(`${root}test/simulator/shrink.js`)) as Pick<Planted, 'shrink'>;
  return {
    ...runs,
    ...shrinks,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
