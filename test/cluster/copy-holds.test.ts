// Holds of copies of the log, over an etcd in memory and a time that the test lets pass.

import { expect } from 'chai';
import { HOLD_SECONDS, Holds } from '../../src/cluster/copy-holds.ts';
import { readStanding } from '../../src/cluster/reports.ts';
import type { Etcd } from '../../src/log/etcd/etcd.ts';
import { keysOf } from '../../src/log/etcd/keys.ts';
import type { SentCopy } from '../../src/model/sent-copy.ts';
import { DirectEtcd } from '../support/etcd/direct-etcd.ts';
import { MemoryEtcd, noAnswer } from '../support/etcd/memory-etcd.ts';
import { ClusterTime } from './cluster-time.ts';

const keys = keysOf('orders');

class Stage {
  readonly memory = new MemoryEtcd();
  readonly time = new ClusterTime(this.memory);
  readonly etcd: Etcd = new DirectEtcd(this.memory);
  copies: readonly SentCopy[] = [];
  private leases = 0;
  holds = this.begun();

  /** As a node's coordinator that begins: for the first time, or again in the same process. */
  begun(): Holds {
    return new Holds({
      ...{ etcd: this.etcd, keys, node: 'a', time: this.time.ofNode() },
      leaseId: () => {
        this.leases += 1;
        return this.leases;
      },
      copies: () => this.copies,
    });
  }

  async told(last: number, isWhole = false): Promise<void> {
    this.copies = [{ mirror: 'm', last, ...(isWhole && { sentAt: this.time.now }) }];
    await this.holds.tell();
  }

  async held(): Promise<number[]> {
    const { holds } = await readStanding(this.etcd, keys);
    return holds.map(({ last }) => last);
  }
}

describe('holds of copies', () => {
  it('are what the copies are now', async () => {
    const stage = new Stage();
    await stage.told(0);
    expect(await stage.held()).to.deep.equal([0]);
    await stage.told(7);
    expect(await stage.held()).to.deep.equal([7]);
    stage.copies = [];
    await stage.holds.tell();
    expect(await stage.held()).to.deep.equal([]);
  });

  it('last as long as a copy is being sent, and for their time after', async () => {
    const stage = new Stage();
    for (let minute = 0; minute < 30; minute += 1) {
      await stage.told(7);
      await stage.time.pass(60_000);
    }
    await stage.told(7, true);
    await stage.time.pass((HOLD_SECONDS - 1) * 1_000);
    await stage.holds.tell();
    expect(await stage.held()).to.deep.equal([7]);
    await stage.time.pass(2_000);
    expect(await stage.held()).to.deep.equal([]);
    await stage.holds.tell();
    expect(await stage.held()).to.deep.equal([]);
  });

  it('are made again while a copy is being sent, if their time ran out', async () => {
    const stage = new Stage();
    await stage.told(7);
    await stage.time.pass(HOLD_SECONDS * 1_000 + 1_000);
    expect(await stage.held()).to.deep.equal([]);
    await stage.told(7);
    expect(await stage.held()).to.deep.equal([7]);
  });

  it('last no longer when the coordinator begins again, and are not made again', async () => {
    const stage = new Stage();
    await stage.told(7, true);
    await stage.time.pass(HOLD_SECONDS * 500);
    stage.holds = stage.begun();
    await stage.holds.tell();
    expect(await stage.held()).to.deep.equal([7]);
    await stage.time.pass(HOLD_SECONDS * 500 + 2_000);
    expect(await stage.held()).to.deep.equal([]);
    stage.holds = stage.begun();
    await stage.holds.tell();
    expect(await stage.held()).to.deep.equal([]);
  });

  it('of a node that ends go, but for those of copies that were sent', async () => {
    for (const isWhole of [false, true]) {
      const stage = new Stage();
      await stage.told(7, isWhole);
      await stage.holds.end();
      expect(await stage.held()).to.deep.equal(isWhole ? [7] : []);
    }
  });

  it('are taken back once etcd answers again, and keep no report from being told', async () => {
    const stage = new Stage();
    await stage.told(7);
    stage.copies = [];
    const { revokeLease } = stage.etcd;
    stage.etcd.revokeLease = () => Promise.reject(noAnswer());
    await stage.holds.tell();
    expect(await stage.held()).to.deep.equal([7]);
    stage.etcd.revokeLease = revokeLease;
    await stage.holds.tell();
    expect(await stage.held()).to.deep.equal([]);
  });
});
