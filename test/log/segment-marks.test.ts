// The entries of a segment that are no records: read back as written, under their own key only; and
// the tally that a seal keeps.

import { expect } from 'chai';
import { LogCorrupt } from '../../src/log/log.ts';
import { decodeMark, encodeMark, isMark, type Mark, Tally } from '../../src/log/segments/marks.ts';

const MARKS: readonly Mark[] = [
  { kind: 'header', ordinal: 1, generation: 0, dropped: [], removedAt: 0 },
  {
    kind: 'header',
    ordinal: 70_000,
    generation: 12,
    dropped: [
      [1, 1],
      [3, 900],
      [2 ** 40, 2 ** 41],
    ],
    removedAt: 2 ** 42,
  },
  { kind: 'seal', count: 3, hash: 0xffff_ffff, successor: 2 },
  { kind: 'skip', to: 2 ** 50 },
];

describe('marks of a segment', () => {
  for (const mark of MARKS) {
    it(`${JSON.stringify(mark)} is read back, whole and under its key`, () => {
      const bytes = encodeMark(7, mark);
      expect(isMark(bytes)).to.equal(true);
      expect(decodeMark(7, bytes)).to.deep.equal(mark);
      expect(() => decodeMark(8, bytes)).to.throw(LogCorrupt, 'record 8');
      for (let place = 0; place < bytes.length; place += 1) {
        const bad = bytes.with(place, (bytes[place] as number) ^ 1);
        expect(() => decodeMark(7, bad), `byte ${place}`).to.throw(LogCorrupt);
      }
    });
  }

  it('a tally equals the seal of the same records in the same order, and no other', () => {
    const tally = (...sums: number[]): Tally => {
      const made = new Tally();
      for (const sum of sums) made.add(sum);
      return made;
    };
    const { count, hash } = tally(5, 0xffff_ffff, 7);
    const seal = { kind: 'seal', count, hash, successor: 2 } as const;
    expect(tally(5, 0xffff_ffff, 7).equals(seal)).to.equal(true);
    expect(tally(5, 7, 0xffff_ffff).equals(seal)).to.equal(false);
    expect(tally(5, 0xffff_ffff, 6).equals(seal)).to.equal(false);
    expect(tally(5, 0xffff_ffff).equals(seal)).to.equal(false);
    // A checksum of 0 folds to nothing: the count tells.
    const none = { kind: 'seal', count: 0, hash: 0, successor: 2 } as const;
    expect(tally(0).equals(none)).to.equal(false);
  });
});
