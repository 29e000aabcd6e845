// Owns the check whether a value has the form that a schema of ours describes. A schema becomes
// straight code once, and the check ends at the first fault, because a body may hold a million. Our
// schemas use few keywords of JSON Schema, so compiling one takes a hundredth of the time that a
// validator for all of JSON Schema takes; a server compiles each at its start, in two threads.

import type { Schema } from '../model/schema.ts';
import { compile } from './compile.ts';

export interface Fault {
  /** Where the fault is: a JSON Pointer. */
  readonly path: string;
  /** The field that is missing there. */
  readonly missing?: string;
}
export type Check = (value: unknown) => Fault | undefined;

/** What the code may use besides its argument, by the names that it has there. */
type Names = Record<string, unknown>;

/** @returns a check; it reads a value's own properties only, and changes nothing */
export function checkOf(schema: Schema): Check {
  const names: Names = { codePoints, escaped, has: Object.prototype.hasOwnProperty };
  return compile(names, 'value', codeOf(schema, 'value', "''", names));
}

/** @param path the code of where the value is */
function codeOf(schema: Schema, value: string, path: string, names: Names): string {
  const wrong = [...conditionsOf(schema, value, names)];
  const lines = wrong.length === 0 ? [] : [`if (${wrong.join(' || ')}) return { path: ${path} };`];
  if (schema.type === 'object') lines.push(...membersOf(schema, value, path, names));
  if (schema.items !== undefined) {
    const [at, item] = [fresh('at', names), fresh('item', names)];
    const code = codeOf(schema.items, item, `${path} + '/' + ${at}`, names);
    lines.push(
      `for (let ${at} = 0; ${at} < ${value}.length; ${at} += 1) {`,
      `const ${item} = ${value}[${at}];\n${code}\n}`,
    );
  }
  return lines.join('\n');
}

/** The conditions that make the value itself wrong, whatever is in it. */
function* conditionsOf(schema: Schema, value: string, names: Names): Iterable<string> {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const { pattern, enum: words, anyOf } = schema;
  if (type !== undefined) yield HAS_OTHER_TYPE[type as keyof typeof HAS_OTHER_TYPE](value);
  if (maximum !== undefined) yield `${value} > ${maximum}`;
  if (minimum !== undefined) yield `${value} < ${minimum}`;
  // No text has more code points than units, and none has less than half as many.
  if (maxLength !== undefined) {
    yield `(${value}.length > ${maxLength} && codePoints(${value}) > ${maxLength})`;
  }
  if (minLength !== undefined) {
    yield `(${value}.length < ${2 * minLength} && codePoints(${value}) < ${minLength})`;
  }
  if (pattern !== undefined)
    yield `!${fresh('pattern', names, RegExp(pattern, 'u'))}.test(${value})`;
  if (words !== undefined) yield `!${fresh('words', names, words)}.includes(${value})`;
  if (maxItems !== undefined) yield `${value}.length > ${maxItems}`;
  if (minItems !== undefined) yield `${value}.length < ${minItems}`;
  if (anyOf !== undefined) {
    const checks = fresh('checks', names, anyOf.map(checkOf));
    yield `${checks}.every((check) => check(${value}) !== undefined)`;
  }
}

const HAS_OTHER_TYPE = {
  string: (value: string) => `typeof ${value} !== 'string'`,
  integer: (value: string) => `!Number.isInteger(${value})`,
  number: (value: string) => `!Number.isFinite(${value})`,
  boolean: (value: string) => `typeof ${value} !== 'boolean'`,
  array: (value: string) => `!Array.isArray(${value})`,
  object: (value: string) =>
    `typeof ${value} !== 'object' || ${value} === null || Array.isArray(${value})`,
};

/** The code for what is in an object: what is missing, what is unknown, and each member. */
function* membersOf(schema: Schema, value: string, path: string, names: Names): Iterable<string> {
  const { properties = {}, required = [], additionalProperties } = schema;
  for (const name of required) {
    const word = JSON.stringify(name);
    yield `if (!has.call(${value}, ${word}) || ${value}[${word}] === undefined)`;
    yield `return { path: ${path}, missing: ${word} };`;
  }
  const known = Object.keys(properties);
  if (additionalProperties !== undefined && additionalProperties !== true) {
    const key = fresh('key', names);
    const isUnknown = known.map((name) => `${key} !== ${JSON.stringify(name)}`);
    const rest =
      additionalProperties === false
        ? `return { path: ${path} };`
        : memberOf(additionalProperties, `${value}[${key}]`, `'/' + escaped(${key})`, path, names);
    yield `for (const ${key} of Object.keys(${value})) {`;
    yield `if (${isUnknown.join(' && ') || 'true'}) {\n${rest}\n}\n}`;
  }
  for (const [name, member] of Object.entries(properties)) {
    const word = JSON.stringify(name);
    const step = JSON.stringify(`/${escaped(name)}`);
    yield `if (has.call(${value}, ${word}) && ${value}[${word}] !== undefined) {`;
    yield `${memberOf(member, `${value}[${word}]`, step, path, names)}\n}`;
  }
}

function memberOf(schema: Schema, from: string, step: string, path: string, names: Names): string {
  const member = fresh('member', names);
  return `const ${member} = ${from};\n${codeOf(schema, member, `${path} + ${step}`, names)}`;
}

/** @returns a name that the code does not use yet */
function fresh(name: string, names: Names, value?: unknown): string {
  const made = `${name}${Object.keys(names).length}`;
  names[made] = value;
  return made;
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
