// Owns one scene of copies of the log: a node that is far behind sends copies to a new machine, and
// another thread begins them, and flushes records, at every moment between two looks. Meanwhile the
// leader trims. A copy that was not broken off is always one that a node can go on from.

import { Presence } from '../../../src/cluster/presence.ts';
import { Trimming } from '../../../src/cluster/trimming.ts';
import { encodeManifest } from '../../../src/log/etcd/group.ts';
import { encodeHead } from '../../../src/log/etcd/head.ts';
import { decodeTrimMark } from '../../../src/log/etcd/trim-mark.ts';
import type { SentCopy } from '../../../src/model/sent-copy.ts';
import { ClusterTime } from '../../cluster/cluster-time.ts';
import { DirectEtcd } from '../../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../../support/etcd/memory-etcd.ts';
import { Random } from '../random.ts';
import type { Run } from '../run.ts';
import { KEYS } from './layout.ts';

const GROUP_BYTES = 10_000;
const RECORDS = 10;
/** Trimming leaves so many groups; twice as many are too many to wait for a copy. */
const KEPT = 120;
/** The sending node is so far behind that a copy of it lacks nearly all that is kept. */
const BEHIND = 105;
const MOST_BYTES = 2 * KEPT * (GROUP_BYTES + 500);
const COPIES = 6;

class World {
  readonly etcd = new MemoryEtcd();
  readonly direct = new DirectEtcd(this.etcd);
  readonly time = new ClusterTime(this.etcd);
  readonly seen: string[] = [];
  wrong: string | undefined;
  /** The newest record in etcd, and the newest that the sending node holds. */
  end = 0;
  last = 0;
  copies: readonly SentCopy[] = [];
  isBehind = false;
  trims = 0;
  readonly dice: Random;
  readonly trimming: Trimming;
  private leases = 0;
  private count = 0;

  constructor(seed: number) {
    this.dice = new Random(seed, 'held copies');
    this.add(KEPT);
    this.last = this.end;
    this.trimming = new Trimming({
      ...{ etcd: this.direct, keys: KEYS, time: this.time.ofNode(), tailMaxBytes: MOST_BYTES },
      written: () => 0,
      tell: (_, msg) => void this.seen.push(msg),
      told: () => {},
    });
  }

  add(groups: number): void {
    for (let n = 0; n < groups; n += 1) {
      const [after, first, last] = [this.end, this.end + 1, this.end + RECORDS];
      const fields = { after, afterCheck: after, first, last, hash: 'h', revision: 1 };
      const value = encodeManifest({ ...fields, bytes: GROUP_BYTES, chunks: 1 });
      const piece = { put: KEYS.chunk(first, 1, 0), value: Buffer.alloc(GROUP_BYTES) };
      const head = { epoch: 1, last, check: last, writer: 'w' };
      const puts = [{ put: KEYS.group(first), value }, piece];
      this.etcd.txn([], [...puts, { put: KEYS.head, value: encodeHead(head) }]);
      this.end = last;
    }
  }

  async node(name: string, mirror: string, mirrored: () => number, sends = false) {
    return Presence.announce(
      {
        ...{ etcd: this.direct, keys: KEYS, node: name, time: this.time.ofNode() },
        leaseId: () => {
          this.leases += 1;
          return this.leases;
        },
        copies: () => this.beside(sends, () => this.copies),
        report: () =>
          this.beside(sends, () => {
            const report = { url: `http://${name}`, mirror, machine: name, version: '0' };
            return { ...report, mirrored: mirrored() };
          }),
        tell: () => {},
        lost: () => {},
      },
      new AbortController().signal,
    );
  }

  get trimmed(): number {
    const [kv] = this.etcd.range(KEYS.trim, undefined).kvs;
    return kv === undefined ? 0 : decodeTrimMark(kv.value).through;
  }

  change(mirror: string, change: Partial<SentCopy>): void {
    this.copies = this.copies.map((one) => (one.mirror === mirror ? { ...one, ...change } : one));
  }

  /** The other thread acts right after this one has looked. */
  private beside<T>(isSender: boolean, look: () => T): T {
    const found = look();
    if (isSender && this.isBehind && this.dice.chance(0.2)) {
      this.count += 1;
      const mirror = `copy ${this.count}`;
      this.copies = [{ mirror, last: this.last }];
      this.last = this.end;
      this.isBehind = false;
      this.seen.push(`${this.time.now}: ${mirror} begins at record ${this.copies[0]?.last}`);
    }
    return found;
  }
}

/** The way of one copy: broken off, or sent, and then a node runs on it, and follows to the end. */
async function goOn(world: World, copy: SentCopy): Promise<void> {
  const { dice, time } = world;
  const { mirror, last } = copy;
  await pass(world, dice.between(1, 15), last, mirror);
  if (dice.chance(0.3)) {
    world.copies = [];
    await time.pass(3_000);
    if (world.etcd.range(KEYS.hold(mirror), undefined).kvs.length > 0) {
      world.wrong ??= `${mirror} was broken off, and is held`;
    }
    return;
  }
  world.change(mirror, { sentAt: time.now });
  await second(world);
  await second(world);
  // The note of a copy that was sent does not last.
  if (dice.chance(0.5)) world.copies = [];
  await pass(world, dice.between(1, 15), last, mirror);
  let own = last;
  const node = await world.node('new', mirror, () => own);
  if (world.etcd.range(KEYS.hold(mirror), undefined).kvs.length > 0) {
    world.wrong ??= `a node runs on ${mirror}, and the copy is held still`;
  }
  await pass(world, dice.between(1, 10), last, mirror);
  own = world.end;
  await time.pass(2_000);
  await node.withdraw();
  world.etcd.txn([], [{ remove: `${KEYS.prefix}members/new` }]);
  world.copies = [];
}

async function pass(world: World, seconds: number, last: number, mirror: string): Promise<void> {
  for (let n = 0; n < seconds; n += 1) {
    await second(world);
    if (world.trimmed <= last) continue;
    world.wrong ??= `etcd may forget up to ${world.trimmed}, and ${mirror} ends with ${last}`;
  }
}

async function second(world: World): Promise<void> {
  world.add(1);
  await world.time.pass(500);
  const before = world.trimmed;
  await world.trimming.round();
  if (world.trimmed > before) world.trims += 1;
  await world.time.pass(500);
}

async function play(seed: number): Promise<World> {
  const world = new World(seed);
  await world.node('a', 'copy of a', () => world.end);
  await world.node('b', 'copy of b', () => world.last, true);
  for (let n = 0; n < COPIES && world.wrong === undefined; n += 1) {
    world.add(BEHIND);
    world.isBehind = true;
    while (world.isBehind) await second(world);
    for (const copy of world.copies) await goOn(world, copy);
  }
  return world;
}

/** @returns what is wrong when etcd does not keep what a copy lacks. */
export async function playHeldCopies(seeds: number): Promise<Run> {
  const seen: string[] = [];
  let trims = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const world = await play(seed);
    seen.push(`seed ${seed}`, ...world.seen);
    trims += world.trims;
    const message = world.wrong;
    if (message === undefined) continue;
    const failure = { checker: 'hold', message };
    return { records: world.end, failure, transcript: () => seen.join('\n') };
  }
  const failure = { checker: 'hold', message: 'nothing was trimmed: nothing is shown' };
  return { records: 0, ...(trims === 0 && { failure }), transcript: () => seen.join('\n') };
}
