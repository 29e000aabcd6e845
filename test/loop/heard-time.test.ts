// Time that a node inherits from the leader before it: which beats count, and what they come to.

import { expect } from 'chai';
import {
  type Beat,
  type Heard,
  hear,
  heardText,
  inheritedMs,
  parseHeard,
} from '../../src/loop/heard-time.ts';

const HEAD = 7;
const BOOT = 'boot 1';
const local = (monotonicMs: number, bootId = BOOT) => ({ monotonicMs, bootId });
const beat = (at: number, revision = at, epoch = HEAD): Beat => ({ epoch, at, revision });

/** Hears one beat after the other, each with the node's own clock and the head's epoch. */
function heard(...beats: readonly (readonly [Beat, monotonicMs: number, head?: number])[]) {
  let known: Heard | undefined;
  for (const [one, monotonicMs, head] of beats) {
    known = hear(known, one, head ?? HEAD, local(monotonicMs));
  }
  return known;
}

describe('inherited time', () => {
  const TABLE: readonly [string, Heard | undefined, number, number | undefined][] = [
    ['nothing was heard', heard(), 500, undefined],
    ['a beat, and the time since', heard([beat(1_000), 50]), 80.9, 1_030],
    ['the newest beat', heard([beat(1_000), 50], [beat(1_300), 350]), 350, 1_300],
    [
      'the newest beat, also where this clock was ahead of it',
      heard([beat(1_000), 50], [beat(1_300), 950]),
      951,
      1_301,
    ],
    [
      'a leader whose clock stood still',
      heard([beat(1_000, 1), 50], [beat(1_000, 2), 950]),
      950,
      1_000,
    ],
    ['the same beat read again', heard([beat(1_000), 50], [beat(1_000), 950]), 950, 1_900],
    ['only a beat of a writer that was deposed', heard([beat(1_000, 1, 6), 50]), 50, 0],
    [
      'a beat of the leader, before its start was read',
      heard([beat(900, 1, 6), 40, 6], [beat(1_000, 2), 50, 6]),
      60,
      1_010,
    ],
    [
      'a beat of the leader after one of a deposed writer',
      heard([beat(9_000, 1, 6), 40], [beat(1_000, 2), 50]),
      60,
      1_010,
    ],
    [
      'a beat of a deposed writer after those of the leader',
      heard([beat(1_000), 50], [beat(9_000, 2, 6), 60]),
      60,
      1_010,
    ],
    [
      'a beat of the leader before, after the next one has started',
      heard([beat(1_000), 50], [beat(5_000, 2), 60, 8]),
      70,
      1_020,
    ],
    ['never before the beat', heard([beat(1_000), 50]), 20, 1_000],
  ];

  for (const [what, known, monotonicMs, expected] of TABLE) {
    it(`${what}: ${expected ?? 'nothing to inherit'}`, () => {
      expect(inheritedMs(known, local(monotonicMs), HEAD)).to.equal(expected);
    });
  }

  it('is that of the leader which is replaced, and of no earlier one', () => {
    const known = heard([beat(1_000), 50]);
    expect(inheritedMs(known, local(60), HEAD + 1)).to.equal(0);
    const next = hear(known, beat(900, 2, HEAD + 1), HEAD + 1, local(60));
    expect(inheritedMs(next, local(70), HEAD + 1)).to.equal(910);
  });

  it('outlives the process and not the machine', () => {
    const known = heard([beat(1_000), 50]);
    const kept = parseHeard(heardText(known as Heard));
    expect(kept).to.deep.equal(known);
    expect(inheritedMs(kept, local(60), HEAD)).to.equal(1_010);
    expect(inheritedMs(kept, local(60, 'boot 2'), HEAD)).to.equal(undefined);
  });

  it('is news on another boot although the beat was heard before', () => {
    const known = hear(heard([beat(1_000), 50]), beat(1_000), HEAD, local(3, 'boot 2'));
    expect(inheritedMs(known, local(4, 'boot 2'), HEAD)).to.equal(1_001);
  });

  for (const text of ['', '{', 'null', '7', '{}', '{"epoch":1,"at":"2"}']) {
    it(`takes ${JSON.stringify(text)} for nothing heard`, () => {
      expect(parseHeard(text)).to.equal(undefined);
    });
  }

  it('does not run ahead of a leader for hours of beats on a clock that is fast', () => {
    let known: Heard | undefined;
    const fast = 1 + 500e-6;
    for (let at = 0; at <= 4 * 3_600_000; at += 300) {
      known = hear(known, beat(at, at), HEAD, local(at * fast));
    }
    const now = 4 * 3_600_000;
    expect(inheritedMs(known, local(now * fast), HEAD)).to.be.within(now - 300, now + 1);
  });
});
