// Owns what a knob can be: its kind, range, unit and words, and the few forms in which the rows of
// the table are written.

import { DURATION_MAX_MS } from '../model/knobs.ts';
import { shortDuration } from '../model/read-duration.ts';

interface Words {
  readonly help: string;
  readonly unit?: 'ms' | 'bytes';
}
export type Knob = Words &
  (
    | {
        readonly kind: 'whole';
        readonly min: number;
        readonly max: number;
        readonly default?: number;
      }
    | {
        readonly kind: 'number';
        readonly min: number;
        readonly max: number;
        readonly default: number;
      }
    | { readonly kind: 'text'; readonly default?: string; readonly maxBytes?: number }
    | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly default: string }
    | { readonly kind: 'switch'; readonly default: false }
  );

export const DAY_MS = 86_400_000;
export const MEBIBYTE = 1_048_576;

export const duration = (min: 0 | 1, standard: number, help: string): Knob => ({
  kind: 'whole',
  min,
  max: DURATION_MAX_MS,
  default: standard,
  unit: 'ms',
  help,
});
export const bytes = (min: number, max: number, standard: number, help: string): Knob => ({
  kind: 'whole',
  min,
  max,
  default: standard,
  unit: 'bytes',
  help,
});
export const port = (standard: number, help: string): Knob => ({
  kind: 'whole',
  min: 0,
  max: 65_535,
  default: standard,
  help,
});
export const whole = (min: number, max: number, standard: number, help: string): Knob => ({
  kind: 'whole',
  min,
  max,
  default: standard,
  help,
});
export const text = (standard: string | undefined, help: string): Knob =>
  standard === undefined ? { kind: 'text', help } : { kind: 'text', default: standard, help };

/** Whether the knob is a duration, which may be written with a unit. */
export const isDuration = ({ unit }: Knob): boolean => unit === 'ms';

/** A knob in a help text: what it is for, its range where that says something, its default. */
export function helpOf(knob: Knob): string {
  const { default: standard } = knob;
  const isLong = isDuration(knob) && knob.kind === 'whole' && knob.max === DURATION_MAX_MS;
  const isAnyText = knob.kind === 'text' && knob.maxBytes === undefined;
  const range = isLong ? '; a duration' : isAnyText ? '' : `; ${rangeOf(knob)}`;
  if (standard === undefined) return knob.help + range;
  const shown = isDuration(knob) ? shortDuration(Number(standard)) : String(standard);
  return `${knob.help}${range} (default ${shown})`;
}

/** @returns what may be given, in words. */
export function rangeOf(knob: Knob): string {
  const unit = knob.unit === undefined ? '' : ` (${knob.unit})`;
  switch (knob.kind) {
    case 'whole':
      if (isDuration(knob)) return `a duration from ${knob.min} to ${knob.max} ms`;
      return `a whole number from ${knob.min} to ${knob.max}${unit}`;
    case 'number':
      return `a number from ${knob.min} to ${knob.max}`;
    case 'choice':
      return `one of ${knob.choices.join(', ')}`;
    case 'text':
      return knob.maxBytes === undefined
        ? 'a text that is not empty'
        : `a text of 1 to ${knob.maxBytes} bytes`;
    case 'switch':
      return 'true or false';
  }
}
