// When the leader looks at its key: at each beat, and as soon as it is told that the key is gone.

import { expect } from 'chai';
import { LeaderKey } from '../../src/cluster/leader-key.ts';
import type { Etcd } from '../../src/log/etcd/etcd.ts';
import { keysOf } from '../../src/log/etcd/keys.ts';
import { DirectEtcd } from '../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../support/etcd/memory-etcd.ts';
import { ClusterTime } from './cluster-time.ts';

const BEAT_MS = 300;
const SILENCE_MS = 1_500;
const key = keysOf('orders').leader;

/** The answers of its transactions can be held back. */
class SlowEtcd extends DirectEtcd {
  held: Promise<void> | undefined;

  override async txn(...given: Parameters<Etcd['txn']>) {
    const answer = await super.txn(...given);
    await this.held;
    return answer;
  }
}

async function leader(silenceMs = SILENCE_MS) {
  const memory = new MemoryEtcd();
  const time = new ClusterTime(memory);
  const etcd = new SlowEtcd(memory);
  const stoodBack: number[] = [];
  const leaderKey = await LeaderKey.claim(
    {
      ...{ etcd, key, time: time.ofNode(), beatMs: BEAT_MS, silenceMs },
      beat: () => ({ node: 'a', url: 'http://a', run: 'a', epoch: 7, at: 1_000_000 }),
      mayWrite: () => Promise.resolve(true),
      standBack: (ms) => stoodBack.push(ms),
      leaseId: () => 1,
    },
    0,
  );
  if (leaderKey === undefined) throw new Error('nobody else claims the key');
  const remove = (): void => {
    memory.txn([], [{ remove: key }]);
    leaderKey.look();
  };
  return { etcd, time, leaderKey, stoodBack, remove };
}

describe('the key of a leader that is asked to step down', () => {
  it('is missed at once, between two beats', async () => {
    const { time, leaderKey, stoodBack, remove } = await leader();
    await time.pass(BEAT_MS / 2);
    remove();
    await time.pass(1);
    expect(stoodBack).to.deep.equal([SILENCE_MS]);
    await leaderKey.stepDown();
  });

  it('is waited for a few seconds, however long the silence of a leader may be', async () => {
    const { time, leaderKey, stoodBack, remove } = await leader(60_000);
    remove();
    await time.pass(1);
    expect(stoodBack).to.deep.equal([5_000]);
    await leaderKey.stepDown();
  });

  it('is missed at once, also when a beat has been taken and not answered yet', async () => {
    const { etcd, time, leaderKey, stoodBack, remove } = await leader();
    let answer = (): void => {};
    etcd.held = new Promise((resolve) => {
      answer = resolve;
    });
    await time.pass(BEAT_MS);
    remove();
    await time.pass(1);
    etcd.held = undefined;
    answer();
    await time.pass(1);
    expect(stoodBack).to.deep.equal([SILENCE_MS]);
    await leaderKey.stepDown();
  });
});
