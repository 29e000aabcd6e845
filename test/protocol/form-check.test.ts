// Holds the check of forms to a validator for all of JSON Schema: both find the same faults first,
// in values that are nearly right.

import { Ajv } from 'ajv';
import { expect } from 'chai';
import fc from 'fast-check';
import { OPERATION_NAMES } from '../../src/model/operations.ts';
import type { Schema } from '../../src/model/schema.ts';
import { checkOf, type Fault } from '../../src/protocol/form-check.ts';
import { FORMS } from '../../src/protocol/forms.ts';

const ajv = new Ajv({ meta: false, validateSchema: false, strict: false, ownProperties: true });

/** The first fault that ajv finds, as the check tells it. */
function faultOf(validator: ReturnType<Ajv['compile']>, value: unknown): Fault | undefined {
  if (validator(value)) return undefined;
  const [error] = validator.errors ?? [];
  const path = error?.instancePath ?? '';
  return error?.keyword === 'required'
    ? { path, missing: String(error.params['missingProperty']) }
    : { path };
}

const ODD: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e300, Number.NaN, Number.POSITIVE_INFINITY, undefined],
  ...['', 'T1', 'T0', 'q', 'q!', '😀'.repeat(128), '😀'.repeat(129), 'x'.repeat(257), '\ud800'],
  ...[[], {}, ['a'], { a: 1 }, { 'a/b~c': 2 }, JSON.parse('{"__proto__":1,"constructor":"x"}')],
];
const odd = fc.constantFrom(...ODD);

/** Values that a schema takes, and some that it does not. */
function near(schema: Schema): fc.Arbitrary<unknown> {
  const { properties, additionalProperties, items, anyOf } = schema;
  const { enum: words, minimum = 0, maximum = 9, maxItems = 2 } = schema;
  const edges = [minimum - 1, minimum, maximum, maximum + 1, minimum + 0.5];
  const sound: fc.Arbitrary<unknown>[] = [];
  if (words !== undefined) sound.push(fc.constantFrom(...words));
  if (anyOf !== undefined) sound.push(...anyOf.map(near));
  if (schema.type === 'integer' || schema.type === 'number') sound.push(fc.constantFrom(...edges));
  if (schema.type === 'string') sound.push(fc.constantFrom('T1', 'L7', 'q', 'worker', '', 'YQ=='));
  if (schema.type === 'boolean') sound.push(fc.boolean());
  if (items !== undefined) sound.push(fc.array(near(items), { maxLength: maxItems + 1 }));
  if (properties !== undefined) {
    const members = Object.entries(properties).map(([name, member]) => [name, near(member)]);
    const named = fc.record(Object.fromEntries(members), { requiredKeys: [] });
    const unknown = fc.dictionary(fc.constantFrom('a', 'a/b~c', '__proto__', 'taskId'), odd);
    sound.push(
      named,
      fc.tuple(named, unknown).map((both) => Object.assign({}, ...both)),
    );
  } else if (typeof additionalProperties === 'object') {
    sound.push(fc.dictionary(fc.constantFrom('a', 'b', 'a/b~c'), near(additionalProperties)));
  }
  const takes = sound.length === 0 ? odd : fc.oneof(...sound);
  return fc.oneof({ weight: 12, arbitrary: takes }, { weight: 1, arbitrary: odd });
}

describe('the check of a form', () => {
  for (const name of OPERATION_NAMES) {
    it(`finds what ajv finds in ${name}`, () => {
      const check = checkOf(FORMS[name]);
      const validator = ajv.compile(FORMS[name]);
      const example = (value: unknown): void => {
        expect(check(value)).to.deep.equal(faultOf(validator, value));
      };
      for (const value of ODD) example(value);
      fc.assert(fc.property(near(FORMS[name]), example), { numRuns: 300 });
    });
  }

  it('knows each keyword that our schemas use', () => {
    const used = new Set<string>();
    const note = (schema: Schema): void => {
      for (const word of Object.keys(schema)) used.add(word);
      const { properties = {}, items, anyOf = [], additionalProperties: more } = schema;
      for (const inner of [...Object.values(properties), ...anyOf]) note(inner);
      if (items !== undefined) note(items);
      if (typeof more === 'object') note(more);
    };
    for (const form of Object.values(FORMS)) note(form);
    used.delete('description');
    const known = 'type properties required additionalProperties items enum anyOf pattern';
    const bounds = 'minimum maximum minLength maxLength minItems maxItems';
    expect(
      [...used].filter((word) => !`${known} ${bounds}`.split(' ').includes(word)),
    ).to.deep.equal([]);
  });

  it('reads own properties alone', () => {
    const check = checkOf({
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
    });
    expect(check(Object.create({ a: 'x' }))).to.deep.equal({ path: '', missing: 'a' });
    expect(check(JSON.parse('{"a":"x","__proto__":{"a":1}}'))).to.equal(undefined);
  });
});
