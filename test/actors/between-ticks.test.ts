// The looks between two ticks: as long as something waits, and no longer.

import { expect } from 'chai';
import { BetweenTicks, waitsForTime } from '../../actors/coordinator/between-ticks.ts';
import type { Mode } from '../../src/loop/turn.ts';
import { until } from './http-support.ts';

describe('looks between ticks', () => {
  it('go on while something waits, and end with it', async () => {
    let waiting = 3;
    const early = new BetweenTicks({
      tickMs: 60_000,
      isWanted: () => waiting > 0,
      look: () => {
        waiting -= 1;
      },
    });
    early.begin();
    early.begin(); // One at a time, however often it is said.
    await until(() => waiting === 0, 'it looked three times');
    waiting = 1;
    early.begin();
    early.stop();
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(waiting).to.equal(1);
  });

  it('are none when what waited has ended meanwhile, as in a stop', async () => {
    let isWaiting = true;
    let looks = 0;
    const look = (): void => void (looks += 1);
    new BetweenTicks({ tickMs: 60_000, isWanted: () => isWaiting, look }).begin();
    isWaiting = false;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(looks).to.equal(0);
  });

  it('are none where the ticks are as frequent', async () => {
    let looks = 0;
    const look = (): void => void (looks += 1);
    new BetweenTicks({ tickMs: 50, isWanted: () => true, look }).begin();
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(looks).to.equal(0);
  });

  it('are wanted by a parked request, and by a log that refuses', () => {
    const waits = (parkedRequests: number, mode: Mode) => waitsForTime({ parkedRequests, mode });
    expect(waits(0, 'serving')).to.equal(false);
    expect(waits(1, 'serving')).to.equal(true);
    expect(waits(0, 'read-only')).to.equal(true);
  });
});
