// Owns how times and durations read: UTC clock times and the two largest units of a duration. It
// reckons with numbers alone and asks no clock, so that equal facts give equal texts.

const DAY_MS = 86_400_000;
const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** @returns the UTC calendar day of a time in ms since the epoch, `2026-07-30`. */
export function dayText(at: number): string {
  // Days are counted from 1 March of year 0, so that the leap day is the last of its year and
  // every 400 years (146 097 days) look alike.
  const days = Math.floor(at / DAY_MS) + 719_468;
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524);
  const yearOfEra = Math.floor((dayOfEra - leaps - Math.floor(dayOfEra / 146_096)) / 365);
  const before = 365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  const dayOfYear = dayOfEra - before;
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** @returns the UTC time of day, `10:02:11.204`. */
export function clockText(at: number): string {
  const ms = ((at % DAY_MS) + DAY_MS) % DAY_MS;
  const seconds = Math.floor(ms / 1_000);
  const clock = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${clock.map((part) => pad(part, 2)).join(':')}.${pad(ms % 1_000, 3)}`;
}

/** @returns the UTC day and time to the second, `2026-07-30 10:02:11`. */
export const dateText = (at: number): string => `${dayText(at)} ${clockText(at).slice(0, 8)}`;

/** The same for a field that came as JSON: one that is missing is shown as such, not guessed. */
export const orUnknown =
  (text: (value: number) => string) =>
  (value: unknown): string =>
    typeof value === 'number' ? text(value) : '?';

/** @returns the time of day, with the day before it when that is not the day of `reference`. */
export function timeText(at: number, reference: number): string {
  const same = Math.floor(at / DAY_MS) === Math.floor(reference / DAY_MS);
  return same ? clockText(at) : `${dayText(at)} ${clockText(at)}`;
}

/** @returns `450 ms`, `30.0 s`, `2 min 5 s`, `3 h 12 min`, `4 d 2 h`; rounded to the nearest. */
export const durationText = (durationMs: number): string => roundedText(durationMs, Math.round);

/** @returns a duration of which only an upper bound is known: rounded up, so that it stays one. */
export const durationAtMostText = (durationMs: number): string =>
  roundedText(durationMs, Math.ceil);

/** @returns a duration of which only a lower bound is known: rounded down, so that it stays one. */
export const durationAtLeastText = (durationMs: number): string =>
  roundedText(durationMs, Math.floor);

function roundedText(durationMs: number, round: (count: number) => number): string {
  if (durationMs < 0) return `-${roundedText(-durationMs, round)}`;
  const unitMs = unitShown(durationMs);
  return exactText(round(durationMs / unitMs) * unitMs);
}

/** The smallest unit that is shown of a duration, in ms. */
function unitShown(durationMs: number): number {
  if (durationMs < 1_000) return 1;
  if (durationMs < 60_000) return 100;
  const large = UNITS.findIndex(([, ms]) => durationMs >= ms);
  return UNITS[large + 1]?.[1] ?? 1_000;
}

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', DAY_MS],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** @param durationMs a multiple of the smallest unit that is shown of it. */
function exactText(durationMs: number): string {
  if (durationMs < 1_000) return `${durationMs} ms`;
  if (durationMs < 60_000) return `${(durationMs / 1_000).toFixed(1)} s`;
  const large = UNITS.findIndex(([, ms]) => durationMs >= ms);
  const [name, ms] = UNITS[large] as readonly [string, number];
  const [nextName, nextMs] = UNITS[large + 1] as readonly [string, number];
  const rest = Math.floor((durationMs % ms) / nextMs);
  const head = `${Math.floor(durationMs / ms)} ${name}`;
  return rest === 0 ? head : `${head} ${rest} ${nextName}`;
}
