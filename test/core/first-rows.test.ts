// The first rows of a long list, against sorting all of it.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  FirstRows,
  isBefore,
  type Place,
  placeText,
  readPlace,
} from '../../src/core/first-rows.ts';

const places = fc
  .array(fc.tuple(fc.integer({ min: -3, max: 3 }), fc.string({ minLength: 1, maxLength: 4 })))
  .map((all) => {
    const byText = new Map(all.map(([value, name]) => [placeText({ value, name }), value]));
    return [...byText].map(
      ([text, value]): Place => ({ value, name: text.replace(/^-?\d+\//, '') }),
    );
  });

describe('first rows', () => {
  it('pages read one after the other are the whole list in order', () => {
    fc.assert(
      fc.property(places, fc.integer({ min: 1, max: 9 }), (rows, limit) => {
        const sorted = [...rows].sort((a, b) => (isBefore(a, b) ? -1 : 1));
        const read: Place[] = [];
        let after: Place | undefined;
        do {
          const first = new FirstRows<Place>(limit, after);
          for (const row of rows) first.add(row);
          const page = first.page();
          read.push(...page.rows);
          expect(page.leftOut).to.equal(rows.length - read.length);
          expect(page.rows.length).to.equal(
            Math.min(limit, rows.length - read.length + page.rows.length),
          );
          const last = page.rows.at(-1);
          after = page.leftOut === 0 || last === undefined ? undefined : readPlace(placeText(last));
        } while (after !== undefined);
        expect(read).to.deep.equal(sorted);
      }),
      { numRuns: 300 },
    );
  });

  it('a long list in the worst order is cut as it comes', () => {
    const first = new FirstRows<Place>(10);
    for (let n = 20_000; n > 0; n -= 1) first.add({ value: n, name: 'q' });
    const { rows, leftOut } = first.page();
    expect(rows.map(({ value }) => value)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(leftOut).to.equal(19_990);
  });

  it('what is no place is told from one', () => {
    for (const text of ['', 'mail', '12', '12/', '/mail', '1e5/mail', 'x/mail', '1./a']) {
      expect(readPlace(text), text).to.equal(undefined);
    }
    expect(readPlace('-12.5/a/b\n')).to.deep.equal({ value: -12.5, name: 'a/b\n' });
  });
});
