// Owns the check whether a value has the form that its schema asks for. The check never repairs or
// converts a value. The words of the refusal are in form-words.ts.

import { type OperationName } from '../model/operations.ts';
import type { Rejected } from '../model/refusal.ts';
import { explain } from './form-words.ts';
import { FORMS } from './forms.ts';
import { VALIDATORS } from './validators.js';

/** @returns undefined when the value has the form, else what is wrong with it, naming the field. */
export function malformed(form: OperationName, value: unknown): Rejected | undefined {
  const validator = VALIDATORS[form];
  if (validator(value)) return undefined;
  return explain(FORMS[form], validator.errors?.[0], value);
}

/** @returns whether a field is a whole number, so that its text in a query may be made one. */
export function wantsWholeNumber(form: OperationName, field: string): boolean {
  const { properties } = FORMS[form];
  const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
  return [schema, ...(schema?.anyOf ?? [])].some((one) => one?.type === 'integer');
}
