// How far a node says that it is behind, from its start on.

import { expect } from 'chai';
import { ClusterNode } from '../../src/cluster/cluster-node.ts';
import { Presence } from '../../src/cluster/presence.ts';
import { keysOf } from '../../src/log/etcd/keys.ts';
import type { ClusterView } from '../../src/model/cluster-view.ts';
import { DirectEtcd } from '../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../support/etcd/memory-etcd.ts';
import { ClusterTime } from './cluster-time.ts';

const keys = keysOf('orders');
const SECOND_MS = 1_000;

/** A node whose copy comes to its end when the test says so. */
class Stage {
  readonly memory = new MemoryEtcd();
  readonly etcd = new DirectEtcd(this.memory);
  readonly time = new ClusterTime(this.memory);
  readonly copy = {
    lastNumber: 10,
    endSeen: undefined as number | undefined,
    head: { epoch: 0, last: 0, check: 0, writer: '' },
    catchUp: () => new Promise<number>(() => {}),
    follow: () => Promise.resolve('followed' as const),
  };
  view: ClusterView | undefined;
  private readonly ending = new AbortController();
  private readonly node: ClusterNode;
  private leases = 0;
  private readonly shared;

  constructor() {
    const { etcd } = this;
    this.shared = {
      ...{ etcd, keys, time: this.time.ofNode() },
      leaseId: () => {
        this.leases += 1;
        return this.leases;
      },
      copies: () => [],
      lost: () => {},
      tell: () => {},
    };
    this.node = new ClusterNode({
      ...this.shared,
      ...{ cluster: 'orders', node: 'b', url: 'http://b', version: '1' },
      ...{ beatMs: 300, silenceMs: 1_500, failedStarts: 0, tailMaxBytes: 1_000_000 },
      ids: { run: 'b', mirror: 'b', machine: 'b' },
      copy: this.copy,
      heard: { heard: undefined, local: { monotonicMs: 0, bootId: 'b' }, keep: () => {} },
      written: () => 0,
      counts: () => ({ resolved: { durable: 0, resent: 0, unknown: 0 }, etcd_errors: {} }),
      mayWrite: () => Promise.resolve(true),
      standBack: () => {},
      shown: (view) => {
        this.view = view;
      },
    });
    void this.node.elected(this.ending.signal);
  }

  async lag(): Promise<number | undefined> {
    await this.time.pass(2 * SECOND_MS);
    return this.view?.lag;
  }

  /** Another node runs, and its copy ends with this record. */
  async another(mirrored: number): Promise<void> {
    const report = { url: 'http://a', mirror: 'a', machine: 'a', mirrored, version: '1' };
    const { signal } = this.ending;
    await Presence.announce({ ...this.shared, node: 'a', report: () => report }, signal);
  }
}

describe('the lag of a node', () => {
  it('is not known before etcd was looked at, and then what is not copied yet', async () => {
    const stage = new Stage();
    expect(await stage.lag()).to.equal(undefined);
    stage.copy.endSeen = 100;
    expect(await stage.lag(), 'while it copies').to.equal(90);
    stage.copy.lastNumber = 100;
    expect(await stage.lag()).to.equal(0);
  });

  it('is told by the copies of other nodes when its own copy stands still', async () => {
    const stage = new Stage();
    stage.copy.endSeen = 10;
    expect(await stage.lag()).to.equal(0);
    await stage.another(25);
    expect(await stage.lag()).to.equal(15);
  });
});
