// Owns the sight of what a server really uses of its memory: a copy of it in which each thread
// collects its garbage now and then and writes down what is left. What the process has beside that
// is slack of V8 and malloc, which comes and goes by megabytes and hides what leaks slowly.

import fs from 'node:fs';
import path from 'node:path';
import { ACTORS, type Patch } from '../support/planted.ts';

/** @param directory gets a file for each thread. */
export function tellsMemory(directory: string, everyMs: number): readonly Patch[] {
  fs.mkdirSync(directory, { recursive: true });
  return Object.entries(ACTORS).map(([actor, beside]) => ({
    beside,
    add: tellOf(path.join(directory, actor), everyMs),
  }));
}

/** A buffer may be counted twice, which is no matter for whether there are more of them. */
const tellOf = (file: string, everyMs: number): string => `
import { renameSync as giveName, writeFileSync as writeTold } from 'node:fs';
import { setFlagsFromString as flagOf } from 'node:v8';
import { runInNewContext as runFresh } from 'node:vm';
flagOf('--expose-gc');
const collect = runFresh('gc');
setInterval(() => {
  collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  writeTold(${JSON.stringify(`${file}.part`)}, String(heapUsed + external + arrayBuffers));
  giveName(${JSON.stringify(`${file}.part`)}, ${JSON.stringify(file)});
}, ${everyMs}).unref();`;

/** @returns bytes in use, of all threads; NaN while not all of them have told. */
export function liveMemory(directory: string): number {
  const told = Object.keys(ACTORS).map((actor) => {
    const file = path.join(directory, actor);
    return fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : Number.NaN;
  });
  return told.reduce((sum, bytes) => sum + bytes, 0);
}
