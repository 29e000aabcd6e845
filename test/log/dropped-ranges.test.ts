// The set of numbers whose absence is declared, against a plain set of numbers.

import { expect } from 'chai';
import fc from 'fast-check';
import { DroppedRanges } from '../../src/log/segments/dropped-ranges.ts';

const LAST = 40;
const range = fc
  .tuple(fc.integer({ min: 1, max: LAST }), fc.nat(6))
  .map(([from, more]) => [from, Math.min(from + more, LAST)] as const);

describe('dropped ranges', () => {
  it('hold what was added, as few sorted ranges that do not touch', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 15 }), (added) => {
        const dropped = new DroppedRanges();
        const numbers = new Set<number>();
        for (const [from, to] of added) {
          dropped.add(from, to);
          for (let seq = from; seq <= to; seq += 1) numbers.add(seq);
          const { ranges } = dropped;
          for (const [place, [first, last]] of ranges.entries()) {
            expect(first).to.be.at.most(last);
            const before = ranges[place - 1];
            if (before !== undefined) expect(first).to.be.above(before[1] + 1);
          }
        }
        for (let seq = 1; seq <= LAST + 1; seq += 1) {
          let present = seq;
          while (numbers.has(present)) present += 1;
          expect(dropped.has(seq)).to.equal(numbers.has(seq));
          expect(dropped.present(seq)).to.equal(present);
          expect(dropped.endOfRange(seq)).to.equal(numbers.has(seq) ? present - 1 : 0);
        }
        const twice = new DroppedRanges([[LAST - 5, LAST - 3]]);
        twice.addAll(dropped.ranges);
        const once = new DroppedRanges(dropped.ranges);
        once.add(LAST - 5, LAST - 3);
        expect(twice.ranges).to.deep.equal(once.ranges);
        // A copy is made of the ranges, and goes its own way.
        const copy = new DroppedRanges(dropped.ranges);
        copy.add(1, LAST);
        expect(copy.ranges).to.deep.equal([[1, LAST]]);
        expect(dropped.has(LAST)).to.equal(numbers.has(LAST));
      }),
    );
  });

  it('share what they gather', () => {
    const [one, two] = [new DroppedRanges([[1, 3]]), new DroppedRanges([[5, 7]])];
    const gathered = new DroppedRanges();
    for (const part of [one, two]) gathered.addAll(part.ranges);
    expect(gathered.ranges[1]).to.equal(two.ranges[0]);
    gathered.add(4, 4);
    expect([...one.ranges, ...two.ranges]).to.deep.equal([
      [1, 3],
      [5, 7],
    ]);
  });
});
