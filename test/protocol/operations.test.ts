// Holds the table of operations together: what a row names is there, and what is made from a row
// works for each of them, so that a new row or field needs no test of its own for that.

import { expect } from 'chai';
import {
  OPERATION_NAMES,
  OPERATIONS,
  operationOf,
  operationsThat,
} from '../../src/model/operations.ts';
import type { Op, Request } from '../../src/model/request.ts';
import type { Field, Fields, Group } from '../../src/model/request-fields.ts';
import { ANSWERS } from '../../src/protocol/answer-schemas.ts';
import { parseRequest } from '../../src/protocol/fields-to-request.ts';
import { decodeRequest, encodeRequest } from '../../src/protocol/request-codec.ts';

const LIMITS = { payloadMaxBytes: 100 };

/** A value of a field as it stands on the wire. */
function example(field: Field): unknown {
  const { kind, words, schema } = field;
  if ('fields' in field) return given((field as Group).fields, () => true);
  switch (kind) {
    case 'number':
      return schema.maximum;
    case 'fraction':
      return 1.5;
    case 'word':
      return words?.at(-1);
    case 'flag':
      return schema.enum?.[0];
    case 'task':
    case 'place':
      return 'T9007199254740991';
    case 'lease':
      return 'L3';
    case 'names':
      return ['a', 'b'];
    case 'metadata':
      return { constructor: 'é', '': '\u0000' };
    default:
      return 'default';
  }
}

const given = (fields: Fields, is: (field: Field) => boolean): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => field.presence !== 'made' && is(field))
      .map(([name, field]) => [name, example(field)]),
  );

function throughTheMailbox(op: Op, wire: object): { asked: Request; carried: Request } {
  const asked = parseRequest<Op>(op, wire, LIMITS);
  if ('outcome' in asked) throw new Error(`${op}: ${asked.detail}`);
  return { asked, carried: decodeRequest(Uint8Array.from(encodeRequest(asked))) };
}

describe('the table of operations', () => {
  const asked = operationsThat(({ coordinator }) => coordinator !== undefined) as Op[];

  for (const op of asked) {
    it(`${op}: every field is read and carried`, () => {
      const { fields } = operationOf(op);
      const { asked: request, carried } = throughTheMailbox(
        op,
        given(fields, () => true),
      );
      expect(carried).to.deep.equal(request);
      const values = Object.entries(request).filter(([name]) => name !== 'contentHash');
      expect(values.filter(([, value]) => value === undefined)).to.deep.equal([]);
    });

    it(`${op}: a field that may be missing may be missing`, () => {
      const { fields } = operationOf(op);
      const wire = given(fields, ({ presence }) => presence === 'required');
      const { asked: request, carried } = throughTheMailbox(op, wire);
      expect(carried).to.deep.equal(request);
    });
  }

  it('names fields, answers and operations that there are', () => {
    const answers = new Set([...Object.keys(ANSWERS), 'text', 'ndjson', 'bytes', 'story']);
    for (const name of OPERATION_NAMES) {
      const { http, fields, batch, coordinator } = operationOf(name);
      if (batch === true) expect(coordinator, name).not.to.equal(undefined);
      if (http === undefined) continue;
      const inPath = [...http.path.matchAll(/\{(\w+)\}/g)].map(([, field]) => `${field}`);
      const known = http.rawBody ? { ...fields, queue: true } : fields;
      const used = [...inPath, ...(http.inQuery ?? [])];
      expect(
        used.filter((field) => !Object.hasOwn(known, field)),
        name,
      ).to.deep.equal([]);
      expect(answers.has(http.answer), `${name}: ${http.answer}`).to.equal(true);
    }
  });

  it('never gives a letter of the content hash another meaning: they are in logs', () => {
    const all = (fields: Fields): [string, Field][] =>
      Object.entries(fields).flatMap(([name, field]) =>
        'fields' in field ? all((field as Group).fields) : [[name, field]],
      );
    const letters = all(OPERATIONS.submit.fields).flatMap(([name, { letter }]) =>
      letter === undefined ? [] : [`${letter} ${name}`],
    );
    expect(letters).to.include.members([
      'w execution_window_ms',
      'r max_retries',
      'b backoff_ms',
      'f backoff_factor',
      'm backoff_max_ms',
    ]);
    expect(new Set(letters.map((each) => each[0])).size).to.equal(letters.length);
  });
});
