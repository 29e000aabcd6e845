// A node's report among the others', over an etcd in memory and a time that the test lets pass.

import { expect } from 'chai';
import { Presence } from '../../src/cluster/presence.ts';
import { type NodeReport, readNodes } from '../../src/cluster/reports.ts';
import type { Etcd } from '../../src/log/etcd/etcd.ts';
import { keysOf } from '../../src/log/etcd/keys.ts';
import { DirectEtcd } from '../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../support/etcd/memory-etcd.ts';
import { ClusterTime } from './cluster-time.ts';

const keys = keysOf('orders');
const OUTLIVED_MS = 30_000;
let leases = 0;

class Stage {
  readonly memory = new MemoryEtcd();
  readonly etcd: Etcd = new DirectEtcd(this.memory);
  readonly time = new ClusterTime(this.memory);
  readonly told: string[] = [];

  /** A node named `a` over a copy of its own; as if started, when the copy is the same. */
  announced(mirror: string, etcd = this.etcd): Promise<Presence> {
    const report = { url: `http://${mirror}`, mirror, machine: 'm', mirrored: 7, version: '1' };
    const { signal } = new AbortController();
    return Presence.announce(
      {
        ...{ etcd, keys, node: 'a' },
        time: this.time.ofNode(),
        leaseId: () => {
          leases += 1;
          return leases;
        },
        report: () => report,
        copies: () => [],
        tell: (level, msg) => this.told.push(`${mirror}: ${level} ${msg}`),
      },
      signal,
    );
  }

  async reported(): Promise<NodeReport | undefined> {
    return (await readNodes(this.etcd, keys))[0]?.report;
  }
}

/** An etcd in which something happens right after a transaction was refused, once. */
function afterRefusal(etcd: Etcd, act: () => Promise<void>): Etcd {
  let left = 1;
  const txn: Etcd['txn'] = async (...transaction) => {
    const answer = await etcd.txn(...transaction);
    if (answer.passed || left === 0) return answer;
    left -= 1;
    await act();
    return answer;
  };
  return Object.assign(Object.create(etcd) as Etcd, { txn });
}

describe("a node's report", () => {
  it('of the run before is replaced by the same copy of the log', async () => {
    const stage = new Stage();
    await stage.announced('first');
    await stage.announced('first');
    expect(await stage.reported()).to.include({ mirror: 'first' });
  });

  it('of the run before may go while it is being replaced', async () => {
    const stage = new Stage();
    const before = await stage.announced('first');
    await stage.announced(
      'first',
      afterRefusal(stage.etcd, () => before.withdraw()),
    );
    expect(await stage.reported()).to.include({ mirror: 'first' });
  });

  it('of another copy is waited for, and then refused', async () => {
    const stage = new Stage();
    await stage.announced('first');
    const second = stage.announced('second').catch((error: unknown) => String(error));
    await stage.time.pass(OUTLIVED_MS);
    expect(await second).to.match(/another node named a runs, at http:\/\/first/);
    expect(await stage.reported()).to.include({ mirror: 'first' });
  });

  it('of another copy may go while it is being waited for', async () => {
    const stage = new Stage();
    const before = await stage.announced('first');
    const second = stage.announced(
      'second',
      afterRefusal(stage.etcd, () => before.withdraw()),
    );
    await stage.time.pass(OUTLIVED_MS);
    await second;
    expect(await stage.reported()).to.include({ mirror: 'second' });
  });

  it('that was lost is put again, and another one in its place is told once', async () => {
    const stage = new Stage();
    await stage.announced('first');
    await stage.etcd.revokeLease(leases);
    await stage.time.pass(2_000);
    expect(await stage.reported()).to.include({ mirror: 'first' });
    await stage.etcd.revokeLease(leases);
    const second = await stage.announced('second');
    await stage.time.pass(5_000);
    expect(await stage.reported()).to.include({ mirror: 'second' });
    const words = 'another node has the name of this one; give one of them another';
    expect(stage.told).to.deep.equal([`first: warn ${words}`]);
    await second.withdraw();
    await stage.time.pass(2_000);
    expect(await stage.reported()).to.include({ mirror: 'first' });
    expect(stage.told.at(-1)).to.equal('first: info this node has its name again');
  });
});
