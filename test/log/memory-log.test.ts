// Holds the log in memory to the contract, and to the ways in which it can be told to break down.

import { expect } from 'chai';
import type { Log } from '../../src/log/log.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { MemoryStore } from '../../src/log/memory-store.ts';
import { confirmsItsWriter } from './confirms.ts';
import { holdsTheContract } from './contract.ts';
import { group, started } from './records.ts';

async function device(isShared: boolean) {
  const store = new MemoryStore();
  return {
    open: async () => new MemoryLog({ store, segmentRecords: 6, isShared }),
    failNext: (log: Log) => (log as MemoryLog).plan('failed'),
    damage: async (seq: number, how: (bytes: Uint8Array) => Uint8Array | undefined) => {
      const bytes = how(store.entries.get(seq) as Uint8Array);
      if (bytes === undefined) store.entries.delete(seq);
      else store.entries.set(seq, bytes);
    },
    remove: async () => {},
  };
}

holdsTheContract('MemoryLog', true, () => device(false));
holdsTheContract('MemoryLog, shared', true, () => device(true));
confirmsItsWriter('MemoryLog, shared', () => device(true));

describe('log/memory-log', () => {
  it('keeps a commit in flight until it is settled, and shows nothing of it before', async () => {
    const log = new MemoryLog({ manual: true });
    const starting = log.start(started(1));
    expect([log.pending, log.lastNumber]).to.deep.equal([true, 0]);
    expect([...log.read(1)]).to.deep.equal([]);
    log.settle();
    expect(await starting).to.equal('durable');
    expect([log.pending, log.lastNumber]).to.deep.equal([false, 1]);
    expect(() => log.settle()).to.throw('no commit');
  });

  it('asks once for each confirmation, also for two that wait together', async () => {
    const log = new MemoryLog({ manual: true, isShared: true });
    const starting = log.start(started(1));
    log.settle();
    await starting;
    const [first, second] = [log.confirm?.(), log.confirm?.()];
    log.settle();
    expect(await first).to.equal('durable');
    const next = new MemoryLog({ store: log.store, isShared: true });
    expect(await next.start(started(2))).to.equal('durable');
    expect(log.pending).to.equal(true);
    log.settle();
    expect(await second).to.equal('fenced');
  });

  it('has nobody to ask who leads, unless it is shared', () => {
    expect(new MemoryLog().confirm).to.equal(undefined);
  });

  it('loses the commit in flight at a crash, or keeps all of it', async () => {
    for (const [outcome, last] of [
      ['failed', 1],
      ['lost answer', 3],
    ] as const) {
      const log = new MemoryLog({ manual: true });
      const starting = log.start(started(1));
      log.settle();
      await starting;
      void log.append(group(2, 3));
      log.settle(outcome);
      expect(new MemoryLog({ store: log.store }).lastNumber, outcome).to.equal(last);
    }
  });

  it('tells what a lost answer wrote when it is reopened', async () => {
    const log = new MemoryLog();
    log.plan('durable', 'lost answer');
    await log.start(started(1));
    expect(await log.append(group(2, 3))).to.equal('failed');
    expect(log.lastNumber).to.equal(1);
    await log.reopen();
    expect(log.lastNumber).to.equal(3);
  });

  it('stalls until it is reopened', async () => {
    const log = new MemoryLog();
    await log.start(started(1));
    log.plan('stalled');
    const stalled = [log.append(group(2, 3)), log.append(group(4, 5))].map((result) =>
      Promise.resolve(result),
    );
    await log.reopen();
    expect(await Promise.all(stalled)).to.deep.equal(['failed', 'failed']);
    expect(await log.append(group(2, 3))).to.equal('durable');
  });

  it('can be copied as it stands', async () => {
    const log = new MemoryLog();
    await log.start(started(1));
    const copy = new MemoryLog({ store: log.store.copy() });
    await log.append(group(2, 3));
    expect([copy.lastNumber, log.lastNumber]).to.deep.equal([1, 3]);
  });
});
