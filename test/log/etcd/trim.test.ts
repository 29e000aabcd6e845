// Which part of the agreed log etcd may forget: the rule as a table, and what must hold for any
// reports at all.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  ABSENT_AFTER_MS,
  chooseTrim,
  deletionRestsOn,
  holdersOf,
  isTrimmed,
  type Member,
  mayForgetNode,
  type TrimInput,
} from '../../../src/log/etcd/trim.ts';

const live = (node: string, mirrored: number, machine = node): Member => {
  return { node, machine, mirrored, isLive: true, silentMs: 0 };
};
const gone = (node: string, mirrored: number | undefined, silentMs: number): Member => {
  return { node, machine: node, mirrored, isLive: false, silentMs };
};
const LONG = ABSENT_AFTER_MS;

function trim(members: readonly Member[], more: Partial<TrimInput> = {}) {
  const input = { members, holds: [], through: 0, tailBytes: 0, tailMaxBytes: 100, ...more };
  return chooseTrim(input);
}

describe('trimming', () => {
  const overfull = { tailBytes: 101 };
  const TABLE: readonly [string, readonly Member[], Partial<TrimInput>, number | undefined][] = [
    ['no node', [], {}, undefined],
    ['one node: one disk is not enough', [live('a', 9)], {}, undefined],
    ['two nodes: what both have', [live('a', 9), live('b', 7)], {}, 7],
    [
      'three: the slowest live one is waited for',
      [live('a', 9), live('b', 8), live('c', 3)],
      {},
      3,
    ],
    ['three, overfull: what two have', [live('a', 9), live('b', 8), live('c', 3)], overfull, 8],
    ['five, overfull: what three have', five(9, 8, 7, 6, 5), overfull, 7],
    ['four, overfull: what three have', five(9, 8, 7, 6), overfull, 7],
    ['exactly full is not overfull', five(9, 8, 3), { tailBytes: 100 }, 3],
    [
      'a dead node is no mirror, whatever it said',
      [live('a', 9), gone('b', 9, LONG), gone('c', 9, LONG)],
      overfull,
      undefined,
    ],
    [
      'a node that was there a moment ago is waited for',
      [live('a', 9), live('b', 8), gone('c', 2, LONG - 1)],
      {},
      2,
    ],
    ['a node that is long gone is not', [live('a', 9), live('b', 8), gone('c', 2, LONG)], {}, 8],
    [
      'one that came and never said is waited for',
      [live('a', 9), live('b', 8), gone('c', undefined, 0)],
      {},
      undefined,
    ],
    [
      'a majority of all that are registered, the absent ones too',
      [live('a', 9), live('b', 8), ...['c', 'd', 'e'].map((name) => gone(name, 9, LONG))],
      overfull,
      undefined,
    ],
    [
      'two nodes on one machine are one mirror',
      [live('a', 9, 'm'), live('b', 9, 'm')],
      overfull,
      undefined,
    ],
    [
      'of two on one machine the fuller one counts',
      [live('a', 9), live('b', 3, 'm'), live('c', 7, 'm')],
      overfull,
      7,
    ],
    ['a hold is kept', [live('a', 9), live('b', 8)], { holds: [6, 4] }, 4],
    ['a hold is kept no longer than there is room', five(9, 8), { holds: [4], ...overfull }, 8],
    ['nothing new', [live('a', 9), live('b', 8)], { through: 8 }, undefined],
    ['never back', [live('a', 9), live('b', 8)], { through: 9 }, undefined],
    ['a node that lost its disk reports nothing', [live('a', 9), live('b', 0)], {}, undefined],
  ];

  for (const [what, members, more, through] of TABLE) {
    it(`${what}: ${through ?? 'nothing'}`, () => {
      expect(trim(members, more)?.through).to.equal(through);
    });
  }

  it('names the reports that it rests on, and no others', () => {
    const members = [live('a', 3), live('b', 9), live('c', 8), gone('d', 9, LONG)];
    expect(trim(members, overfull)).to.deep.equal({ through: 3, counted: ['b', 'c', 'a'] });
    const three = [live('a', 3), live('b', 9), live('c', 8)];
    expect(trim(three, overfull)).to.deep.equal({ through: 8, counted: ['b', 'c'] });
  });

  it('deletes only while enough live mirrors hold what was decided before', () => {
    const members = [live('a', 9), live('b', 8), live('c', 7)];
    expect(deletionRestsOn(members, 8)).to.deep.equal(['a', 'b']);
    expect(deletionRestsOn(members, 7)).to.deep.equal(['a', 'b']);
    expect(deletionRestsOn(members, 9)).to.equal(undefined);
    const without = [live('a', 9), gone('b', 9, 0), live('c', 0)];
    expect(deletionRestsOn(without, 8)).to.equal(undefined);
    expect(deletionRestsOn([live('a', 9, 'm'), live('b', 9, 'm')], 8)).to.equal(undefined);
  });

  it('takes a group when its last record is covered', () => {
    expect(isTrimmed({ last: 8 }, 8)).to.equal(true);
    expect(isTrimmed({ last: 9 }, 8)).to.equal(false);
  });

  it('lets nobody forget a node whose mirror is needed', () => {
    const members = [live('a', 9), live('b', 8), live('c', 7), gone('d', 9, 0)];
    expect(holdersOf(members, 8)).to.equal(2);
    expect(mayForgetNode(members, 'd', 8)).to.equal(true);
    expect(mayForgetNode(members, 'c', 8)).to.equal(true);
    expect(mayForgetNode(members, 'a', 8)).to.equal(false);
    expect(mayForgetNode(members, 'a', 7)).to.equal(true);
  });

  it('leaves what it takes on two live machines and on a majority, for any reports', () => {
    const member = fc.record({
      node: fc.uuid(),
      machine: fc.constantFrom('m1', 'm2', 'm3', 'm4'),
      mirrored: fc.option(fc.nat(20), { nil: undefined }),
      isLive: fc.boolean(),
      silentMs: fc.nat(2 * ABSENT_AFTER_MS),
    });
    const input = fc.record({
      members: fc.array(member, { maxLength: 6 }),
      holds: fc.array(fc.nat(20), { maxLength: 2 }),
      through: fc.nat(10),
      tailBytes: fc.nat(10),
      tailMaxBytes: fc.nat(10),
    });
    let trimmed = 0;
    fc.assert(
      fc.property(input, (given) => {
        const found = chooseTrim(given);
        if (found === undefined) return;
        trimmed += 1;
        const { through, counted } = found;
        const holders = given.members.filter(({ node }) => counted.includes(node));
        for (const { isLive, mirrored } of holders) {
          expect(isLive).to.equal(true);
          expect(mirrored).to.be.at.least(through);
        }
        const machines = new Set(holders.map(({ machine }) => machine)).size;
        expect(machines).to.be.at.least(2);
        expect(2 * machines).to.be.above(new Set(given.members.map((one) => one.machine)).size);
        expect(through).to.be.above(given.through);
      }),
      { numRuns: 2_000 },
    );
    expect(trimmed).to.be.above(50);
  });
});

function five(...mirrored: readonly number[]): Member[] {
  return mirrored.map((seq, n) => live(`n${n}`, seq));
}
