// Owns the check whether a value has the form that its schema asks for, and the words of the
// refusal: which field is wrong, and which values are allowed there. The check never repairs or
// converts a value.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type OperationName } from '../model/operations.ts';
import { type Rejected, rejected } from '../model/refusal.ts';
import type { Schema } from '../model/schema.ts';
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

function explain(schema: Schema, fault: ErrorObject | undefined, value: unknown): Rejected {
  // An unknown field is told before a missing one, because the unknown name may be the missing one
  // misspelt.
  const unknown = unknownField(schema, fault, value);
  if (unknown !== undefined) {
    const field = dotted(unknown);
    return rejected('malformed', `There is no field ${field} here.`, { field });
  }
  if (fault?.keyword === 'required') {
    const field = dotted(`${fault.instancePath}/${fault.params.missingProperty}`);
    return rejected('malformed', `The field ${field} is missing.`, { field });
  }
  const path = fault?.instancePath ?? '';
  if (path === '') return rejected('malformed', 'A JSON object is expected, with named fields.');
  const field = dotted(path);
  const wanted = shapeOf(nodeAt(schema, path));
  const given = kindOf(valueAt(value, path));
  return rejected('malformed', `${field} must be ${wanted}; ${given} was given.${hint(field)}`, {
    field,
  });
}

/** @returns the path of the first name that the schema does not know, beside or at the fault. */
function unknownField(
  schema: Schema,
  fault: ErrorObject | undefined,
  value: unknown,
): string | undefined {
  const path = fault?.instancePath ?? '';
  const { properties, additionalProperties } = nodeAt(schema, path);
  const at = valueAt(value, path);
  if (additionalProperties !== false || properties === undefined) return undefined;
  if (typeof at !== 'object' || at === null || Array.isArray(at)) return undefined;
  const name = Object.keys(at).find((key) => !Object.hasOwn(properties, key));
  return name === undefined
    ? undefined
    : `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function hint(field: string): string {
  if (field !== 'payload' && field !== 'result') return '';
  return (
    ` The ${field} is opaque bytes: send an object as a JSON string of its text,` +
    ` and bytes as ${field}_base64.`
  );
}

const steps = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

const FIELD_SHOWN_MAX = 200;

// The path may end in a key that the client chose; an answer is no place for a megabyte of it.
function dotted(path: string): string {
  const field = steps(path).join('.');
  return field.length <= FIELD_SHOWN_MAX ? field : `${field.slice(0, FIELD_SHOWN_MAX)}…`;
}

function valueAt(value: unknown, path: string): unknown {
  let at: unknown = value;
  for (const step of steps(path)) at = Object.getOwnPropertyDescriptor(Object(at), step)?.value;
  return at;
}

function nodeAt(schema: Schema, path: string): Schema {
  let node = schema;
  for (const step of steps(path)) {
    const { properties = {}, items, additionalProperties } = node;
    const named = Object.hasOwn(properties, step) ? properties[step] : items;
    node = named ?? (typeof additionalProperties === 'object' ? additionalProperties : {});
  }
  return node;
}

/** What belongs in a field, in words, from its schema. */
function shapeOf(node: Schema): string {
  const { type, minimum, maximum, minItems = 0, maxItems, minLength = 0, maxLength } = node;
  if (node.enum !== undefined) return `one of ${node.enum.join(', ')}`;
  if (node.pattern !== undefined || node.anyOf !== undefined) {
    return `a string: ${lowerFirst(node.description ?? '')}`;
  }
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`;
  if (type === 'number') return `a number from ${minimum} to ${maximum}`;
  if (type === 'array') return `a list of ${minItems} to ${maxItems} items`;
  if (type === 'object') return 'an object';
  return maxLength === undefined ? 'a string' : `a string of ${minLength} to ${maxLength} bytes`;
}

const lowerFirst = (text: string): string =>
  (text.charAt(0).toLowerCase() + text.slice(1)).replace(/\.$/, '');

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'no finite number';
  if (typeof value === 'boolean') return String(value);
  const { length } = value as string;
  return length === 0 ? 'an empty string' : `a string of ${length} characters`;
}
