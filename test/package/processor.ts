// Owns the comparison of what two programs take of a processor. Seconds are of a machine and of a
// moment, so a bound on them says nothing elsewhere; a ratio of two programs that run in turns
// does.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);
/** A neighbour makes a run dearer and never cheaper, so the best of some is compared. */
const RUNS_MIN = 3;
const RUNS_MAX = 20;

/** A package that everybody knows, made of many modules, with what node has for HTTP. */
const EXPRESS = `await import(${JSON.stringify(import.meta.resolve('express'))});`;

const measured = (code: string): string =>
  `const from = process.cpuUsage(); ${code}; const to = process.cpuUsage(from);` +
  'console.log((to.user + to.system) / 1000);';

async function taken(script: string, cwd: string): Promise<number> {
  const args = ['--input-type=module', '-e', script];
  const { stdout } = await execute(process.execPath, args, { cwd });
  return Number(stdout);
}

/**
 * Runs go on while the ratio is above what it may be.
 * @param cwd where the code is run
 * @returns what the code takes of a processor, in relation to the loading of express
 */
export async function relativeToExpress(
  { before = '', code, after = '' }: { before?: string; code: string; after?: string },
  cwd: string,
  most: number,
): Promise<number> {
  let [best, known] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let runs = 1; runs <= RUNS_MAX; runs += 1) {
    best = Math.min(best, await taken(`${before}\n${measured(code)}\n${after}`, cwd));
    known = Math.min(known, await taken(measured(EXPRESS), cwd));
    if (runs >= RUNS_MIN && best / known <= most) break;
  }
  return best / known;
}
