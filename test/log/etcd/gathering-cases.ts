// Owns the cases of a node that follows and is shown many groups at once: they come into its copy
// with few commits, and nothing is believed of them that the copy does not hold.

import { expect } from 'chai';
import type { Etcd, WatchEvent } from '../../../src/log/etcd/etcd.ts';
import { decodeHead } from '../../../src/log/etcd/head.ts';
import { type Log, LogError } from '../../../src/log/log.ts';
import { created, group, started } from '../records.ts';
import { type DeviceOptions, NEW_HEAD, type Node, ReplicatedDevice } from './replicated-device.ts';
import { agreed, leading, plain, refusal } from './uncertain.ts';

const mirrorOf = ({ log }: Node): Log =>
  (log as unknown as { readonly mirror: { readonly log: Log } }).mirror.log;

/** @returns how many records each commit of a node's copy has from now on. */
function commitsOf(node: Node, committed = (): void => {}): readonly number[] {
  const log = mirrorOf(node);
  const append = log.append.bind(log);
  const commits: number[] = [];
  log.append = (records) => {
    commits.push(records.length);
    committed();
    return append(records);
  };
  return commits;
}

/** What a watch shows of the keys from this revision on, until head has come to this record. */
async function shownOf({ etcd, keys }: ReplicatedDevice, from: number, last: number) {
  const shown: WatchEvent[] = [];
  const isWhole = (): boolean =>
    shown.some(
      (event) =>
        event.type === 'put' &&
        event.kv.key === keys.head &&
        decodeHead(event.kv.value).last === last,
    );
  await new Promise<void>((resolve) => {
    const watch = etcd.watch(keys.prefix, from, {
      events: (events) => {
        shown.push(...events);
        if (!isWhole()) return;
        watch.close();
        resolve();
      },
      ended: (error) => expect.fail(error.message),
    });
  });
  return shown;
}

/** A node that leads, and one that has all of its log; what comes then is shown from `from` on. */
async function pairOf(device: ReplicatedDevice) {
  const leader = await leading(device, 3);
  const follower = await device.node();
  return { leader, follower, from: (await follower.log.catchUp()) + 1 };
}

/** The records 4 to 8, of which two fill one commit of the copy. */
async function fiveLarge(device: ReplicatedDevice, leader: Node, from: number) {
  const large = 'x'.repeat(600_000);
  for (let last = 4; last <= 8; last++) await leader.log.append([created(last, large)]);
  return shownOf(device, from, 8);
}

export function takesTogether(name: string, etcd: () => Etcd): void {
  describe(`groups that are shown together: ${name}`, () => {
    let device: ReplicatedDevice;
    const make = async (options: DeviceOptions = {}): Promise<void> => {
      device = await ReplicatedDevice.make(etcd(), options);
    };
    beforeEach(() => make());
    afterEach(() => device.remove());

    it('takes groups that were shown together with one commit of its copy', async () => {
      const { leader, follower, from } = await pairOf(device);
      for (let last = 4; last <= 9; last++) await leader.log.append([created(last)]);
      await leader.log.reopen();
      await leader.log.append(group(10, 12));
      const events = await shownOf(device, from, 12);
      const commits = commitsOf(follower);
      const fed: number[] = [];
      expect(await follower.log.follow(events, ({ seq }) => fed.push(seq))).to.equal('followed');
      expect(commits).to.deep.equal([9]);
      expect(fed).to.deep.equal([4, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect(plain(follower.log.read(1))).to.deep.equal(await agreed(device));
    });

    it('makes no commit of its copy much larger than a mebibyte', async () => {
      const { leader, follower, from } = await pairOf(device);
      const events = await fiveLarge(device, leader, from);
      const commits = commitsOf(follower);
      expect(await follower.log.follow(events)).to.equal('followed');
      expect(commits).to.deep.equal([2, 2, 1]);
      expect(plain(follower.log.read(1))).to.deep.equal(await agreed(device));
    });

    it('keeps what was shown before an event that it cannot follow', async () => {
      const { leader, follower, from } = await pairOf(device);
      await leader.log.append(group(4, 6));
      await leader.log.append([created(7)]);
      await leader.log.append([created(8)]);
      const events = await shownOf(device, from, 8);
      const isLacking = ({ type, ...event }: WatchEvent): boolean =>
        type === 'put' && 'kv' in event && event.kv.key === device.keys.group(7);
      const some = events.filter((event) => !isLacking(event));
      expect(await follower.log.follow(some)).to.equal('behind');
      expect(follower.log.lastNumber).to.equal(6);
      await follower.log.catchUp();
      expect(plain(follower.log.read(1))).to.deep.equal(await agreed(device));
    });

    it('takes what was written right behind a start that leaves out numbers', async () => {
      await device.remove();
      await make({ head: { ...NEW_HEAD, gap: 1_000_000 } });
      const { log } = await device.node();
      const follower = await device.node(undefined, true);
      const from = (await follower.log.catchUp()) + 1;
      expect(await log.start(started(1_000_001))).to.equal('durable');
      for (let last = 2; last <= 4; last++) await log.append([created(1_000_000 + last)]);
      const events = await shownOf(device, from, 1_000_004);
      const fed: number[] = [];
      expect(await follower.log.follow(events, ({ seq }) => fed.push(seq))).to.equal('followed');
      expect(fed).to.deep.equal([1, 2, 3, 4].map((n) => 1_000_000 + n));
      expect(follower.log.dropped.ranges).to.deep.equal([[1, 1_000_000]]);
      expect(plain(follower.log.read(1))).to.deep.equal(await agreed(device));
    });

    it('lets other work have a turn between two commits', async () => {
      const { leader, follower, from } = await pairOf(device);
      const events = await fiveLarge(device, leader, from);
      let turns = 0;
      const turnsBefore: number[] = [];
      commitsOf(follower, () => {
        turnsBefore.push(turns);
        setImmediate(() => (turns += 1));
      });
      expect(await follower.log.follow(events)).to.equal('followed');
      expect(turnsBefore).to.deep.equal([0, 1, 2]);
    });

    it('knows where the log ends while it takes what was shown', async () => {
      const { leader, follower, from } = await pairOf(device);
      const large = 'x'.repeat(1_100_000);
      for (let last = 4; last <= 6; last++) await leader.log.append([created(last, large)]);
      const events = await shownOf(device, from, 6);
      const seen: unknown[] = [];
      await follower.log.follow(events, ({ seq }) => seen.push([seq, follower.log.endSeen]));
      expect(seen).to.deep.equal([
        [4, 6],
        [5, 6],
        [6, 6],
      ]);
      // The same events once more, late.
      await leader.log.append([created(7)]);
      await follower.log.catchUp();
      expect(await follower.log.follow(events)).to.equal('followed');
      expect(follower.log.endSeen).to.equal(7);
    });

    it('tells the state nothing of what the copy does not take', async () => {
      const { leader, follower, from } = await pairOf(device);
      const events = await fiveLarge(device, leader, from);
      const log = mirrorOf(follower);
      const append = log.append.bind(log);
      log.append = (records) => (records[0]?.seq === 6 ? 'failed' : append(records));
      const fed: number[] = [];
      const error = await refusal(follower.log.follow(events, ({ seq }) => fed.push(seq)));
      expect(error).to.be.instanceOf(LogError).with.property('code', 'LOG_IO');
      expect(fed).to.deep.equal([4, 5]);
      expect([follower.log.lastNumber, follower.log.head.last]).to.deep.equal([5, 5]);
    });
  });
}
