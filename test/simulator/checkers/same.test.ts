// Owns the proof that the comparison on which every checker rests sees each kind of difference, and
// takes for the same only what is: it agrees with a slower one that compares the fields' names.

import { inspect } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { difference } from './same.ts';

const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);

/** Plain: the fields that are defined and no sentences, by name. */
function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return a.length === b.length && a.every((byte, n) => byte === b[n]);
  }
  const isObject = typeof a === 'object' && a !== null && typeof b === 'object' && b !== null;
  if (!isObject) return a === b;
  const fields = (object: object): Map<string, unknown> =>
    new Map(
      Object.entries(object)
        .filter(([, value]) => value !== undefined)
        .filter(([name]) => !['detail', 'field', 'retryAfterMs'].includes(name)),
    );
  const [left, right] = [fields(a), fields(b)];
  return (
    left.size === right.size && [...left].every(([name, value]) => isSame(value, right.get(name)))
  );
}

describe('simulator: the comparison', () => {
  const same: readonly (readonly [unknown, unknown])[] = [
    [{ a: 1 }, { a: 1 }],
    [{ a: 1, b: undefined }, { a: 1 }],
    [{ a: 1 }, { b: undefined, a: 1 }],
    [{ a: bytes(1, 2) }, { a: bytes(1, 2) }],
    [{ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2 }] } }],
    [{ a: 1, detail: 'for people' }, { a: 1 }],
    [{ a: 1 }, { a: 1, detail: 'for people', field: 'x' }],
    [
      { a: 1, detail: 'one' },
      { a: 1, detail: 'another' },
    ],
  ];
  for (const [a, b] of same) {
    it(`${inspect(a)} is the same as ${inspect(b)}`, () => {
      expect(difference(a, b)).to.equal(undefined);
    });
  }

  const different: readonly (readonly [unknown, unknown, string])[] = [
    [{ a: 1 }, { a: 2 }, 'a: expected 1, got 2'],
    [{ a: 1 }, {}, 'a: expected 1, got nothing'],
    [{}, { a: 1 }, 'a: expected nothing, got 1'],
    [{ a: undefined }, { a: 1 }, 'a: expected nothing, got 1'],
    [{ a: 1, detail: 'one' }, { a: 1, b: 2 }, 'b: expected nothing, got 2'],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, 'a: c: expected nothing, got 2'],
    [{ a: bytes(1) }, { a: bytes(2) }, 'a: other bytes'],
    [[1, 2], [1, 2, 3], '2: expected nothing, got 3'],
    [[1, 2, 3], [1, 2], '2: expected 3, got nothing'],
    [{ a: null }, { a: 0 }, 'a: expected null, got 0'],
  ];
  for (const [a, b, what] of different) {
    it(`${inspect(a)} is not ${inspect(b)}`, () => {
      expect(difference(a, b)).to.equal(what);
    });
  }

  it('agrees with a plain one on 20 000 pairs', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'detail', 'field');
    const leaf = fc.constantFrom(undefined, null, 0, 1, 'x', true, bytes(), bytes(1), bytes(2));
    const flat = fc.dictionary(name, leaf, { noNullPrototype: true });
    const deep = fc.dictionary(name, fc.oneof(leaf, flat, fc.array(leaf, { maxLength: 2 })), {
      noNullPrototype: true,
    });
    let equal = 0;
    fc.assert(
      fc.property(deep, deep, (a, b) => {
        expect(difference(a, b) === undefined).to.equal(isSame(a, b));
        expect(difference(a, structuredClone(a))).to.equal(undefined);
        if (isSame(a, b)) equal += 1;
      }),
      { numRuns: 20_000, seed: 1 },
    );
    expect(equal).to.be.greaterThan(100);
  }).timeout(180_000);
});
