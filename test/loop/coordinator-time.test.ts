// Coordinator time over starts with a right and with a wrong clock.

import { expect } from 'chai';
import { ClockRefused, CoordinatorTime } from '../../src/loop/coordinator-time.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A machine whose two clocks are set by hand. */
function machine(wall: number, monotonic = 5_000.7) {
  const at = { wall, monotonic };
  return { at, clock: { wall: () => at.wall, monotonic: () => at.monotonic } };
}

describe('coordinator time', () => {
  it('begins at the later of clock and log, then follows the monotonic clock', () => {
    for (const [wall, lastAt, base] of [
      [NOW, NOW - 10, NOW],
      [NOW - 10, NOW, NOW],
      [NOW + 0.9, 0, NOW],
    ] as const) {
      const { at, clock } = machine(wall);
      const time = new CoordinatorTime(clock, lastAt, false);
      expect(time.now()).to.equal(base);
      at.monotonic += 1_000.9;
      at.wall += DAY;
      expect(time.now()).to.equal(base + 1_000);
    }
  });

  it('says how far it is ahead of the wall clock', () => {
    const { at, clock } = machine(NOW);
    const time = new CoordinatorTime(clock, NOW + 500, false);
    expect(time.offset()).to.equal(500);
    at.wall += 700;
    expect(time.offset()).to.equal(-200);
  });

  it('refuses a wall clock more than 365 days ahead of the log, unless that is accepted', () => {
    const start = (days: number, accept = false) =>
      new CoordinatorTime(machine(NOW + days * DAY).clock, NOW, accept);
    expect(start(365).now()).to.equal(NOW + 365 * DAY);
    expect(() => start(365.001)).to.throw(ClockRefused, '--accept-clock');
    expect(start(366, true).now()).to.equal(NOW + 366 * DAY);
    expect(new CoordinatorTime(machine(NOW).clock, 0, false).now()).to.equal(NOW);
  });

  it('is that of the coordinator before, whatever the wall clock says', () => {
    for (const wall of [NOW - HOUR, NOW + HOUR, NOW + 400 * DAY]) {
      const { at, clock } = machine(wall);
      const time = new CoordinatorTime(clock, NOW - 10, false, NOW + 2_000.9);
      expect(time.now()).to.equal(NOW + 2_000);
      expect(time.offset()).to.equal(NOW + 2_000 - wall);
      at.monotonic += 1_000;
      at.wall += DAY;
      expect(time.now()).to.equal(NOW + 3_000);
    }
  });

  it('is never before the newest record, though less was heard of the coordinator before', () => {
    const time = new CoordinatorTime(machine(NOW + HOUR).clock, NOW, false, NOW - 5_000);
    expect(time.now()).to.equal(NOW);
  });
});
