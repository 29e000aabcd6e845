// The election among nodes of a cluster, over an etcd in memory and a time that the test lets pass.

import { expect } from 'chai';
import { type Beat, decodeBeat } from '../../src/cluster/beat.ts';
import { Campaign } from '../../src/cluster/campaign.ts';
import type { LeaderKey } from '../../src/cluster/leader-key.ts';
import { LeaderWatch } from '../../src/cluster/leader-watch.ts';
import { type Etcd, RECONNECT_LATE_MS } from '../../src/log/etcd/etcd.ts';
import { keysOf } from '../../src/log/etcd/keys.ts';
import { DirectEtcd } from '../support/etcd/direct-etcd.ts';
import { MemoryEtcd, noAnswer } from '../support/etcd/memory-etcd.ts';
import { ClusterTime, settled } from './cluster-time.ts';

const BEAT_MS = 300;
const SILENCE_MS = 1_500;
const keys = keysOf('orders');
let leases = 0;

class Stage {
  readonly etcd = new MemoryEtcd();
  readonly time = new ClusterTime(this.etcd);
  readonly nodes: Node[] = [];

  node(name: string, more: Partial<NodeOptions> = {}): Node {
    const node = new Node(this, name, more);
    this.nodes.push(node);
    return node;
  }

  /** The key as it is in etcd. */
  get leader(): Beat | undefined {
    const [kv] = this.etcd.range(keys.leader, undefined).kvs;
    return kv === undefined ? undefined : decodeBeat(kv.value);
  }

  leads(): string[] {
    return this.nodes.filter((node) => node.leaderKey !== undefined).map(({ name }) => name);
  }
}

interface NodeOptions {
  readonly beatMs: number;
  readonly failedStarts: number;
  isReady(): boolean;
  mayWrite(): boolean;
  wrap(etcd: Etcd): Etcd;
}

class Node {
  readonly name: string;
  readonly heard: Beat[] = [];
  readonly full: boolean[] = [];
  readonly stoodBack: number[] = [];
  readonly tried: ('won' | 'lost')[] = [];
  leaderKey: LeaderKey | undefined;
  epoch = 0;
  isPaused = false;
  readonly watch: LeaderWatch;
  private readonly stopping = new AbortController();
  readonly over: Promise<void>;

  constructor(stage: Stage, name: string, more: Partial<NodeOptions>) {
    this.name = name;
    const direct = new DirectEtcd(stage.etcd);
    const etcd = more.wrap?.(direct) ?? direct;
    const time = stage.time.ofNode(() => this.isPaused);
    const { beatMs = BEAT_MS } = more;
    const beats = { key: keys.leader, time, beatMs, silenceMs: SILENCE_MS };
    this.watch = new LeaderWatch({
      etcd,
      ...beats,
      heard: (beat) => this.heard.push(beat),
      gone: () => this.leaderKey?.look(),
    });
    const campaign = new Campaign({
      etcd,
      watch: this.watch,
      time,
      failedStarts: more.failedStarts ?? 0,
      isReady: more.isReady ?? (() => true),
      full: (isFull) => this.full.push(isFull),
      tried: (result) => void this.tried.push(result),
      leaderKey: {
        etcd,
        ...beats,
        beat: () => {
          const at = this.epoch === 0 ? 0 : 1_000_000 + Math.floor(stage.time.now);
          return { node: name, url: `http://${name}`, run: name, epoch: this.epoch, at };
        },
        mayWrite: () => Promise.resolve(more.mayWrite?.() ?? true),
        standBack: (ms) => this.stoodBack.push(ms),
        leaseId: () => {
          leases += 1;
          return leases;
        },
      },
    });
    this.over = this.run(campaign);
  }

  private async run(campaign: Campaign): Promise<void> {
    this.leaderKey = await campaign.won(this.stopping.signal);
  }

  /** Its process is gone: nothing of it happens any more. */
  kill(): void {
    this.isPaused = true;
    this.watch.close();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.watch.close();
    await this.leaderKey?.stepDown();
  }
}

/** A leader `a` that beats, and a node `b` that follows. */
async function two(more: Partial<NodeOptions> = {}) {
  const stage = new Stage();
  const a = stage.node('a');
  await stage.time.pass(10);
  a.epoch = 7;
  const b = stage.node('b', more);
  await stage.time.pass(10 * BEAT_MS);
  expect(stage.leads()).to.deep.equal(['a']);
  return { stage, a, b };
}

describe('the election', () => {
  it('the first node leads at once, and the second hears its beats', async () => {
    const stage = new Stage();
    const a = stage.node('a');
    await stage.time.pass(1);
    expect(stage.leads()).to.deep.equal(['a']);
    const b = stage.node('b');
    await stage.time.pass(BEAT_MS);
    expect(b.heard.at(-1)).to.include({ node: 'a', epoch: 0, at: 0 });
    a.epoch = 7;
    const before = b.heard.length;
    await stage.time.pass(20 * BEAT_MS);
    expect(b.heard.length - before).to.be.within(18, 21);
    expect(b.heard.at(-1)).to.include({ node: 'a', url: 'http://a', epoch: 7 });
    expect(stage.leads()).to.deep.equal(['a']);
  });

  it('of many nodes that try at once, one leads', async () => {
    const stage = new Stage();
    for (const name of 'abcdefgh') stage.node(name);
    await stage.time.pass(5_000);
    expect(stage.leads()).to.have.length(1);
  });

  it('a leader that died is followed after the silence, and not before', async () => {
    const { stage, a } = await two();
    a.kill();
    await stage.time.pass(SILENCE_MS - BEAT_MS - 1);
    expect(stage.leader).to.include({ node: 'a' });
    await stage.time.pass(2 * BEAT_MS + 1);
    expect(stage.leader).to.include({ node: 'b' });
  });

  it('a leader that steps down is followed at once', async () => {
    const { stage, a } = await two();
    await a.stop();
    await settled();
    expect(stage.leader).to.include({ node: 'b' });
    await stage.time.pass(5_000);
    expect(stage.leader).to.include({ node: 'b' });
  });

  it('a leader that slept does not take the key back', async () => {
    const { stage, a, b } = await two();
    a.isPaused = true;
    await stage.time.pass(3_000);
    expect(stage.leader).to.include({ node: 'b' });
    a.isPaused = false;
    for (let n = 0; n < 40; n += 1) {
      await stage.time.pass(100);
      expect(stage.leader).to.include({ node: 'b' });
    }
    expect(b.leaderKey).not.to.equal(undefined);
  });

  it('while etcd does not answer, silence says nothing', async () => {
    const { stage } = await two();
    for (const member of [0, 1]) stage.etcd.setMember(member, false);
    await stage.time.pass(20_000);
    for (const member of [0, 1]) stage.etcd.setMember(member, true);
    await stage.time.pass(10_000);
    expect(stage.leads()).to.deep.equal(['a']);
    expect(stage.leader).to.include({ node: 'a' });
  });

  for (const beatMs of [BEAT_MS, 50]) {
    it(`a leader that reaches etcd later than others leads on, beats of ${beatMs} ms`, async () => {
      const stage = new Stage();
      let answersFrom = 0;
      const late = (etcd: Etcd): Etcd => {
        const refusing = Object.create(etcd) as Etcd;
        for (const call of ['txn', 'range', 'grantLease', 'keepLease'] as const) {
          const asked = etcd[call].bind(etcd) as (...given: unknown[]) => Promise<never>;
          const answer = (...given: unknown[]): Promise<never> =>
            stage.time.now < answersFrom ? Promise.reject(noAnswer()) : asked(...given);
          Object.assign(refusing, { [call]: answer });
        }
        return refusing;
      };
      stage.node('a', { beatMs, wrap: late });
      await stage.time.pass(10);
      stage.node('b', { beatMs });
      for (let outage = 0; outage < 20; outage += 1) {
        await stage.time.pass(3_000 + 7 * outage);
        for (const member of [0, 1]) stage.etcd.setMember(member, false);
        await stage.time.pass(5_000);
        for (const member of [0, 1]) stage.etcd.setMember(member, true);
        answersFrom = stage.time.now + RECONNECT_LATE_MS;
        await stage.time.pass(5_000);
        expect(stage.leader, `outage ${outage}`).to.include({ node: 'a' });
      }
    });
  }

  it('a leader that died while etcd did not answer is followed soon after', async () => {
    const { stage, a } = await two();
    for (const member of [0, 1]) stage.etcd.setMember(member, false);
    a.kill();
    await stage.time.pass(SILENCE_MS);
    for (const member of [0, 1]) stage.etcd.setMember(member, true);
    await stage.time.pass(4 * BEAT_MS + 10);
    expect(stage.leader).to.include({ node: 'b' });
  });

  it('nobody tries while etcd is full, and the leader leads on when it has room', async () => {
    const { stage, b } = await two();
    fill(stage.etcd);
    await stage.time.pass(10_000);
    expect(stage.leads()).to.deep.equal(['a']);
    expect(b.full).to.deep.equal([true]);
    stage.etcd.disarm();
    await stage.time.pass(10_000);
    expect(stage.leads()).to.deep.equal(['a']);
    expect(stage.leader).to.include({ node: 'a' });
  });

  it('a node whose starts failed waits longer each time', async () => {
    for (const [failedStarts, waitMs] of [
      [1, 1_000],
      [3, 4_000],
      [20, 60_000],
    ] as const) {
      const stage = new Stage();
      stage.node('a', { failedStarts });
      await stage.time.pass(waitMs - BEAT_MS);
      expect(stage.leads()).to.deep.equal([]);
      await stage.time.pass(2 * BEAT_MS);
      expect(stage.leads()).to.deep.equal(['a']);
    }
  });

  it('a node that lacks records does not try', async () => {
    let isReady = false;
    const stage = new Stage();
    stage.node('a', { isReady: () => isReady });
    await stage.time.pass(5_000);
    expect(stage.leader).to.equal(undefined);
    isReady = true;
    await stage.time.pass(BEAT_MS);
    expect(stage.leads()).to.deep.equal(['a']);
  });

  it('a beat whose answer was lost is no other node', async () => {
    const stage = new Stage();
    let lost = 0;
    stage.node('a', {
      wrap: (etcd) =>
        Object.assign(Object.create(etcd) as Etcd, {
          async txn(...given: Parameters<Etcd['txn']>) {
            const answer = await etcd.txn(...given);
            lost += 1;
            if (lost % 2 === 0) throw noAnswer();
            return answer;
          },
        }),
    });
    stage.node('b');
    await stage.time.pass(20_000);
    expect(stage.leads()).to.deep.equal(['a']);
    expect(lost).to.be.greaterThan(30);
  });

  it('a key that was removed is left to another node', async () => {
    const { stage, a } = await two();
    stage.etcd.txn([], [{ remove: keys.leader }]);
    await stage.time.pass(1);
    expect(a.stoodBack, 'at once, and before the next beat').to.deep.equal([SILENCE_MS]);
    await stage.time.pass(2 * SILENCE_MS + 2 * BEAT_MS);
    expect(stage.leader).to.include({ node: 'b' });
  });

  it('without another node the leader makes it again after a while', async () => {
    const { stage, b } = await two();
    await b.stop();
    stage.etcd.txn([], [{ remove: keys.leader }]);
    await stage.time.pass(2 * SILENCE_MS);
    expect(stage.leader).to.equal(undefined);
    await stage.time.pass(3 * BEAT_MS);
    expect(stage.leader).to.include({ node: 'a' });
  });

  it('a leader that the log has deposed does not make the key again', async () => {
    const stage = new Stage();
    stage.node('a', { mayWrite: () => false });
    await stage.time.pass(10);
    stage.etcd.txn([], [{ remove: keys.leader }]);
    await stage.time.pass(20 * SILENCE_MS);
    expect(stage.leader).to.equal(undefined);
  });

  it('a leader asks the log now and then, and when the key is not what it wrote', async () => {
    let asked = 0;
    const mayWrite = (): boolean => {
      asked += 1;
      return true;
    };
    const stage = new Stage();
    const a = stage.node('a', { mayWrite });
    await stage.time.pass(9_000);
    const snapshot = stage.etcd.snapshot();
    expect(asked).to.equal(0);
    await stage.time.pass(2_000);
    expect(asked).to.equal(1);
    stage.etcd.restore(snapshot);
    await stage.time.pass(2 * BEAT_MS);
    expect(asked).to.equal(2);
    a.isPaused = true;
    await stage.time.pass(4_000);
    expect(stage.leader).to.equal(undefined);
    a.isPaused = false;
    await stage.time.pass(3 * BEAT_MS);
    expect(asked).to.equal(3);
    expect(stage.leader).to.include({ node: 'a' });
  });

  it('a lease of etcd that ran out under a leader is replaced', async () => {
    const { stage, a, b } = await two({ isReady: () => false });
    a.isPaused = true;
    await stage.time.pass(4_000);
    expect(stage.leader).to.equal(undefined);
    a.isPaused = false;
    await stage.time.pass(3 * BEAT_MS);
    expect(stage.leader).to.include({ node: 'a' });
    await stage.time.pass(20_000);
    expect(stage.leader).to.include({ node: 'a' });
    expect(b.leaderKey).to.equal(undefined);
  });

  it('a watch that tells nothing is not believed', async () => {
    const { stage } = await two({
      wrap: (etcd) =>
        Object.assign(Object.create(etcd) as Etcd, { watch: () => ({ close: () => {} }) }),
    });
    await stage.time.pass(20_000);
    expect(stage.leads()).to.deep.equal(['a']);
  });

  it('a watch that ended is begun again', async () => {
    const { stage, a, b } = await two();
    const before = b.heard.length;
    const { revision } = stage.etcd;
    stage.etcd.compact(revision);
    await stage.time.pass(20 * BEAT_MS);
    expect(b.heard.length - before).to.be.greaterThan(15);
    a.kill();
    await stage.time.pass(3_000);
    expect(stage.leader).to.include({ node: 'b' });
  });

  it('a node that was stopped while it tried holds no key', async () => {
    const stage = new Stage();
    const node = stage.node('a');
    await node.stop();
    await stage.time.pass(5_000);
    await node.over;
    expect(stage.leader).to.equal(undefined);
  });
});

function fill(etcd: MemoryEtcd): void {
  // Larger than any quota: etcd raises its alarm at the first write that does not fit.
  Object.assign(etcd, { allocatedBytes: 2 ** 40 });
  expect(() => etcd.txn([], [{ put: '/other', value: Buffer.alloc(1) }])).to.throw('space');
  Object.assign(etcd, { allocatedBytes: 0 });
}
