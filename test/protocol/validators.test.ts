// The validators that the build has made say of any value what ajv says of the forms as they are:
// a validator of an older form, or one that was made in another way, is found here.

import { Ajv } from 'ajv';
import { expect } from 'chai';
import { OPERATION_NAMES } from '../../src/model/operations.ts';
import type { Schema } from '../../src/model/schema.ts';
import { FORMS } from '../../src/protocol/forms.ts';
import { VALIDATORS } from '../../src/protocol/validators.js';
import { Random } from '../simulator/random.ts';

const VALUES_OF_EACH = 400;
const TEXTS = ['', 'a', 'q.1', 'T1', 'T01', 'L7', 'a b', 'é', '1', 'true', '\ud800'];
const ODD: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1.5, 2 ** 53, 1e300, Number.NaN, [], ['a'], {}, { a: 1 }],
  ...[JSON.parse('{"__proto__":1}'), Object.create({ payload: 'p' }), new Date(0)],
  ...['x'.repeat(300), '😀'.repeat(256), '😀'.repeat(257)],
];

interface Form {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Form[];
  readonly properties?: Readonly<Record<string, Form>>;
  readonly additionalProperties?: boolean | Form;
  readonly items?: Form;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** @returns a value that has the form mostly, or nearly. */
function valueOf(form: Form | undefined, random: Random): unknown {
  const odd = (): unknown => random.pick([...ODD, ...TEXTS]);
  if (form === undefined || random.chance(0.06)) return odd();
  if (form.enum !== undefined) return random.pick(form.enum);
  if (form.anyOf !== undefined) return valueOf(random.pick(form.anyOf), random);
  switch (form.type) {
    case 'object':
      return objectOf(form, random);
    case 'array':
      return Array.from({ length: random.between(0, 3) }, () => valueOf(form.items, random));
    case 'string':
      return random.pick(TEXTS);
    case 'boolean':
      return random.chance(0.5);
    default: {
      const { minimum = 0, maximum = 9 } = form;
      return random.pick([minimum, maximum, minimum - 1, maximum + 1, 1, 1.5]);
    }
  }
}

function objectOf({ properties = {}, additionalProperties: more }: Form, random: Random): object {
  const fields: Record<string, unknown> = {};
  for (const [name, form] of Object.entries(properties)) {
    if (random.chance(0.8)) fields[name] = valueOf(form, random);
  }
  if (typeof more === 'object') fields['a key'] = valueOf(more, random);
  if (random.chance(0.05)) fields[random.pick(['strange', 'hasOwnProperty'])] = 1;
  return fields;
}

const firstOf = (faults: Ajv['errors'] | (typeof VALIDATORS)['submit']['errors']): unknown => {
  const { keyword, instancePath, params } = faults?.[0] ?? {};
  return { keyword, instancePath, params };
};

describe('a validator of the build', () => {
  const ajv = new Ajv({ meta: false, validateSchema: false, strict: false, ownProperties: true });

  for (const operation of OPERATION_NAMES) {
    it(`judges ${operation} by the form as it is`, () => {
      const judge = ajv.compile(FORMS[operation]);
      const validator = VALIDATORS[operation];
      const random = new Random(1, operation);
      for (let n = 0; n < VALUES_OF_EACH; n += 1) {
        const value = valueOf(FORMS[operation] as Schema as Form, random);
        const isGood = judge(value);
        expect(validator(value), JSON.stringify(value)).to.equal(isGood);
        if (!isGood) expect(firstOf(validator.errors)).to.deep.equal(firstOf(judge.errors));
      }
    });
  }
});
