// Owns the verdict on a long run under a steady load: what was flat and what grew, by comparing the
// second quarter of the samples with the last one. The first quarter is warm-up and does not count.
// It takes no samples and knows nothing of where they come from.

export interface Series {
  readonly name: string;
  readonly unit: string;
  /** One a second, in order; NaN where nothing was seen in that second. */
  readonly values: readonly number[];
  readonly tolerance: Tolerance;
}

/** How much more the last quarter may be: second × (1 + share) + plus. */
export interface Tolerance {
  readonly share: number;
  readonly plus: number;
  /** The mean suits what rises and falls in turns, the median what has peaks. */
  readonly by: 'mean' | 'median';
}

export interface Verdict {
  readonly name: string;
  readonly unit: string;
  readonly second: number;
  readonly last: number;
  readonly allowed: number;
  readonly isFlat: boolean;
}

/** Fewer values in a quarter say nothing. */
const VALUES_MIN = 4;

/** @throws RangeError when a quarter has too few values: who saw nothing must not acquit. */
export function judge({ name, unit, values, tolerance }: Series): Verdict {
  const quarter = Math.floor(values.length / 4);
  const of = (nth: number): number => {
    const seen = values.slice(nth * quarter, (nth + 1) * quarter).filter(Number.isFinite);
    if (seen.length < VALUES_MIN) {
      throw new RangeError(`${name}: ${seen.length} values in quarter ${nth + 1} of the run`);
    }
    return tolerance.by === 'mean' ? mean(seen) : median(seen);
  };
  const [second, last] = [of(1), of(3)];
  const allowed = second * (1 + tolerance.share) + tolerance.plus;
  return { name, unit, second, last, allowed, isFlat: last <= allowed };
}

/** @returns one line for people. */
export function tellVerdict({ name, unit, second, last, allowed, isFlat }: Verdict): string {
  const figures = `${shown(second)} → ${shown(last)} ${unit}, at most ${shown(allowed)}`;
  return `${isFlat ? 'flat ' : 'GREW '} ${name}: ${figures}`;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[(sorted.length - 1) >>> 1] as number;
}

const shown = (value: number): string => String(Number(value.toPrecision(4)));
