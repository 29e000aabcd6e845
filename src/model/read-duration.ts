// Owns how a duration is read that a person writes: a flag, an environment variable, a key of the
// configuration file; and how a default of these is shown. On the wire durations are numbers of
// milliseconds and never come here.

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** For messages: what may be written. */
export const DURATION_EXAMPLES = '500ms, 30s, 10m, 2h, 7d, or a number of milliseconds';

/**
 * Reads `500ms`, `30s`, `10m`, `2h`, `7d`, or a bare whole number, which counts milliseconds.
 * @returns milliseconds; undefined when the text is none of these. The caller checks the range.
 */
export function readDuration(text: string): number | undefined {
  const match = /^(-?\d+)(ms|s|m|h|d)?$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * (UNITS_MS[match[2] ?? 'ms'] as number);
}

/** 50ms, 30s, 1h, 90d: the largest unit that needs no fraction, as `readDuration` reads it. */
export function shortDuration(ms: number): string {
  const units = Object.entries(UNITS_MS).toReversed();
  const [unit, unitMs] = units.find(([, one]) => ms !== 0 && ms % one === 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}
