// How long a group waits for company: for clients that come back soon, and only as long as they do.

import { expect } from 'chai';
import { GroupWait } from '../../actors/coordinator/group-wait.ts';

const SLICE_MS = 0.1;

/** A wait whose clock stands still except in waits. */
function scene() {
  let now = 0;
  const groupWait = new GroupWait(() => now);
  /** One group of a closed loop: the clients of the last group ask again after so long. */
  const group = (answered: number, commitMs: number, backAfterMs: number): number => {
    for (let n = 0; n < answered; n += 1) groupWait.answered();
    groupWait.committed(commitMs);
    const began = now;
    let isBack = false;
    while (groupWait.isAwaited()) {
      now += SLICE_MS;
      if (isBack || now - began < backAfterMs) continue;
      isBack = true;
      for (let n = 0; n < answered; n += 1) groupWait.came();
    }
    const waitedMs = now - began;
    now += commitMs;
    return waitedMs;
  };
  return { groupWait, group };
}

describe('company of a group', () => {
  it('is not waited for when the one who was answered has come', () => {
    const { groupWait } = scene();
    groupWait.answered();
    groupWait.committed(10);
    groupWait.came();
    expect(groupWait.isAwaited()).to.equal(false);
  });

  it('is not waited for when nobody was answered', () => {
    const { groupWait } = scene();
    groupWait.committed(10);
    expect(groupWait.isAwaited()).to.equal(false);
  });

  it('is waited for until all who were answered have come, again and again', () => {
    const { group } = scene();
    for (let n = 0; n < 100; n += 1) expect(group(8, 2, 0.5)).to.be.closeTo(0.5, 2 * SLICE_MS);
  });

  it('is waited for no longer than a part of a commit, and than a few ms', () => {
    expect(scene().group(8, 2, 1_000)).to.be.closeTo(1.5, 2 * SLICE_MS);
    expect(scene().group(8, 200, 1_000)).to.be.closeTo(5, 2 * SLICE_MS);
  });

  it('is waited for ever more rarely when it does not come', () => {
    const { group } = scene();
    let waits = 0;
    for (let n = 0; n < 1_000; n += 1) if (group(8, 2, 1_000) > 0) waits += 1;
    expect(waits).to.be.within(10, 25);
  });

  it('is waited for again when it comes after all', () => {
    const { group } = scene();
    for (let n = 0; n < 1_000; n += 1) group(8, 2, 1_000);
    for (let n = 0; n < 300; n += 1) group(8, 2, 0.5);
    for (let n = 0; n < 100; n += 1) expect(group(8, 2, 0.5)).to.be.greaterThan(0);
  });

  it('that comes by chance, at a rate of its own, is no reason to wait', () => {
    let now = 0;
    const groupWait = new GroupWait(() => now);
    const arrive = (ms: number): void => {
      now += ms;
      groupWait.answered();
      groupWait.came();
    };
    let waits = 0;
    for (let n = 0; n < 1_000; n += 1) {
      for (let k = 0; k < 20; k += 1) arrive(SLICE_MS); // A commit of 2 ms.
      groupWait.committed(2);
      if (groupWait.isAwaited()) waits += 1;
      while (groupWait.isAwaited()) arrive(SLICE_MS);
    }
    expect(waits).to.be.lessThan(30);
  });
});
