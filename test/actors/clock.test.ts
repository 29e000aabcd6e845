// The machine's clocks: the monotonic one goes forward only and is the same in every thread.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { monotonicMs, wall } from '../../actors/shared/clock.ts';

describe('clock', () => {
  it('gives whole milliseconds of the wall clock', () => {
    expect(Number.isInteger(wall())).to.equal(true);
    expect(Math.abs(wall() - Date.now())).to.be.below(1_000);
  });

  it('never goes backward', () => {
    let last = monotonicMs();
    for (let reading = 0; reading < 10_000; reading++) {
      const now = monotonicMs();
      expect(now >= last).to.equal(true);
      last = now;
    }
  });

  it('is shared by all threads', async () => {
    const file = `../../actors/shared/clock${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
    const source = `
      import { parentPort } from 'node:worker_threads';
      import { monotonicMs } from ${JSON.stringify(import.meta.resolve(file))};
      parentPort.postMessage(monotonicMs());`;
    const before = monotonicMs();
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
    const [there] = (await once(worker, 'message')) as [number];
    await worker.terminate();
    expect(there).to.be.within(before, monotonicMs());
  });
});
