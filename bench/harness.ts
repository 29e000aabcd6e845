// Owns how a measurement is taken and told: interleaved rounds, medians with their ranges, a table
// for people and a file of JSON. Machines are shared and noisy, so a figure counts only beside
// another one of the same run; the harness never compares runs.

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import Table from 'cli-table3';

/** What a *.bench.ts file exports as `bench`. */
export interface Bench {
  /** One sentence: what is measured, against what. */
  readonly about: string;
  run(options: BenchOptions): Promise<readonly Row[]>;
}

export interface BenchOptions {
  /** How often each case is measured; the cases take turns. */
  readonly rounds: number;
}

export interface Samples {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** One line of the result. */
export interface Row extends Samples {
  readonly measure: string;
  readonly unit: string;
  /** What is asked of it, and whether it is kept; undefined: a figure to compare with. */
  readonly goal?: { readonly text: string; readonly kept: boolean } | undefined;
}

/** Measures each case once a round, in turns, so that a slow minute meets all of them alike. */
export async function interleaved<Name extends string>(
  rounds: number,
  cases: Readonly<Record<Name, () => Promise<number> | number>>,
): Promise<Record<Name, Samples>> {
  const names = Object.keys(cases) as Name[];
  const taken = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) taken.get(name)?.push(await cases[name]());
  }
  const entries = names.map((name) => [name, samples(taken.get(name) ?? [])]);
  return Object.fromEntries(entries) as Record<Name, Samples>;
}

/** @throws RangeError for no values: a figure without a measurement is none. */
export function samples(values: readonly number[]): Samples {
  const sorted = values.toSorted((a, b) => a - b);
  const [min, max] = [sorted[0], sorted.at(-1)];
  const median = sorted[(sorted.length - 1) >>> 1];
  if (min === undefined || max === undefined || median === undefined)
    throw new RangeError('no values to take a median of');
  return { median, min, max };
}

/** @param percent 0 … 100; @throws RangeError for no values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))];
  if (value === undefined) throw new RangeError('no values to take a percentile of');
  return value;
}

export function print(rows: readonly Row[], write: (text: string) => void): void {
  const table = new Table({
    head: ['measure', 'median', 'range', 'unit', 'goal', ''],
    style: { head: [], border: [] },
  });
  for (const { measure, median, min, max, unit, goal } of rows) {
    const range = min === max ? '' : `${figure(min)} – ${figure(max)}`;
    const verdict = goal === undefined ? '' : goal.kept ? 'kept' : 'MISSED';
    table.push([measure, figure(median), range, unit, goal?.text ?? '', verdict]);
  }
  write(`${table.toString()}\n`);
}

/** @returns the path of the file, which names the machine beside the figures. */
export function save(name: string, rows: readonly Row[]): string {
  const at = new Date().toISOString();
  const path = `bench/results/${name}-${at.replaceAll(/[:.]/g, '-')}.json`;
  const processors = cpus();
  const machine = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processor: processors[0]?.model ?? 'unknown',
    processors: processors.length,
  };
  mkdirSync('bench/results', { recursive: true });
  writeFileSync(path, `${JSON.stringify({ bench: name, at, machine, rows }, null, 2)}\n`);
  return path;
}

const figure = (value: number): string =>
  value >= 1_000
    ? Math.round(value).toLocaleString('en').replaceAll(',', ' ')
    : value.toPrecision(3);
