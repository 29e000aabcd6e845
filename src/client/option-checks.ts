// Owns the refusal of options. An unknown option would otherwise be ignored in silence, and a
// value that is not allowed would do something other than the option says. This file knows no
// single option.

import { nearestName } from '../model/nearest.ts';
import { isPlain } from './content.ts';
import { LeaseholdError } from './errors.ts';
import { isSchema } from './payload-schema.ts';

/** @returns what is wrong with the value, or undefined: nothing. */
export type Check = (value: unknown) => string | undefined;
/** A check for each option that there is; undefined as a value is an option not given. */
export type Checks<Options> = { readonly [Name in keyof Required<Options>]: Check };

const fits =
  (
    what: string,
    is: (value: unknown) => boolean,
    named: (value: unknown) => string = shown,
  ): Check =>
  (value) =>
    is(value) ? undefined : `${named(value)} is not ${what}`;

/** Judged elsewhere. */
export const anything: Check = () => undefined;
export const text = fits('a text', (value) => typeof value === 'string');
/** What a header of HTTP can carry. */
export const headerText = fits(
  'a text in one line, without control characters',
  (value) => typeof value === 'string' && !/[^\x20-\x7e\x80-\xff]/.test(value),
  () => 'what was given',
);
export const flag = fits('true or false', (value) => typeof value === 'boolean');
export const callback = fits('a function', (value) => typeof value === 'function');
export const texts = fits(
  'a list of texts, at least one',
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string'),
);
export const textMap = fits(
  'an object whose values are texts',
  (value) => isPlain(value) && Object.values(value).every((one) => typeof one === 'string'),
);
export const schema = fits('a Standard Schema', isSchema);
export const textOrTexts: Check = (value) => (Array.isArray(value) ? texts : text)(value);
export const signal = fits('an AbortSignal', (value) => value instanceof AbortSignal);
export const oneOf = (...names: readonly string[]): Check =>
  fits(names.join(' or '), (value) => names.includes(value as string));

export const whole = (min: number, max = Number.MAX_SAFE_INTEGER): Check => {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  const is = (value: unknown): boolean => Number.isSafeInteger(value) && within(value, min, max);
  return fits(`a whole number ${range}`, is);
};

/** A number of times that may have no end. */
export const count: Check = (value) =>
  value === Number.POSITIVE_INFINITY ? undefined : whole(0)(value);

/** A time of our own; our timers hold any. */
export const lengthMs = fits('a number of milliseconds from 0 (Infinity: without end)', (value) =>
  within(value, 0, Number.POSITIVE_INFINITY),
);

const within = (value: unknown, min: number, max: number): boolean =>
  typeof value === 'number' && value >= min && value <= max;

/** Options within an option. */
export function nested<Options>(checks: Checks<Options>): Check {
  return (value) => wrongIn(value, checks);
}

/**
 * @param what the name of the call, for the message: `submit`
 * @throws LeaseholdError INVALID_OPTION that names the option
 */
export function assertOptions<Options>(
  what: string,
  given: unknown,
  checks: Checks<Options>,
): asserts given is Options {
  const wrong = wrongIn(given, checks);
  if (wrong !== undefined) throw new LeaseholdError('INVALID_OPTION', `${what}: ${wrong}`);
}

function wrongIn<Options>(given: unknown, checks: Checks<Options>): string | undefined {
  if (typeof given !== 'object' || given === null) {
    const example = `{ ${Object.keys(checks)[0]}: … }`;
    return `the options are an object such as ${example}, not ${shown(given)}`;
  }
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(checks, name)) return unknownText(name, Object.keys(checks));
    const check = checks[name as keyof Options];
    const wrong = value === undefined ? undefined : check(value);
    if (wrong !== undefined) return `${name}: ${wrong}`;
  }
  return undefined;
}

function unknownText(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  const hint = meant === undefined ? `it takes ${known.join(', ')}` : `did you mean ${meant}?`;
  return `there is no option ${JSON.stringify(name)}; ${hint}`;
}

/** Short, and without a value that may be large or secret. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
