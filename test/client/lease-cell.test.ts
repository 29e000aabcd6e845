// The bytes that two threads share about a lease: only one party ever gets to report.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { LeaseCell } from '../../src/client/lease-cell.ts';

describe('lease cell', () => {
  it('is left by the first who leaves it, and by nobody after', () => {
    const first = ['claim', 'reachDeadline', 'lose', 'abandon'] as const;
    for (const name of first) {
      const cell = new LeaseCell(100);
      expect(cell[name](50), name).to.equal(true);
      for (const other of first) expect(cell[other](50), `${name}, ${other}`).to.equal(false);
    }
  });

  it('cannot be claimed at its end or later: the lease is lost then', () => {
    const cell = new LeaseCell(100);
    expect(cell.claim(100)).to.equal(false);
    expect(cell.state).to.equal('lost');
    const extended = new LeaseCell(100);
    extended.extend(200);
    expect(extended.claim(199)).to.equal(true);
  });

  it('never ends later than it was told, to the microsecond', () => {
    for (const endsAtMs of [100, 100.000_9, 123_456_789.123_999_9, 0.000_6]) {
      const { endsAtMs: end } = new LeaseCell(endsAtMs);
      expect(end).to.be.at.most(endsAtMs);
      expect(end).to.be.above(endsAtMs - 0.001_001);
    }
  });

  it('shows the other thread its end while this one blocks', async () => {
    const cell = new LeaseCell(100);
    const code = `
      const { workerData } = require('node:worker_threads');
      import(workerData.file).then(({ LeaseCell }) => {
        new LeaseCell(workerData.buffer).extend(1234.5);
      });`;
    const file = new URL('../../src/client/lease-cell.js', import.meta.url).href;
    const thread = new Worker(code, { eval: true, workerData: { file, buffer: cell.buffer } });
    const until = performance.now() + 10_000;
    while (cell.endsAtMs === 100 && performance.now() < until) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
    expect(cell.endsAtMs).to.equal(1234.5);
    await once(thread, 'exit');
  });
});
