// Proves that nothing which the log of several machines acknowledged is lost, doubled or changed,
// while members of etcd are killed and paused, proxies before them lose requests and answers, and
// two nodes take the log from one another. Each record is unique, so that whatever is read can be
// held against what was acknowledged.

import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd } from '../../../src/log/etcd/etcd.ts';
import { openEtcd } from '../../../src/log/etcd/grpc-etcd.ts';
import { encodeHead } from '../../../src/log/etcd/head.ts';
import { keysOf } from '../../../src/log/etcd/keys.ts';
import { openReplicatedLog, type ReplicatedLog } from '../../../src/log/etcd/replicated-log.ts';
import { openLmdbLog } from '../../../src/log/lmdb-log.ts';
import type { LogRecord } from '../../../src/model/records.ts';
import { Random } from '../../simulator/random.ts';
import { type EtcdCluster, withEtcd } from '../../support/etcd-cluster.ts';
import { sized } from '../../support/tier.ts';
import { created, started } from '../records.ts';
import { type LosingProxy, type Loss, losingProxy } from './losing-proxy.ts';
import { NEW_HEAD } from './replicated-device.ts';
import { plain, refusal } from './uncertain.ts';

const CALL_MS = 300;
/** The first node rides everything out, the second gives up soon and opens its log again. */
const STALLS_MS = [5_000, 400];
const MS = sized(20_000, 6_000);
/** How much longer it takes at most where a machine is busy. */
const BUSY_MS = 60_000;
/** Of the second node; a short round may have none. */
const LOST_MIN = sized(1, 0);
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

const time = {
  monotonic: () => performance.now(),
  after(ms: number, act: () => void) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

/** One node: its own way to etcd and its own mirror; it leads until another one does. */
class Writer {
  acknowledged = 0;
  lost = 0;
  log: ReplicatedLog | undefined;
  private readonly etcd: Etcd;
  private readonly keys = keysOf('main');
  private readonly dataDir: string;
  private readonly dice: Random;
  private readonly stallMs: number;

  constructor(etcd: Etcd, dataDir: string, dice: Random, stallMs: number) {
    this.etcd = etcd;
    this.dataDir = dataDir;
    this.dice = dice;
    this.stallMs = stallMs;
  }

  /** Follows to the end, as long as that takes, and tries to lead. @returns whether it does. */
  async takesOver(records: Map<number, LogRecord>): Promise<boolean> {
    await this.leave();
    const mirror = await openLmdbLog({ dataDir: this.dataDir });
    for (;;) {
      try {
        const { etcd, keys, stallMs } = this;
        const writer = randomUUID();
        const shared = { etcd, keys, mirror, writer, node: 'a', stallMs, time };
        this.log = await openReplicatedLog(shared);
        break;
      } catch (error) {
        expect(error).to.have.property('name', 'EtcdError');
      }
    }
    return this.starts(this.log, records);
  }

  /** Appends groups until the time is over or another node leads. */
  async leads(records: Map<number, LogRecord>, isOver: () => boolean): Promise<void> {
    const log = this.log as ReplicatedLog;
    while (!isOver()) {
      const from = log.lastNumber + 1;
      const size = this.dice.between(1, 20);
      const some = Array.from({ length: size }, (_, i) => created(from + i, randomUUID()));
      const result = await log.append(some);
      if (result === 'fenced') return;
      if (result === 'durable') {
        this.note(some, records);
        if ((await log.confirm()) === 'fenced') return;
      } else {
        this.lost += 1;
        if (!(await reopened(log)) || !(await this.starts(log, records))) return;
      }
    }
  }

  async leave(): Promise<void> {
    await this.log?.close();
    this.log = undefined;
  }

  private async starts(log: ReplicatedLog, records: Map<number, LogRecord>): Promise<boolean> {
    for (;;) {
      const start = started(log.lastNumber + 1);
      const result = await log.start(start);
      if (result === 'durable') this.note([start], records);
      if (result !== 'failed') return result === 'durable';
      if (!(await reopened(log))) return false;
    }
  }

  private note(some: readonly LogRecord[], records: Map<number, LogRecord>): void {
    for (const record of some) {
      expect(records.has(record.seq), `record ${record.seq} is acknowledged twice`).to.equal(false);
      records.set(record.seq, record);
      this.acknowledged += 1;
    }
  }
}

/** @returns false when another node leads. */
async function reopened(log: ReplicatedLog): Promise<boolean> {
  const error = await refusal(log.reopen());
  if (error !== undefined) expect(error).to.have.property('code', 'LOG_FENCED');
  return error === undefined;
}

/** Kills and pauses members, one at a time, so that a majority stays; at last all at once. */
async function disturb(cluster: EtcdCluster, dice: Random, isOver: () => boolean) {
  let faults = 0;
  while (!isOver()) {
    await pause(dice.between(300, 1_000));
    const index = dice.chance(0.5) ? await cluster.leader() : dice.below(3);
    if (index < 0) continue;
    faults += 1;
    if (dice.chance(0.5)) {
      await cluster.kill(index);
      await pause(dice.below(800));
      await cluster.restart(index);
    } else {
      await cluster.pause(index);
      await pause(dice.between(300, 1_800));
      cluster.resume(index);
    }
  }
  for (const index of [0, 1, 2]) await cluster.kill(index);
  await Promise.all([0, 1, 2].map((index) => cluster.restart(index)));
  return faults + 1;
}

/** A node's own way to etcd: that of one node can be cut off while the other one's is not. */
class Way {
  private isCutOff = false;
  /** Until the witness reads. */
  isLosing = true;
  private readonly proxies: readonly LosingProxy[];
  readonly etcd: Etcd;

  private constructor(proxies: readonly LosingProxy[]) {
    this.proxies = proxies;
    this.etcd = openEtcd({ urls: proxies.map(({ url }) => url), callMs: CALL_MS });
  }

  static async open(cluster: EtcdCluster, dice: Random): Promise<Way> {
    const proxies: LosingProxy[] = [];
    const way = (): Way => opened;
    for (const url of cluster.urls) {
      proxies.push(await losingProxy(url, dice, () => way().loses(dice)));
    }
    const opened = new Way(proxies);
    return opened;
  }

  async cutOff(ms: number): Promise<void> {
    this.isCutOff = true;
    await pause(ms);
    this.isCutOff = false;
  }

  get losses(): number {
    return this.proxies.flatMap(({ losses }) => Object.values(losses)).reduce((a, b) => a + b);
  }

  async close(): Promise<void> {
    this.etcd.close();
    for (const proxy of this.proxies) await proxy.close();
  }

  private loses(dice: Random): Loss {
    if (this.isCutOff) return 'request';
    if (!this.isLosing || !dice.chance(0.02)) return undefined;
    return dice.pick(['request', 'answer', 'late'] as const);
  }
}

withEtcd('log/etcd under faults', {}, (cluster) => {
  let ways: Way[] = [];
  let direct: Etcd;
  let directory = '';
  const dice = new Random(seed);
  const keys = keysOf('main');

  before(async () => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-etcd-faults-'));
    direct = openEtcd({ urls: cluster().urls, callMs: 5_000 });
    await direct.txn([], [{ put: keys.head, value: encodeHead(NEW_HEAD) }]);
    ways = [await Way.open(cluster(), dice), await Way.open(cluster(), dice)];
  });
  after(async () => {
    direct?.close();
    for (const way of ways) await way.close();
    fs.rmSync(directory, { recursive: true, force: true });
  });

  it(`loses, doubles and changes nothing that it acknowledged (SEED=${seed})`, async function () {
    this.timeout(MS + BUSY_MS + 100_000);
    const writers = ways.map(
      ({ etcd }, i) => new Writer(etcd, path.join(directory, `${i}`), dice, STALLS_MS[i] ?? 0),
    );
    const until = performance.now() + MS;
    const records = new Map<number, LogRecord>();
    const ledBy = new Set<number>();
    // On a busy machine it goes on until each node has led, both ways have lost something, and the
    // second node has given up a group.
    const isSeen = (): boolean =>
      ledBy.size === ways.length &&
      ways.every(({ losses }) => losses > 0) &&
      (writers[1]?.lost ?? 0) >= LOST_MIN;
    const isOver = (): boolean => performance.now() >= (isSeen() ? until : until + BUSY_MS);
    const disturbing = disturb(cluster(), dice, isOver);
    /** A node takes over while the other one waits for an answer, and leads for a while. */
    const write = async (writer: Writer, i: number): Promise<number> => {
      let terms = 0;
      const other = ways[1 - i] as Way;
      while (!isOver()) {
        const healing = dice.chance(0.7) ? other.cutOff(dice.between(200, 1_500)) : undefined;
        await pause(dice.between(20, 100));
        if (await writer.takesOver(records)) {
          terms += 1;
          ledBy.add(i);
          await writer.leads(records, isOver);
        }
        await healing;
        await pause(dice.between(200, 1_200));
      }
      return terms;
    };
    const writing = writers.map(write);
    const failed = await refusal(Promise.all(writing));
    const faults = await disturbing;
    for (const way of ways) way.isLosing = false;
    expect(failed).to.equal(undefined);
    const terms = await Promise.all(writing);

    const mirror = await openLmdbLog({ dataDir: path.join(directory, 'witness') });
    const shared = { etcd: direct, keys, mirror, writer: randomUUID(), node: 'c', time };
    const witness = await openReplicatedLog({ ...shared, stallMs: 30_000 });
    const agreed = [...witness.read(1)];
    const read = new Map(agreed.map((record) => [record.seq, record]));
    const kept = [...records.values()].map(({ seq }) => read.get(seq) as LogRecord);
    expect(plain(kept)).to.deep.equal(plain(records.values()));
    for (const writer of writers) {
      await writer.takesOver(new Map());
      expect(plain(writer.log?.read(1, agreed.length) ?? [])).to.deep.equal(plain(agreed));
      await writer.leave();
    }
    await witness.close();
    const losses = ways.map((way) => way.losses);
    const lost = writers.map((writer) => writer.lost);
    console.log(JSON.stringify({ acknowledged: records.size, terms, faults, losses, lost }));
    expect(lost[1]).to.be.at.least(LOST_MIN);
    expect(Math.min(...terms, records.size, faults, ...losses)).to.be.greaterThan(0);
  });
});
