// Owns the words of a refusal for a value that has not the form of its request: which field is
// wrong, which values are allowed there, and what was probably meant.

import { nearestName } from '../model/nearest.ts';
import { type Rejected, rejected } from '../model/refusal.ts';
import type { Schema } from '../model/schema.ts';
import type { Fault } from './validators.js';

/** @returns the refusal of a value for the first fault that was found in it. */
export function explain(schema: Schema, fault: Fault | undefined, value: unknown): Rejected {
  // An unknown field is told before a missing one, because the unknown name may be the missing one
  // misspelt.
  const unknown = unknownField(schema, fault, value);
  if (unknown !== undefined) {
    return unknownName('field', steps(unknown).join('.'), meantBy(schema, unknown));
  }
  if (fault?.keyword === 'required') {
    const field = dotted(`${fault.instancePath}/${fault.params.missingProperty}`);
    return rejected('malformed', `The field ${field} is missing.`, { field });
  }
  const path = fault?.instancePath ?? '';
  if (path === '') return rejected('malformed', 'A JSON object is expected, with named fields.');
  const field = dotted(path);
  const node = nodeAt(schema, path);
  const given = valueAt(value, path);
  const why = wrongCharacter(node, given) ?? `${kindOf(given)} was given`;
  const detail = `${field} must be ${shapeOf(node)}; ${why}.${hint(field)}`;
  return rejected('malformed', detail, { field });
}

/** @returns the refusal of the first parameter of a query that is not among these names, if any. */
export function unknownParameter(
  query: object,
  names: readonly string[] = [],
): Rejected | undefined {
  const name = Object.keys(query).find((one) => !names.includes(one));
  if (name === undefined) return undefined;
  return unknownName('query parameter', name, nearMeant(name, names));
}

function unknownName(kind: string, name: string, meant: string): Rejected {
  const field = cut(name);
  return rejected('malformed', `There is no ${kind} ${field} here${meant}`, { field });
}

/**
 * The end of the sentence: where a field of this name belongs, or which name is meant.
 * @param path of the unknown name
 */
function meantBy(schema: Schema, path: string): string {
  const given = steps(path);
  const name = given.pop() as string;
  const parent = given.length === 0 ? '' : `${given.join('.')}.`;
  const elsewhere = fieldsIn(schema).find((field) => field.split('.').at(-1) === name);
  if (elsewhere !== undefined) return `, but there is ${elsewhere}.`;
  const { properties = {} } = nodeAt(schema, path.slice(0, path.lastIndexOf('/')));
  return nearMeant(name, Object.keys(properties), parent);
}

/** The end of the sentence, when the name belongs nowhere. */
function nearMeant(name: string, names: readonly string[], parent = ''): string {
  // Of a name of one or two letters every short one is near.
  const nearest = name.length < 3 ? undefined : nearestName(name, names);
  return nearest === undefined ? '.' : `; did you mean ${parent}${nearest}?`;
}

/** @returns all fields of a form, those of an object within it with its name and a dot before. */
function fieldsIn({ properties = {} }: Schema): string[] {
  return Object.entries(properties).flatMap(([name, field]) => [
    name,
    ...fieldsIn(field).map((inner) => `${name}.${inner}`),
  ]);
}

/** A pattern that only says how many of which characters a text may have. */
const CHARACTERS = /^\^(\[[^\]]+\])\{\d+,\d+\}\$$/;

/** @returns which character of a text may not stand there, where that is what is wrong. */
function wrongCharacter({ pattern = '' }: Schema, value: unknown): string | undefined {
  const [, allowed] = CHARACTERS.exec(pattern) ?? [];
  if (allowed === undefined || typeof value !== 'string') return undefined;
  const isAllowed = new RegExp(`^${allowed}$`);
  let place = 0;
  for (const character of value) {
    place += 1;
    if (!isAllowed.test(character))
      return `${shown(character)} (character ${place}) is none of them`;
  }
  return undefined;
}

/** A character that shows, in quotes; any other as its number. */
function shown(character: string): string {
  if (/^[\p{L}\p{N}\p{P}\p{S} ]$/u.test(character)) return JSON.stringify(character);
  const number = (character.codePointAt(0) as number).toString(16).toUpperCase();
  return `U+${number.padStart(4, '0')}`;
}

/** @returns the path of the first name that the schema does not know, beside or at the fault. */
function unknownField(
  schema: Schema,
  fault: Fault | undefined,
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

const dotted = (path: string): string => cut(steps(path).join('.'));

// The name may be a key that the client chose; an answer is no place for a megabyte of it.
const cut = (name: string): string =>
  name.length <= FIELD_SHOWN_MAX ? name : `${name.slice(0, FIELD_SHOWN_MAX)}…`;

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
    return lowerFirst(node.description ?? '');
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
  let length = 0;
  for (const _ of value as string) length += 1;
  if (length === 0) return 'an empty string';
  return `a string of ${length} character${length === 1 ? '' : 's'}`;
}
