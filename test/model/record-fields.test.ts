// What a record holds is described once; the page about the interface says the same.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { fieldsOf } from '../../src/model/record-fields.ts';
import { RECORD_TYPES } from '../../src/model/records.ts';

/** The fields of a type as the page lists them: members of objects are not, `?` may be absent. */
function shownFields(type: (typeof RECORD_TYPES)[number]): string[] {
  const shown = fieldsOf(type).map(({ name, bit }) =>
    name.includes('.') ? (name.split('.')[0] as string) : `${name}${bit === 0 ? '' : '?'}`,
  );
  return [...new Set(shown)].toSorted();
}

describe('the fields of a record', () => {
  it('stand in the page about the interface, and no others', () => {
    const page = readFileSync('docs/PROTOCOL.md', 'utf8');
    for (const type of RECORD_TYPES) {
      const row = page.match(RegExp(`^\\| ${type} \\| \`([^\`]*)\` \\|`, 'm'))?.[1];
      expect(row?.split(', ').toSorted(), type).to.deep.equal(shownFields(type));
    }
  });

  it('have a bit of their own each where they are optional', () => {
    for (const type of RECORD_TYPES) {
      // The two of the extensions are there together.
      const bits = fieldsOf(type)
        .filter(({ name, bit }) => bit !== 0 && name !== 'last_extension')
        .map(({ bit }) => bit);
      expect(new Set(bits).size, type).to.equal(bits.length);
      for (const bit of bits) expect(Math.log2(bit) % 1, `${type}: ${bit}`).to.equal(0);
    }
  });
});
