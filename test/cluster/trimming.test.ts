// What the leader deletes in etcd, and on what that rests: over an etcd in memory, with reports of
// nodes that come, change and go.

import { expect } from 'chai';
import { type AgreedKnobs, encodeAgreement } from '../../src/cluster/agreement.ts';
import { clusterStatus } from '../../src/cluster/cluster-status.ts';
import { Presence } from '../../src/cluster/presence.ts';
import { forgetNode, freeRoom } from '../../src/cluster/step-down.ts';
import { Trimming } from '../../src/cluster/trimming.ts';
import type { Etcd } from '../../src/log/etcd/etcd.ts';
import { decodeManifest, encodeManifest } from '../../src/log/etcd/group.ts';
import { encodeHead } from '../../src/log/etcd/head.ts';
import { keysOf, prefixEnd } from '../../src/log/etcd/keys.ts';
import { decodeTrimMark, encodeTrimMark } from '../../src/log/etcd/trim-mark.ts';
import { DirectEtcd } from '../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../support/etcd/memory-etcd.ts';
import { ClusterTime } from './cluster-time.ts';

const keys = keysOf('orders');
const GROUP_BYTES = 10_000;
let leases = 0;

interface NodeSeen {
  mirrored: number;
  machine: string;
  mirror: string;
}

class Stage {
  readonly etcd: MemoryEtcd;
  readonly direct: DirectEtcd;
  readonly time: ClusterTime;
  readonly presences = new Map<string, Presence>();
  trimmed = 0;
  holders: number | undefined;
  written = 0;
  /** Groups that were put. */
  end = 0;
  readonly told: string[] = [];

  /** Each group has ten records. */
  constructor(groups: number, quotaBytes?: number) {
    this.etcd = new MemoryEtcd(quotaBytes === undefined ? {} : { quotaBytes });
    this.direct = new DirectEtcd(this.etcd);
    this.time = new ClusterTime(this.etcd);
    this.add(groups);
  }

  add(groups: number): void {
    for (let n = this.end; n < this.end + groups; n += 1) {
      const [after, first, last] = [n * 10, n * 10 + 1, n * 10 + 10];
      const fields = { after, afterCheck: after * 7, first, last, hash: 'h', revision: 1 };
      const manifest = { ...fields, bytes: GROUP_BYTES, chunks: 1 };
      const head = encodeHead({ epoch: 1, last, check: last * 7, writer: 'w' });
      this.etcd.txn(
        [],
        [
          { put: keys.group(first), value: encodeManifest(manifest) },
          { put: keys.chunk(first, 1, 0), value: Buffer.alloc(GROUP_BYTES) },
          { put: keys.head, value: head },
        ],
      );
      this.written += GROUP_BYTES;
    }
    this.end += groups;
  }

  async node(name: string, seen: NodeSeen): Promise<Presence> {
    const presence = await Presence.announce(
      {
        etcd: this.direct,
        keys,
        node: name,
        time: this.time.ofNode(),
        leaseId: () => {
          leases += 1;
          return leases;
        },
        copies: () => [],
        report: () => ({ url: `http://${name}`, version: '0', ...seen }),
        tell: () => {},
        lost: () => {},
      },
      new AbortController().signal,
    );
    this.presences.set(name, presence);
    return presence;
  }

  trimming(tailMaxBytes: number, etcd: Etcd = this.direct): Trimming {
    return new Trimming({
      etcd,
      keys,
      time: this.time.ofNode(),
      tailMaxBytes,
      written: () => this.written,
      tell: (_, msg) => void this.told.push(msg),
      told: ({ trimmed, holders }) => {
        this.trimmed = trimmed;
        this.holders = holders;
      },
    });
  }

  /** The first record of each group that is left. */
  get groups(): number[] {
    const { kvs } = this.etcd.range(keys.groups, prefixEnd(keys.groups));
    return kvs.map(({ key, value }) => decodeManifest(key, value).first);
  }

  get pieces(): number {
    return this.etcd.range(keys.chunks, prefixEnd(keys.chunks)).kvs.length;
  }

  get bytes(): number {
    return this.etcd.status()[0]?.dbBytesInUse ?? 0;
  }
}

const seen = (mirrored: number, machine: string): NodeSeen => ({
  mirrored,
  machine,
  mirror: `copy of ${machine}`,
});

/** Hundred groups, a megabyte in all, and two nodes that hold them. */
async function full() {
  const stage = new Stage(100);
  const [a, b] = [seen(1_000, 'x'), seen(1_000, 'y')];
  await stage.node('a', a);
  await stage.node('b', b);
  return { stage, a, b };
}

async function rounds(trimming: Trimming, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await trimming.round();
}

describe('trimming', () => {
  it('leaves everything as long as etcd holds less than half of what it may', async () => {
    const { stage } = await full();
    await rounds(stage.trimming(4_000_000), 3);
    expect(stage.groups).to.have.length(100);
    expect(stage.etcd.range(keys.trim, undefined).kvs).to.deep.equal([]);
  });

  it('deletes the oldest groups down to half, first told and a round later done', async () => {
    const { stage } = await full();
    const trimming = stage.trimming(1_000_000);
    await trimming.round();
    expect(stage.groups, 'only told').to.have.length(100);
    const [mark] = stage.etcd.range(keys.trim, undefined).kvs;
    const { through, check } = decodeTrimMark(mark?.value as Uint8Array);
    expect([through, check]).to.deep.equal([stage.trimmed, stage.trimmed * 7]);
    await rounds(trimming, 3);
    expect(stage.bytes).to.be.within(400_000, 510_000);
    expect(stage.groups[0]).to.equal(stage.trimmed + 1);
    expect(stage.groups.at(-1)).to.equal(991);
    expect(stage.pieces).to.equal(stage.groups.length);
  });

  it('keeps what only one running node holds', async () => {
    const { stage, b } = await full();
    b.mirrored = 305;
    await stage.time.pass(2_000);
    await rounds(stage.trimming(200_000), 5);
    expect(stage.groups[0]).to.equal(301);
    expect(stage.groups).to.have.length(70);
  });

  for (const [what, machine] of [
    ['two copies on one machine', 'x'],
    ['a node that is gone', 'y'],
  ] as const) {
    it(`counts ${what} for one`, async () => {
      const stage = new Stage(100);
      await stage.node('a', seen(1_000, 'x'));
      const b = await stage.node('b', seen(1_000, machine));
      if (machine === 'y') await b.withdraw();
      await rounds(stage.trimming(200_000), 5);
      expect(stage.groups).to.have.length(100);
      expect(stage.trimmed).to.equal(0);
    });
  }

  it('says on how many machines lies what was deleted, and warns of too few', async () => {
    const { stage, b } = await full();
    const meta = encodeAgreement({ log: 'l', format: 1, knobs: {} as AgreedKnobs });
    stage.etcd.txn([], [{ put: keys.meta, value: meta }]);
    const trimming = stage.trimming(1_000_000);
    await stage.trimming(4_000_000).round();
    expect(stage.holders).to.equal(undefined);
    await trimming.round();
    expect(stage.holders).to.equal(2);
    expect(stage.told).to.deep.equal([]);
    const { tail } = await clusterStatus(stage.direct, keys, 'orders');
    expect([tail.trimmed, tail.holders]).to.deep.equal([stage.trimmed, 2]);
    b.mirrored = 3;
    await stage.time.pass(2_000);
    await rounds(trimming, 2);
    expect(stage.holders).to.equal(1);
    expect(stage.told).to.deep.equal([
      'the records that etcd has deleted lie on fewer than two machines with a running node',
    ]);
    expect((await clusterStatus(stage.direct, keys, 'orders')).tail.holders).to.equal(1);
    b.mirrored = 1_000;
    await stage.time.pass(2_000);
    await rounds(trimming, 2);
    expect(stage.told.slice(1)).to.deep.equal([
      'the records that etcd has deleted lie on two machines again',
    ]);
  });

  for (const [machine, isRefused] of [
    ['x', true],
    ['y', false],
  ] as const) {
    it(`lets a node be forgotten while x and ${machine} hold all, if these are two`, async () => {
      const stage = new Stage(100);
      await stage.node('a', seen(1_000, 'x'));
      await stage.node('b', seen(1_000, machine));
      await (await stage.node('c', seen(1_000, 'z'))).withdraw();
      stage.etcd.txn([], [{ put: keys.trim, value: encodeTrimMark({ through: 9, check: 1 }) }]);
      const refused = await forgetNode(stage.direct, keys, 'c').catch(({ message }) => message);
      const words =
        'etcd has deleted the records up to 9, and the machines whose nodes run and hold them ' +
        'are 1; 2 must be left';
      expect(refused).to.equal(isRefused ? words : undefined);
    });
  }

  it('deletes nothing when a copy was lost after it was told', async () => {
    const { stage, b } = await full();
    const trimming = stage.trimming(1_000_000);
    await trimming.round();
    expect(stage.trimmed).to.be.greaterThan(0);
    b.mirrored = 0;
    await stage.time.pass(2_000);
    await rounds(trimming, 3);
    expect(stage.groups).to.have.length(100);
  });

  for (const key of ['trim', 'groups'] as const) {
    it(`rests on reports as they stand at that moment: ${key}`, async () => {
      const { stage, b } = await full();
      let isLost = false;
      const etcd: Etcd = Object.assign(Object.create(stage.direct) as Etcd, {
        async txn(...given: Parameters<Etcd['txn']>) {
          const [first] = given[1];
          const isIt =
            first !== undefined &&
            (key === 'trim'
              ? 'put' in first && first.put === keys.trim
              : 'remove' in first && first.remove.startsWith(keys.groups));
          if (isIt && !isLost) {
            // The disk of a node is lost between the decision and the transaction.
            isLost = true;
            b.mirrored = 0;
            await stage.time.pass(2_000);
          }
          return stage.direct.txn(...given);
        },
      });
      await rounds(stage.trimming(1_000_000, etcd), 3);
      expect(isLost).to.equal(true);
      expect(stage.groups).to.have.length(100);
      const marks = stage.etcd.range(keys.trim, undefined).kvs.length;
      expect(marks).to.equal(key === 'trim' ? 0 : 1);
    });
  }

  it('never takes back what a leader after it has marked', async () => {
    const { stage } = await full();
    const value = encodeTrimMark({ through: 990, check: 990 * 7 });
    const etcd: Etcd = Object.assign(Object.create(stage.direct) as Etcd, {
      range(...given: Parameters<Etcd['range']>) {
        // The leader before was deposed between its look and its mark.
        if (given[0] === keys.trim) stage.etcd.txn([], [{ put: keys.trim, value }]);
        return stage.direct.range(...given);
      },
    });
    await stage.trimming(1_000_000, etcd).round();
    const [kv] = stage.etcd.range(keys.trim, undefined).kvs;
    expect(kv && decodeTrimMark(kv.value).through).to.equal(990);
  });

  it('deletes also while etcd is full, and so does `free`', async () => {
    const { stage } = await full();
    const trimming = stage.trimming(1_000_000);
    await trimming.round();
    Object.assign(stage.etcd, { allocatedBytes: 2 ** 40 });
    expect(() => stage.etcd.txn([], [{ put: '/x', value: Buffer.alloc(1) }])).to.throw('space');
    const before = stage.groups.length;
    await trimming.round().catch(() => {});
    expect(stage.groups.length).to.be.lessThan(before);
    expect(await freeRoom(stage.direct, keys)).to.equal(0);
  });

  it('keeps to the quota of etcd where that is less than what it may hold', async () => {
    const stage = new Stage(100, 7_500_000);
    await stage.node('a', seen(1_000, 'x'));
    await stage.node('b', seen(1_000, 'y'));
    await rounds(stage.trimming(2 ** 40), 3);
    // Half of 70 % without the slack.
    expect(stage.bytes).to.be.within(470_000, 540_000);
  });

  it('takes no new tasks in a nearly full etcd, until something can be deleted', async () => {
    const stage = new Stage(100, 6_100_000);
    await stage.node('a', seen(1_000, 'x'));
    const b = seen(0, 'y');
    await stage.node('b', b);
    const trimming = stage.trimming(2 ** 40);
    await trimming.round();
    expect(trimming.refusal).to.include('of its quota');
    await rounds(trimming, 3);
    expect(stage.groups).to.have.length(100);
    b.mirrored = 1_000;
    await stage.time.pass(2_000);
    await rounds(trimming, 3);
    expect(trimming.refusal).to.equal(undefined);
    expect(stage.told).to.deep.equal([
      'etcd is nearly full: new tasks are refused',
      'new tasks are taken again',
    ]);
  });

  it('begins a round also when much was written since the one before', async () => {
    const stage = new Stage(0, 12_000_000);
    for (const [name, machine] of [
      ['a', 'x'],
      ['b', 'y'],
    ] as const) {
      await stage.node(name, seen(1_000_000, machine));
    }
    const trimming = stage.trimming(2 ** 40);
    await trimming.round();
    trimming.begin();
    // 24 MB go through a quota of 12 MB within 6 s, and none of them waits for the ten seconds.
    for (let part = 0; part < 24; part += 1) {
      stage.add(100);
      await stage.time.pass(250);
    }
    expect(stage.etcd.alarms()).to.deep.equal([]);
    expect(stage.groups.length).to.be.lessThan(900);
    await trimming.stop();
  });

  it('goes on by itself until it is stopped', async () => {
    const { stage } = await full();
    const trimming = stage.trimming(1_000_000);
    trimming.begin();
    await stage.time.pass(45_000);
    expect(stage.groups.length).to.be.lessThan(60);
    await trimming.stop();
  });
});
