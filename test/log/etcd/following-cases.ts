// Owns the cases of a node that follows a log in etcd which others write, and of what must stop it:
// an etcd that was set back, that has forgotten too much, or that holds something else.

import { expect } from 'chai';
import type { Etcd, WatchEvent } from '../../../src/log/etcd/etcd.ts';
import { decodeHead, encodeHead } from '../../../src/log/etcd/head.ts';
import { prefixEnd } from '../../../src/log/etcd/keys.ts';
import { decodeFrozen, encodeFrozen, encodeTrimMark } from '../../../src/log/etcd/trim-mark.ts';
import { LogCorrupt, LogError } from '../../../src/log/log.ts';
import { created, group, started } from '../records.ts';
import { type DeviceOptions, NEW_HEAD, type Node, ReplicatedDevice } from './replicated-device.ts';
import { agreed, leading, plain, refusal } from './uncertain.ts';

/** Catches up. @returns what follows from there by a watch until it holds this record. */
async function following(last: number, { log }: Node, device: ReplicatedDevice) {
  const fed: number[] = [];
  const feed = ({ seq }: { readonly seq: number }): void => void fed.push(seq);
  const { etcd, keys } = device;
  const from = (await log.catchUp(feed)) + 1;
  const shown: WatchEvent[] = [];
  let wake = (): void => {};
  const watch = etcd.watch(keys.prefix, from, {
    events: (events) => {
      shown.push(...events);
      wake();
    },
    ended: (error) => expect.fail(error.message),
  });
  return async (): Promise<number[]> => {
    while (log.lastNumber < last) {
      const events = shown.splice(0);
      if (events.length > 0) expect(await log.follow(events, feed)).to.equal('followed');
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    watch.close();
    return fed;
  };
}

export function followsOthers(name: string, etcd: () => Etcd): void {
  describe(`a node that follows: ${name}`, () => {
    let device: ReplicatedDevice;
    const make = async (options: DeviceOptions = {}): Promise<void> => {
      device = await ReplicatedDevice.make(etcd(), options);
    };
    beforeEach(() => make());
    afterEach(() => device.remove());
    const put = (key: string, value: Uint8Array) => device.etcd.txn([], [{ put: key, value }]);
    const newestHead = async () => {
      const { kvs } = await device.etcd.range(device.keys.head, undefined);
      return decodeHead(kvs[0]?.value as Uint8Array);
    };

    it('reads what it lacks in pages, also groups in many pieces', async () => {
      await device.remove();
      await make({ pieceBytes: 300_000 });
      const leader = await leading(device);
      const large = 'x'.repeat(1_000_000);
      for (let last = 2; last <= 9; last++) await leader.log.append([created(last, large)]);
      for (let last = 10; last <= 250; last++) await leader.log.append([created(last)]);
      const follower = await device.node(undefined, true);
      expect(follower.log.lastNumber).to.equal(250);
      expect(plain(follower.log.read(1))).to.deep.equal(plain(leader.log.read(1)));
      // Bounded in bytes: more than one page for eight megabytes.
      expect(follower.link.reads).to.be.greaterThan(10);
    });

    it('knows where the log ends from its first look on, while it still copies', async () => {
      const leader = await leading(device, 3);
      const follower = await device.node();
      await leader.log.append([created(4)]);
      await leader.log.append([created(5)]);
      const seen: unknown[] = [];
      await follower.log.catchUp(({ seq }) => seen.push([seq, follower.log.endSeen]));
      expect(seen).to.deep.equal([
        [4, 5],
        [5, 5],
      ]);
    });

    it('sends no group while it stands back, and is told who leads then', async () => {
      const leader = await leading(device, 3);
      leader.log.standBack(60_000);
      const waiting = leader.log.append([created(4)]);
      const next = await device.node();
      expect(await next.log.start(started(4))).to.equal('durable');
      expect(await waiting).to.equal('fenced');
      expect(plain(next.log.read(1))).to.deep.equal(await agreed(device));
    });

    it('goes on when nobody has begun to lead while it stood back', async () => {
      const leader = await leading(device, 3);
      leader.log.standBack(1);
      expect(await leader.log.append([created(4)])).to.equal('durable');
    });

    it('takes from a watch what is written while it follows, and can lead at once', async () => {
      const leader = await leading(device, 3);
      const follower = await device.node();
      const followed = await following(12, follower, device);
      for (let last = 4; last <= 10; last++) await leader.log.append([created(last)]);
      await leader.log.append(group(11, 12));
      expect(await followed()).to.deep.equal([4, 5, 6, 7, 8, 9, 10, 11, 12]);
      const { reads } = follower.link;
      expect(await follower.log.start(started(13))).to.equal('durable');
      expect(follower.link.reads).to.equal(reads);
      expect(await leader.log.confirm()).to.equal('fenced');
      expect(plain(follower.log.read(1))).to.deep.equal(await agreed(device));
    });

    it('takes a group of many pieces from a watch, and a renewed head', async () => {
      await device.remove();
      await make({ pieceBytes: 50 });
      const leader = await leading(device);
      const follower = await device.node();
      const followed = await following(31, follower, device);
      await leader.log.append(group(2, 30));
      await leader.log.reopen();
      await leader.log.append([created(31)]);
      expect(await followed()).to.have.length(30);
      expect(plain(follower.log.read(1))).to.deep.equal(plain(leader.log.read(1)));
    });

    it('says that it is behind when the watch lacks something, and reads it', async () => {
      const leader = await leading(device);
      const follower = await device.node();
      await leader.log.append(group(2, 4));
      const { kvs } = await device.etcd.range(device.keys.head, undefined);
      const events = kvs.map((kv): WatchEvent => ({ type: 'put', kv }));
      expect(await follower.log.follow(events)).to.equal('behind');
      expect(follower.log.lastNumber).to.equal(1);
      await follower.log.catchUp();
      expect(follower.log.lastNumber).to.equal(4);
      // The same head comes once more, late.
      expect(await follower.log.follow(events)).to.equal('followed');
      expect(follower.log.lastNumber).to.equal(4);
    });

    it('reads on although the revision that it began with was compacted', async () => {
      const leader = await leading(device);
      for (let last = 2; last <= 150; last++) await leader.log.append([created(last)]);
      const follower = await device.node(undefined, true);
      expect(follower.log.lastNumber).to.equal(150);
      let reads = 0;
      follower.link.beforeRead = async () => {
        reads += 1;
        if (reads !== 2) return;
        await leader.log.append([created(151)]);
        const { revision } = await device.etcd.range(device.keys.head, undefined);
        await device.etcd.compact(revision);
      };
      const other = await device.node(undefined, true);
      expect(other.log.lastNumber).to.equal(150);
      await follower.log.catchUp();
    });

    it('goes on after a gap that the start of a restored log declares', async () => {
      await device.remove();
      await make({ head: { ...NEW_HEAD, gap: 1_000_000 } });
      const { log } = await device.node();
      expect(await refusal(log.start(started(1)))).to.be.instanceOf(Error);
      await log.reopen();
      expect(log.head.gap).to.equal(1_000_000);
      expect(await log.start(started(1_000_001))).to.equal('durable');
      expect(await log.append([created(1_000_002)])).to.equal('durable');
      expect(await newestHead()).not.to.have.property('gap');
      const follower = await device.node(undefined, true);
      expect(follower.log.dropped.ranges).to.deep.equal([[1, 1_000_000]]);
      expect(plain(follower.log.read(1))).to.deep.equal(plain(log.read(1)));
    });

    it('does not start where nobody has made a log', async () => {
      await device.remove();
      await make({ head: undefined });
      expect(await refusal(device.node()))
        .to.be.instanceOf(LogError)
        .with.property('code', 'LOG_STORE');
    });

    it('must copy a log when etcd has forgotten what it lacks', async () => {
      const leader = await leading(device);
      const old = leader.dataDir;
      await leader.log.append(group(2, 9));
      await leader.log.append([created(10)]);
      const { keys } = device;
      await put(keys.trim, encodeTrimMark({ through: 9, check: 0 }));
      const trimmed = [keys.group(1), keys.group(2)].map((key) => ({ remove: key }));
      await device.etcd.txn([], trimmed);
      const error = await refusal(device.node(undefined, true));
      expect(error).to.be.instanceOf(LogError).with.property('code', 'LOG_BEHIND');
      expect((error as Error).message)
        .to.contain('ends at record 0')
        .and.contain('record 9');
      // A mirror that reaches so far needs nothing of it.
      expect((await device.node(old)).log.lastNumber).to.equal(10);
    });

    it('names the record that etcd should have and has not', async () => {
      const leader = await leading(device);
      for (let last = 2; last <= 6; last++) await leader.log.append([created(last)]);
      const { keys } = device;
      await device.etcd.txn([], [{ remove: keys.group(4) }]);
      expect(await refusal(device.node(undefined, true)))
        .to.be.instanceOf(LogCorrupt)
        .with.property('seq', 4);
      await device.etcd.txn([], [{ remove: keys.groups, end: prefixEnd(keys.groups) }]);
      expect(await refusal(device.node(undefined, true)))
        .to.be.instanceOf(LogCorrupt)
        .with.property('seq', 1);
    });

    it('names a record whose pieces are missing or damaged', async () => {
      const leader = await leading(device);
      await leader.log.append(group(2, 4));
      const { chunks } = device.keys;
      const { kvs } = await device.etcd.range(chunks, prefixEnd(chunks));
      const [, second] = kvs;
      const value = Buffer.from(second?.value as Uint8Array);
      value[value.length - 1] = (value[value.length - 1] as number) ^ 1;
      await put(second?.key as string, value);
      expect(await refusal(device.node(undefined, true)))
        .to.be.instanceOf(LogCorrupt)
        .with.property('seq', 4);
      await device.etcd.txn([], [{ remove: second?.key as string }]);
      expect(await refusal(device.node(undefined, true)))
        .to.be.instanceOf(LogCorrupt)
        .with.property('seq', 2);
    });

    it('refuses a mirror that ends with another record under the same number', async () => {
      const other = await ReplicatedDevice.make(device.etcd);
      try {
        const stranger = await leading(other);
        await stranger.log.append([created(2, 'of another log')]);
        const leader = await leading(device, 2);
        // They end with different records under one number.
        expect(await refusal(device.node(stranger.dataDir)))
          .to.be.instanceOf(LogCorrupt)
          .with.property('seq', 2);
        await leader.log.append([created(3)]);
        expect(await refusal(device.node(stranger.dataDir)))
          .to.be.instanceOf(LogCorrupt)
          .with.property('seq', 2);
      } finally {
        await other.remove();
      }
    });

    for (const how of ['a node that starts', 'a leader that confirms', 'a leader that appends']) {
      it(`an etcd that was set back is frozen by ${how}`, async () => {
        const { keys } = device;
        const leader = await leading(device, 3);
        const before = await newestHead();
        await leader.log.append(group(4, 6));
        await put(keys.head, encodeHead(before));
        if (how === 'a node that starts') {
          const error = await refusal(device.node(leader.dataDir));
          expect(error).to.be.instanceOf(LogError).with.property('code', 'LOG_SET_BACK');
          expect((error as Error).message)
            .to.contain('holds record 6')
            .and.contain('at record 3');
        } else if (how === 'a leader that confirms') {
          expect(await leader.log.confirm()).to.equal('fenced');
          expect(leader.log.trouble).to.contain('etcd was set back');
        } else {
          expect(await leader.log.append([created(7)])).to.equal('fenced');
          expect(leader.log.trouble).to.contain('etcd was set back');
        }
        const { kvs } = await device.etcd.range(keys.frozen, undefined);
        const { last, head } = decodeFrozen(kvs[0]?.value as Uint8Array);
        expect([last, head]).to.deep.equal([6, 3]);
        // Also a node that itself knows of nothing more.
        expect(await refusal(device.node(undefined, true)))
          .to.be.instanceOf(LogError)
          .with.property('code', 'LOG_SET_BACK');
        expect(await newestHead()).to.deep.equal(before);
      });
    }

    it('nobody starts, appends or confirms once the log is frozen', async () => {
      const leader = await leading(device);
      const candidate = await device.node();
      await put(device.keys.frozen, encodeFrozen({ by: 'c', last: 9, head: 1 }));
      expect(await candidate.log.start(started(2))).to.equal('fenced');
      expect(candidate.log.trouble).to.contain('the node c holds record 9');
      expect(await leader.log.confirm()).to.equal('fenced');
      expect(await leader.log.append([created(2)])).to.equal('fenced');
      expect((await newestHead()).last).to.equal(1);
    });

    it('an etcd that lost the log altogether is frozen, too', async () => {
      const leader = await leading(device, 3);
      const { prefix, frozen } = device.keys;
      await device.etcd.txn([], [{ remove: prefix, end: prefixEnd(prefix) }]);
      expect(await leader.log.append([created(4)])).to.equal('fenced');
      expect((await device.etcd.range(frozen, undefined)).kvs).to.have.length(1);
    });
  });
}
