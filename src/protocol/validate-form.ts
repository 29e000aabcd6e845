// Owns the check whether a value has the form that its schema asks for. The check never repairs or
// converts a value. The words of the refusal are in form-words.ts.

import { type OperationName } from '../model/operations.ts';
import type { Rejected } from '../model/refusal.ts';
import { type Check, checkOf } from './form-check.ts';
import { explain } from './form-words.ts';
import { FORMS } from './forms.ts';

const checks = new Map<OperationName, Check>();

function checkFor(form: OperationName): Check {
  let check = checks.get(form);
  if (check === undefined) {
    check = checkOf(FORMS[form]);
    checks.set(form, check);
  }
  return check;
}

/** Makes a form's check now, so that the first request of its kind does not wait for it. */
export const prepare = (form: OperationName): void => void checkFor(form);

/** @returns undefined when the value has the form, else what is wrong with it, naming the field. */
export function malformed(form: OperationName, value: unknown): Rejected | undefined {
  const fault = checkFor(form)(value);
  return fault === undefined ? undefined : explain(FORMS[form], fault, value);
}

/** @returns whether a field is a whole number, so that its text in a query may be made one. */
export function wantsWholeNumber(form: OperationName, field: string): boolean {
  const { properties } = FORMS[form];
  return Object.hasOwn(properties, field) && properties[field]?.type === 'integer';
}
