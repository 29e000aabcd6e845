// What is counted of the talk with etcd, over an etcd in memory that does not always answer.

import { expect } from 'chai';
import { RunningNodes } from '../../src/cluster/running-nodes.ts';
import { type Etcd, EtcdError } from '../../src/log/etcd/etcd.ts';
import { encodeHead } from '../../src/log/etcd/head.ts';
import { keysOf } from '../../src/log/etcd/keys.ts';
import { MeteredEtcd } from '../../src/log/etcd/metered-etcd.ts';
import { openReplicatedLog } from '../../src/log/etcd/replicated-log.ts';
import { Resolved } from '../../src/log/etcd/tail-options.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { started } from '../log/records.ts';
import { DirectEtcd } from '../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../support/etcd/memory-etcd.ts';
import { ClusterTime } from './cluster-time.ts';

const keys = keysOf('orders');
const bytes = (text: string): Uint8Array => Buffer.from(text);

function stage() {
  const etcd = new MemoryEtcd();
  const isUp = (yes: boolean): void => {
    for (const member of [0, 1]) etcd.setMember(member, yes);
  };
  return { etcd, isUp, direct: new DirectEtcd(etcd), time: new ClusterTime(etcd) };
}

describe('what is counted of etcd', () => {
  it('is what was put, and each error by its kind', async () => {
    const { direct, isUp } = stage();
    const etcd = new MeteredEtcd(direct);
    await etcd.txn([], [{ put: 'a', value: bytes('1234') }, { get: 'b' }]);
    expect(etcd.written).to.equal(5 + 256);
    expect(etcd.errors).to.deep.equal({});
    isUp(false);
    for (const call of [etcd.txn([], [{ put: 'a', value: bytes('') }]), etcd.range('a', 'b')]) {
      expect(await call.catch((error: EtcdError) => error.code)).to.equal('no_answer');
    }
    expect(etcd.written).to.equal(5 + 256 + 1 + 256);
    expect(etcd.errors).to.deep.equal({ no_answer: 2 });
  });

  it('is what became of a group whose answer was lost', async () => {
    const { etcd, direct, time } = stage();
    const head = encodeHead({ epoch: 0, last: 0, check: 0, writer: '' });
    etcd.txn([], [{ put: keys.head, value: head }]);
    let isLost = true;
    const losing = Object.assign(Object.create(direct) as Etcd, {
      async txn(...given: Parameters<Etcd['txn']>) {
        const answer = await direct.txn(...given);
        if (given[1].length === 0 || !given[1].some((one) => 'put' in one) || !isLost)
          return answer;
        isLost = false;
        throw new EtcdError('no_answer', 'it was lost');
      },
    });
    const resolved = new Resolved();
    const log = await openReplicatedLog({
      ...{ etcd: losing, keys, resolved, mirror: new MemoryLog(), time: time.ofNode() },
      ...{ writer: 'w', node: 'a', stallMs: 10_000 },
    });
    const appended = log.start(started(1));
    await time.pass(1_000);
    expect(await appended).to.equal('durable');
    expect({ ...resolved }).to.deep.equal({ durable: 1, resent: 1, unknown: 0 });
    await log.close();
  });
});

describe('a node that etcd does not answer', () => {
  it('says so after two looks, and no more when etcd answers', async () => {
    const { direct, isUp, time } = stage();
    const running = new RunningNodes();
    running.begin(direct, keys, time.ofNode(), () => {});
    await time.pass(1_500);
    expect(running.trouble).to.equal(undefined);
    isUp(false);
    await time.pass(1_000);
    expect(running.trouble).to.equal(undefined);
    await time.pass(1_000);
    expect(running.trouble).to.be.a('string');
    isUp(true);
    await time.pass(1_000);
    expect(running.trouble).to.equal(undefined);
    await running.stop();
  });
});
