// Owns the check whether a value has the form that its schema asks for. The check never repairs or
// converts a value. The words of the refusal are in form-words.ts.

import { Ajv, type ValidateFunction } from 'ajv';
import { type OperationName } from '../model/operations.ts';
import type { Rejected } from '../model/refusal.ts';
import { explain } from './form-words.ts';
import { FORMS } from './forms.ts';

// Our schemas come from our own tables and are tested. A check of them against the meta-schema at
// each start would cost more than compiling them. Validation ends at the first fault, because a
// body may hold a million faults.
const ajv = new Ajv({ meta: false, validateSchema: false, strict: false, ownProperties: true });
const validators = new Map<OperationName, ValidateFunction>();

function validatorOf(form: OperationName): ValidateFunction {
  let validator = validators.get(form);
  if (validator === undefined) {
    validator = ajv.compile(FORMS[form]);
    validators.set(form, validator);
  }
  return validator;
}

/** Makes a form's judge now, so that the first request of its kind does not wait for it. */
export const prepare = (form: OperationName): void => void validatorOf(form);

/** @returns undefined when the value has the form, else what is wrong with it, naming the field. */
export function malformed(form: OperationName, value: unknown): Rejected | undefined {
  const validator = validatorOf(form);
  if (validator(value)) return undefined;
  return explain(FORMS[form], validator.errors?.[0], value);
}

/** @returns whether a field is a whole number, so that its text in a query may be made one. */
export function wantsWholeNumber(form: OperationName, field: string): boolean {
  const { properties } = FORMS[form];
  return Object.hasOwn(properties, field) && properties[field]?.type === 'integer';
}
