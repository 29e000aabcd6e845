// Owns how a measurement is taken: interleaved rounds, medians with their ranges, ratios. Machines
// are shared and noisy, so a figure counts only beside another one of the same run; the harness
// never compares runs.

/** What a *.bench.ts file exports as `bench`. */
export interface Bench {
  /** One sentence: what is measured, against what. */
  readonly about: string;
  run(options: BenchOptions): Promise<readonly Row[]>;
}

export interface BenchOptions {
  /** How often each case is measured; the cases take turns. */
  readonly rounds: number;
  /** How long one measurement lasts, where it is bounded by time. */
  readonly seconds: number;
  /** Also the sizes that take minutes. */
  readonly large: boolean;
  /** Tells a person how far it is. */
  say(text: string): void;
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
  /** What the figure stands for, where that differs between rows. */
  readonly note?: string | undefined;
}

/**
 * Measures each case once a round, in turns, so that a slow minute meets all of them alike. Every
 * other round runs backward: a case that always followed the same other one would carry what that
 * one left behind, and a build compared with itself then cost a third more in the second place.
 */
export async function interleaved<Name extends string, Taken = number>(
  { rounds, say }: Pick<BenchOptions, 'rounds' | 'say'>,
  cases: Readonly<Record<Name, () => Promise<Taken> | Taken>>,
): Promise<Record<Name, Taken[]>> {
  const names = Object.keys(cases) as Name[];
  const taken = new Map<Name, Taken[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      say(`round ${round + 1} of ${rounds}: ${name}`);
      taken.get(name)?.push(await cases[name]());
    }
  }
  return Object.fromEntries(taken) as Record<Name, Taken[]>;
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

/** A row from the values of all rounds. */
export const rowOf = (
  measure: string,
  unit: string,
  values: readonly number[],
  more: Pick<Row, 'goal' | 'note'> = {},
): Row => ({ measure, unit, ...samples(values), ...more });

/** The ratio of two cases, round by round: what a slow minute did to both drops out. */
export const ratios = (values: readonly number[], others: readonly number[]): number[] =>
  values.map((value, round) => value / (others[round] as number));

export const atLeast = (
  values: readonly number[],
  limit: number,
  text = `≥ ${limit}`,
): { text: string; kept: boolean } => ({ text, kept: samples(values).median >= limit });

export const atMost = (
  values: readonly number[],
  limit: number,
  text = `≤ ${limit}`,
): { text: string; kept: boolean } => ({ text, kept: samples(values).median <= limit });

/** @param percent 0 … 100; @throws RangeError for no values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))];
  if (value === undefined) throw new RangeError('no values to take a percentile of');
  return value;
}
