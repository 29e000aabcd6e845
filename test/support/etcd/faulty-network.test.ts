// The faulty network before the etcd in memory: each trouble does what its name says, and one seed
// has one course.

import { expect } from 'chai';
import { type EtcdError, type WatchEvent } from '../../../src/log/etcd/etcd.ts';
import { Events } from '../../simulator/events.ts';
import { Random } from '../../simulator/random.ts';
import {
  FaultyNetwork,
  type NetworkOptions,
  type NetworkTroubles,
  NO_TROUBLES,
} from './faulty-network.ts';
import { MemoryEtcd } from './memory-etcd.ts';

const CALL_MS = 100;
const value = Buffer.from('v');

function stage(troubles: Partial<NetworkTroubles> = {}, seed = 1) {
  const etcd = new MemoryEtcd();
  const scheduler = new Events();
  const options: NetworkOptions = {
    etcd,
    scheduler,
    sender: 'n1',
    dice: new Random(seed, 'network'),
    troubles: () => ({ ...NO_TROUBLES, ...troubles }),
    delays: [1, 2, 5],
    callMs: CALL_MS,
  };
  const network = new FaultyNetwork(options);
  const told: string[] = [];
  const tell = (call: Promise<unknown>): void => {
    call.then(
      () => told.push(`${scheduler.now}: answer`),
      (error: EtcdError) => told.push(`${scheduler.now}: ${error.code}`),
    );
  };
  const pass = async (ms: number): Promise<void> => {
    const until = scheduler.now + ms;
    scheduler.after(ms, () => {});
    while (scheduler.now < until) {
      await scheduler.next()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const put = (key = 'a'): void => tell(network.txn([], [{ put: key, value }]));
  return { etcd, scheduler, network, told, pass, put, tell };
}

describe('the faulty network', () => {
  it('without troubles: each call is answered once, after a while', async () => {
    const { etcd, told, pass, put } = stage();
    put();
    await pass(CALL_MS + 1);
    expect(told).to.have.length(1);
    expect(told[0]).to.match(/^\d: answer$/);
    expect(etcd.revision).to.equal(2);
  });

  for (const [trouble, what, revision] of [
    ['requestLost', 'nothing was changed', 1],
    ['answerLost', 'the change was made', 2],
  ] as const) {
    it(`${trouble}: the sender gives up, and ${what}`, async () => {
      const { etcd, told, pass, put } = stage({ [trouble]: 1 });
      put();
      await pass(10_000);
      expect(told).to.deep.equal([`${CALL_MS}: no_answer`]);
      expect(etcd.revision).to.equal(revision);
    });
  }

  it('requestLate: it takes effect long after the sender gave up', async () => {
    const { etcd, told, pass, put } = stage({ requestLate: 1 });
    put();
    await pass(2 * CALL_MS);
    expect(told).to.deep.equal([`${CALL_MS}: no_answer`]);
    expect(etcd.revision).to.equal(1);
    await pass(10_000);
    expect(told).to.have.length(1);
    expect(etcd.revision).to.equal(2);
  });

  it('requestDoubled: it takes effect twice, and is answered once', async () => {
    const { etcd, told, pass, put } = stage({ requestDoubled: 1 });
    put();
    await pass(10_000);
    expect(told).to.have.length(1);
    expect(etcd.revision).to.equal(3);
  });

  for (const [partition, revision] of [
    ['requests lost', 1],
    ['answers lost', 2],
    ['both lost', 1],
  ] as const) {
    it(`partition, ${partition}`, async () => {
      const { etcd, network, told, pass, put } = stage();
      network.partition = partition;
      put();
      await pass(10_000);
      expect(told).to.deep.equal([`${CALL_MS}: no_answer`]);
      expect(etcd.revision).to.equal(revision);
      network.partition = 'none';
      put();
      await pass(CALL_MS);
      expect(told.at(-1)).to.match(/: answer$/);
    });
  }

  it('partition, requests held: they arrive when it is over, and nobody waits', async () => {
    const { etcd, network, told, pass, put } = stage();
    network.partition = 'requests held';
    put();
    put('b');
    await pass(1_000);
    expect(told).to.deep.equal([`${CALL_MS}: no_answer`, `${CALL_MS}: no_answer`]);
    expect(etcd.revision).to.equal(1);
    network.partition = 'none';
    await pass(1_000);
    expect(etcd.revision).to.equal(3);
    expect(told).to.have.length(2);
  });

  it('a sender that is gone hears nothing, and what it sent still arrives', async () => {
    const { etcd, network, told, pass, put } = stage();
    put();
    network.close();
    await pass(10_000);
    expect(told).to.deep.equal([]);
    expect(etcd.revision).to.equal(2);
  });

  it('a refusal is an answer', async () => {
    const { network, told, pass, tell } = stage();
    tell(network.compact(1_000));
    await pass(CALL_MS);
    expect(told[0]).to.match(/: refused$/);
  });

  function watched(troubles: Partial<NetworkTroubles> = {}) {
    const played = stage(troubles);
    const seen: number[] = [];
    const ended: string[] = [];
    const events = (some: readonly WatchEvent[]): void => {
      for (const one of some) seen.push(one.type === 'put' ? one.kv.modRevision : 0);
    };
    played.network.watch('a', 1, { events, ended: ({ code }) => ended.push(code) });
    return { ...played, seen, ended };
  }

  it('a watch shows each change once, in order', async () => {
    const { pass, put, seen, ended } = watched();
    for (const key of ['a1', 'b', 'a2', 'a3']) {
      put(key);
      await pass(CALL_MS);
    }
    await pass(1_000);
    expect(seen).to.deep.equal([2, 4, 5]);
    expect(ended).to.deep.equal([]);
  });

  it('a watch that was not heard of while its events were compacted ends', async () => {
    const { etcd, network, pass, seen, ended } = watched();
    network.partition = 'both lost';
    etcd.txn([], [{ put: 'a', value }]);
    etcd.txn([], [{ put: 'a', value }]);
    etcd.compact(3);
    await pass(1_000);
    expect(seen).to.deep.equal([]);
    network.partition = 'none';
    await pass(1_000);
    expect(ended).to.deep.equal(['compacted']);
  });

  it('watchEnds and watchSilent: nothing is shown, and only the first is told', async () => {
    for (const [trouble, told] of [
      ['watchEnds', ['no_answer']],
      ['watchSilent', []],
    ] as const) {
      const { etcd, pass, seen, ended } = watched({ [trouble]: 1 });
      etcd.txn([], [{ put: 'a', value }]);
      await pass(10_000);
      expect(seen, trouble).to.deep.equal([]);
      expect(ended, trouble).to.deep.equal(told);
    }
  });

  it('one seed has one course, and another seed another', async () => {
    const course = async (seed: number): Promise<readonly string[]> => {
      const often = { requestLost: 0.2, answerLost: 0.2, requestLate: 0.2, requestDoubled: 0.2 };
      const { etcd, told, pass, put } = stage(often, seed);
      for (let n = 0; n < 50; n += 1) {
        put(`a${n}`);
        await pass(7);
      }
      await pass(10_000);
      return [...told, `revision ${etcd.revision}`];
    };
    expect(await course(5)).to.deep.equal(await course(5));
    expect(await course(5)).to.not.deep.equal(await course(6));
  });
});
