// Owns the judgement whether a value has the form that its schema asks for, and the words for a
// value that has not: which field, and what belongs there. It never repairs or converts anything.

import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { type Rejected, rejected } from './response.ts';
import { type Form, SCHEMAS } from './schemas.ts';

interface Fault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
}

const validators = new Map<Form, Validator>();

function validatorOf(form: Form): Validator {
  let validator = validators.get(form);
  if (validator === undefined) {
    const schema: TSchema = SCHEMAS[form];
    validator = Compile(schema);
    validators.set(form, validator);
  }
  return validator;
}

/** @returns undefined when the value has the form, else what is wrong with it, naming the field. */
export function malformed(form: Form, value: unknown): Rejected | undefined {
  const validator = validatorOf(form);
  if (validator.Check(value)) return undefined;
  return explain(SCHEMAS[form], validator.Errors(value), value);
}

/** @returns whether a field is a whole number, so that its text in a query may be made one. */
export function wantsWholeNumber(form: Form, field: string): boolean {
  const { properties = {} } = SCHEMAS[form] as Node;
  return Object.hasOwn(properties, field) && properties[field]?.type === 'integer';
}

function explain(schema: TSchema, faults: readonly Fault[], value: unknown): Rejected {
  // A name that nobody knows explains a required one that is missing: it is told first.
  const unknown = faults.find(isUnknownField);
  if (unknown !== undefined) {
    const field = dotted(unknown.instancePath);
    return rejected('malformed', `There is no field ${field} here.`, { field });
  }
  const fault = faults.find((each) => each.keyword !== 'anyOf') ?? faults[0];
  if (fault?.keyword === 'required') {
    const missing = (fault.params as { requiredProperties?: string[] }).requiredProperties?.[0];
    const field = dotted(`${fault.instancePath}/${missing ?? ''}`);
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

const isUnknownField = (fault: Fault): boolean =>
  fault.keyword === 'boolean' && fault.schemaPath.endsWith('/additionalProperties');

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

/** The keywords that our schemas use. */
interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Node[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

function nodeAt(schema: TSchema, path: string): Node {
  let node = schema as Node;
  for (const step of steps(path)) {
    const { properties = {}, items, additionalProperties } = node;
    const named = Object.hasOwn(properties, step) ? properties[step] : items;
    node = named ?? (typeof additionalProperties === 'object' ? additionalProperties : {});
  }
  return node;
}

/** What belongs in a field, in words, from its schema. */
function shapeOf(node: Node): string {
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
