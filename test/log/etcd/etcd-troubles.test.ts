// Owns what the log of several machines makes of an etcd that is full, and of one that was restored
// from a snapshot, which issues the same revisions a second time. The etcd is one in memory.

import { expect } from 'chai';
import { prefixEnd } from '../../../src/log/etcd/keys.ts';
import { LogCorrupt } from '../../../src/log/log.ts';
import { DirectEtcd } from '../../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../../support/etcd/memory-etcd.ts';
import { created, group, started } from '../records.ts';
import { ReplicatedDevice } from './replicated-device.ts';
import { agreed, leading, plain, refusal } from './uncertain.ts';

describe('log/etcd, an etcd that is full', () => {
  it('takes nothing, says why, and is settled when there is room again', async () => {
    const etcd = new MemoryEtcd({ quotaBytes: 100_000 });
    const device = await ReplicatedDevice.make(new DirectEtcd(etcd));
    const { log, link } = await leading(device);
    const large = 'x'.repeat(60_000);
    expect(await log.append([created(2, large)])).to.equal('durable');
    expect(await log.append([created(3, large)])).to.equal('failed');
    expect(log.trouble).to.contain('space exceeded');
    const before = link.writes;
    let isOpen = false;
    const reopen = async (): Promise<void> => {
      await log.reopen();
      isOpen = true;
    };
    const reopened = reopen();
    while (link.writes < before + 3) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(isOpen).to.equal(false);
    const { chunks, groups, head } = device.keys;
    for (const key of [chunks, groups]) etcd.txn([], [{ remove: key, end: prefixEnd(key) }]);
    etcd.compact(etcd.range(head, undefined).revision);
    etcd.defragment();
    etcd.disarm();
    await reopened;
    expect(log.lastNumber).to.equal(2);
    expect(await log.append([created(3)])).to.equal('durable');
    expect(log.trouble).to.equal(undefined);
    await device.remove();
  });
});

describe('log/etcd, an etcd that was restored from a snapshot', () => {
  let etcd: MemoryEtcd;
  let device: ReplicatedDevice;
  beforeEach(async () => {
    etcd = new MemoryEtcd();
    device = await ReplicatedDevice.make(new DirectEtcd(etcd));
  });
  afterEach(() => device.remove());
  const headRevision = () => etcd.range(device.keys.head, undefined).kvs[0]?.modRevision;

  it('lets no writer go on that finds its revision a second time', async () => {
    const old = await leading(device);
    const other = await device.node();
    const snapshot = etcd.snapshot();
    expect(await old.log.append([created(2)])).to.equal('durable');
    const revision = headRevision();
    etcd.restore(snapshot);
    expect(await other.log.start(started(2))).to.equal('durable');
    expect(headRevision()).to.equal(revision);
    expect(await old.log.append([created(3)])).to.equal('fenced');
    expect(await agreed(device)).to.deep.equal(plain([started(1), started(2)]));
  });

  it('confirms no writer that finds its revision a second time', async () => {
    const old = await leading(device);
    const other = await device.node();
    const snapshot = etcd.snapshot();
    expect(await old.log.append([created(2)])).to.equal('durable');
    etcd.restore(snapshot);
    expect(await other.log.start(started(2))).to.equal('durable');
    expect(await old.log.confirm()).to.equal('fenced');
  });

  for (const [groups, named] of [
    [[group(3, 3), group(4, 5)], 3],
    [[group(3, 5)], 4],
  ] as const) {
    it(`names record ${named} when others were agreed on in ${groups.length} groups`, async () => {
      const old = await leading(device);
      const other = await device.node();
      const snapshot = etcd.snapshot();
      expect(await old.log.append(group(2, 3, 'before'))).to.equal('durable');
      etcd.restore(snapshot);
      expect(await other.log.start(started(2))).to.equal('durable');
      for (const one of groups) expect(await other.log.append(one)).to.equal('durable');
      expect(await refusal(device.node(old.dataDir)))
        .to.be.instanceOf(LogCorrupt)
        .with.property('seq', named);
    });
  }

  it('freezes the log as soon as its writer looks, although it still is the writer', async () => {
    const { log } = await leading(device);
    const snapshot = etcd.snapshot();
    expect(await log.append(group(2, 3))).to.equal('durable');
    etcd.restore(snapshot);
    device.failNext(log);
    expect(await log.append([created(4)])).to.equal('failed');
    expect(await refusal(log.reopen())).to.have.property('code', 'LOG_FENCED');
    expect(log.trouble).to.contain('etcd was set back');
    expect(etcd.range(device.keys.frozen, undefined).kvs).to.have.length(1);
  });
});
