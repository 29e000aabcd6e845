// A node's report among the others', over an etcd in memory and a time that the test lets pass.

import { expect } from 'chai';
import { Presence } from '../../src/cluster/presence.ts';
import { type NodeReport, readNodes } from '../../src/cluster/reports.ts';
import type { Etcd } from '../../src/log/etcd/etcd.ts';
import { keysOf } from '../../src/log/etcd/keys.ts';
import { DirectEtcd } from '../support/etcd/direct-etcd.ts';
import { MemoryEtcd, noAnswer } from '../support/etcd/memory-etcd.ts';
import { ClusterTime } from './cluster-time.ts';

const keys = keysOf('orders');
const OUTLIVED_MS = 30_000;
let leases = 0;

class Stage {
  readonly memory = new MemoryEtcd();
  readonly etcd: Etcd = new DirectEtcd(this.memory);
  readonly time = new ClusterTime(this.memory);
  readonly told: string[] = [];
  readonly lost: string[] = [];

  /** A node named `a` over a copy of its own; as if started, when the copy is the same. */
  announced(mirror: string, etcd = this.etcd, machine = 'm', url = mirror): Promise<Presence> {
    const report = { url: `http://${url}`, mirror, machine, mirrored: 7, version: '1' };
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
        lost: ({ code, message }) => this.lost.push(`${url}: ${code}: ${message}`),
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

  it('of a copied directory on another machine is waited for, and then refused', async () => {
    const stage = new Stage();
    await stage.announced('first');
    const second = stage
      .announced('first', stage.etcd, 'elsewhere', 'second')
      .catch((error: unknown) => String(error));
    await stage.time.pass(OUTLIVED_MS);
    const words =
      'another node named a runs, at http://first, on a copy of the directory of this one';
    expect(await second).to.include(words);
    expect(await stage.reported()).to.include({ url: 'http://first' });
    expect(stage.lost).to.deep.equal([]);
  });

  it('of a machine that was started anew is waited for until its lease is over', async () => {
    const stage = new Stage();
    const before = await stage.announced('first', stage.etcd, 'boot 1');
    const again = stage.announced('first', stage.etcd, 'boot 2');
    await stage.time.pass(1_000);
    expect(await stage.reported()).to.include({ machine: 'boot 1' });
    await before.withdraw();
    await stage.time.pass(2_000);
    await again;
    expect(await stage.reported()).to.include({ machine: 'boot 2' });
  });

  for (const machine of ['m', 'elsewhere']) {
    it(`that a newer process on a copied directory took ends the older: ${machine}`, async () => {
      const stage = new Stage();
      await stage.announced('first');
      // On another machine the newer one gets the name while the older one sleeps.
      if (machine !== 'm') await stage.etcd.revokeLease(leases);
      await stage.announced('first', stage.etcd, machine, 'second');
      await stage.time.pass(5_000);
      expect(stage.lost).to.have.length(1);
      expect(stage.lost[0]).to.match(/^first: NODE_NAME: .* at http:\/\/second, on a copy of the/);
      expect(await stage.reported()).to.include({ url: 'http://second', machine });
    });
  }

  it('whose answer was lost is still its own', async () => {
    const stage = new Stage();
    let lost = 0;
    const etcd = Object.assign(Object.create(stage.etcd) as Etcd, {
      async txn(...transaction: Parameters<Etcd['txn']>) {
        const answer = await stage.etcd.txn(...transaction);
        lost += 1;
        if (lost % 2 === 0 && transaction[1].some((one) => 'put' in one)) throw noAnswer();
        return answer;
      },
    });
    await stage.announced('first', etcd);
    for (let n = 0; n < 20; n += 1) {
      await stage.etcd.revokeLease(leases);
      await stage.time.pass(5_000);
    }
    expect(stage.lost).to.deep.equal([]);
    expect(await stage.reported()).to.include({ mirror: 'first' });
  });
});
