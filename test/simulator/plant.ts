// Owns the planting of a fault: a copy of the compiled loop and simulator beside the real one, with
// the fault's text changed, loaded as modules of its own. The product's files are not touched.

import { rmSync } from 'node:fs';
import { BUILT, CompiledFiles, PRODUCT } from '../support/planted.ts';
import type { Fault } from './faults.ts';
import type { run } from './run.ts';
import type { shrink } from './shrink.ts';

const ENTRIES = ['test/simulator/run.js', 'test/simulator/shrink.js'] as const;
const OWN = ['test/simulator'] as const;

/** The simulator on the changed loop. */
export interface Planted {
  readonly run: typeof run;
  readonly shrink: typeof shrink;
  remove(): void;
}

/** @throws Error with the fault's name when a text of it does not stand exactly once. */
export function plantedFiles(fault: Fault, entries: readonly string[] = ENTRIES): CompiledFiles {
  const files = CompiledFiles.from(entries);
  const product = CompiledFiles.of(PRODUCT);
  for (const [from, to] of fault.changes) {
    try {
      // The simulator uses a part of the product; the text must stand once in all of it.
      if (!fault.isOwn) product.plant({ from, to });
      files.plant({ from, to }, fault.isOwn ? OWN : PRODUCT);
    } catch (error) {
      throw new Error(`${fault.name}: ${(error as Error).message}`, { cause: error });
    }
  }
  return files;
}

/** One module of the simulator, and all that it uses, on the changed product. */
export async function plantIn<T>(
  fault: Fault,
  number: number,
  entry: string,
): Promise<{ readonly module: T; remove(): void }> {
  const root = `${BUILT}planted/${process.pid}-${number}/`;
  plantedFiles(fault, [entry]).write(root);
  const module = (await import(root + entry)) as T;
  return { module, remove: () => rmSync(root, { recursive: true, force: true }) };
}

export async function plant(fault: Fault, number: number): Promise<Planted> {
  const root = `${BUILT}planted/${process.pid}-${number}/`;
  plantedFiles(fault).write(root);
  const [runs, shrinks] = await Promise.all(ENTRIES.map((entry) => import(root + entry)));
  return {
    run: (runs as Planted).run,
    shrink: (shrinks as Planted).shrink,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
