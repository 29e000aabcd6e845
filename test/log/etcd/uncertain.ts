// Owns the cases of a log in etcd in which a writer cannot know at once what became of its request,
// or what it was: lost and late requests, lost answers, writers that came and went. Each case ends
// with what a node reads that has seen nothing but etcd.

import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Etcd } from '../../../src/log/etcd/etcd.ts';
import { prefixEnd } from '../../../src/log/etcd/keys.ts';
import { type Log, LogError } from '../../../src/log/log.ts';
import type { LogRecord } from '../../../src/model/records.ts';
import { created, group, started } from '../records.ts';
import { type DeviceOptions, type Node, ReplicatedDevice } from './replicated-device.ts';

export const plain = (records: Iterable<LogRecord>): unknown =>
  JSON.parse(JSON.stringify([...records]));

export const refusal = async (act: Promise<unknown>): Promise<unknown> =>
  act.then(
    () => undefined,
    (error: unknown) => error,
  );

/** What a node reads whose own disk is empty. */
export async function agreed(device: ReplicatedDevice): Promise<unknown> {
  const { log } = await device.node(undefined, true);
  return plain(log.read(1));
}

/** A node that has started, with the records 1..last. */
export async function leading(device: ReplicatedDevice, last = 1): Promise<Node> {
  const node = await device.node();
  expect(await node.log.start(started(1))).to.equal('durable');
  if (last > 1) expect(await node.log.append(group(2, last))).to.equal('durable');
  return node;
}

const told = async (result: ReturnType<Log['append']>) => result;

export function settlesUncertainty(name: string, etcd: () => Etcd): void {
  describe(`what a writer cannot know: ${name}`, () => {
    let device: ReplicatedDevice;
    const make = async (options: DeviceOptions = {}): Promise<ReplicatedDevice> => {
      device = await ReplicatedDevice.make(etcd(), options);
      return device;
    };
    beforeEach(() => make());
    afterEach(() => device.remove());

    it('a group whose answer was lost is found durable, and is there once', async () => {
      const { log, link } = await leading(device);
      link.faults.push('answer lost');
      expect(await log.append(group(2, 3))).to.equal('durable');
      expect(link.writes).to.equal(3);
      expect(await log.append([created(4)])).to.equal('durable');
      expect(log.trouble).to.equal(undefined);
      expect(await agreed(device)).to.deep.equal(plain([started(1), ...group(2, 4)]));
    });

    it('a group that was lost on the way is sent again', async () => {
      const { log, link } = await leading(device);
      link.faults.push('request lost', 'request lost', 'answer lost', 'answer lost');
      expect(await log.append(group(2, 3))).to.equal('durable');
      expect(await agreed(device)).to.deep.equal(plain([started(1), ...group(2, 3)]));
    });

    it('a request that etcd gets twice counts once', async () => {
      const { log, link } = await leading(device);
      for (let last = 2; last <= 6; last++) {
        link.faults.push('twice');
        expect(await log.append([created(last)])).to.equal('durable');
      }
      expect(await agreed(device)).to.deep.equal(plain([started(1), ...group(2, 6)]));
    });

    it('a group that is given up cannot arrive after the log was opened again', async () => {
      const { log, link } = await leading(device);
      link.faults.push('late');
      link.beforeRetry = () => {
        link.isDown = true;
      };
      expect(await log.append(group(2, 3, 'given up'))).to.equal('failed');
      expect(log.trouble).to.contain('lost on the way');
      link.isDown = false;
      await log.reopen();
      expect(log.lastNumber).to.equal(1);
      expect(await link.release()).to.deep.equal([false]);
      expect(await log.confirm()).to.equal('durable');
      expect(await log.start(started(2))).to.equal('durable');
      expect(await log.append([created(3)])).to.equal('durable');
      expect(await agreed(device)).to.deep.equal(plain([started(1), started(2), created(3)]));
    });

    it('a group that is given up and arrives before that is part of the log', async () => {
      const { log, link } = await leading(device);
      link.faults.push('late');
      link.beforeRetry = () => {
        link.isDown = true;
      };
      expect(await log.append(group(2, 3))).to.equal('failed');
      link.isDown = false;
      expect(await link.release()).to.deep.equal([true]);
      // Nothing is believed before the log was opened again.
      expect([await log.confirm(), await log.append([created(2)])]).to.deep.equal([
        'failed',
        'failed',
      ]);
      await log.reopen();
      expect(log.lastNumber).to.equal(3);
      expect(await log.start(started(4))).to.equal('durable');
      expect(await agreed(device)).to.deep.equal(plain([started(1), ...group(2, 3), started(4)]));
    });

    it('a barrier whose answer was lost is known to be our own', async () => {
      const { log, link } = await leading(device, 3);
      link.faults.push('answer lost', 'answer lost', 'request lost');
      await log.reopen();
      expect(await log.append([created(4)])).to.equal('durable');
      expect(await agreed(device)).to.deep.equal(plain([started(1), ...group(2, 4)]));
    });

    it('a start that is given up and arrives late deposes nobody twice', async () => {
      const leader = await leading(device, 3);
      const { log, link } = await device.node();
      link.faults.push('late');
      link.beforeRetry = () => {
        link.isDown = true;
      };
      expect(await log.start(started(4))).to.equal('failed');
      link.isDown = false;
      await log.reopen();
      expect(log.lastNumber).to.equal(3);
      // It has written nothing to etcd: the leader goes on.
      expect(await leader.log.confirm()).to.equal('durable');
      expect(await link.release()).to.deep.equal([true]);
      expect(await leader.log.confirm()).to.equal('fenced');
      expect(await log.confirm()).to.equal('failed');
      expect(await log.start({ ...started(4), at: 7 })).to.equal('failed');
      await log.reopen();
      expect(log.lastNumber).to.equal(4);
      expect(await log.start(started(5))).to.equal('durable');
      expect(await agreed(device)).to.deep.equal(
        plain([started(1), ...group(2, 3), started(4), started(5)]),
      );
    });

    it('a candidate that opens the log again takes nothing from the leader', async () => {
      const leader = await leading(device, 3);
      const { log } = await device.node();
      await log.reopen();
      expect(await leader.log.append([created(4)])).to.equal('durable');
      await log.reopen();
      expect(log.lastNumber).to.equal(4);
      expect(await log.confirm()).to.equal('durable');
      expect(await leader.log.append([created(5)])).to.equal('durable');
      expect(await log.confirm()).to.equal('fenced');
    });

    it('pieces that a dead writer left behind the end belong to nothing', async () => {
      await device.remove();
      await make({ pieceBytes: 100 });
      const dead = await leading(device);
      // All pieces but the last one arrive, then nothing any more.
      const many = group(2, 40, 'of the dead');
      dead.link.beforeRetry = () => {
        dead.link.isDown = true;
      };
      dead.link.faults.push(...Array(12).fill('none'), 'late');
      expect(await dead.log.append(many)).to.equal('failed');
      const { chunks } = device.keys;
      const left = await device.etcd.range(chunks, prefixEnd(chunks));
      expect(left.kvs.length).to.be.greaterThan(10);
      const { log } = await device.node();
      expect(await log.start(started(2))).to.equal('durable');
      expect(await log.append(group(3, 40, 'of the next'))).to.equal('durable');
      expect(await dead.link.release()).to.deep.equal([false]);
      const expected = plain([started(1), started(2), ...group(3, 40, 'of the next')]);
      expect(await agreed(device)).to.deep.equal(expected);
      dead.link.isDown = false;
      expect(await refusal(dead.log.reopen())).to.have.property('code', 'LOG_FENCED');
    });

    it('a writer that was deposed while it knew nothing learns that at its barrier', async () => {
      const { log, link } = await leading(device, 3);
      device.failNext(log);
      expect(await log.append(group(4, 5))).to.equal('failed');
      const next = await device.node();
      expect(await next.log.start(started(4))).to.equal('durable');
      const error = await refusal(log.reopen());
      expect(error).to.be.instanceOf(LogError).with.property('code', 'LOG_FENCED');
      expect((error as Error).message).to.contain('another node leads since record 4');
      expect(await told(log.append(group(4, 5)))).to.equal('fenced');
      expect(await log.confirm()).to.equal('fenced');
      expect(link.isDown).to.equal(false);
      expect(await next.log.append([created(5)])).to.equal('durable');
    });

    it('a confirmation asks anew, although one is under way', async () => {
      const { log, link } = await leading(device);
      let answer = (): void => {};
      const held = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const before = link.reads;
      link.beforeRead = () => held;
      const first = log.confirm();
      const second = log.confirm();
      // The first one was sent before the second was asked for: its answer proves nothing for it.
      expect(link.reads).to.equal(before + 1);
      link.beforeRead = undefined;
      answer();
      expect([await first, await second]).to.deep.equal(['durable', 'durable']);
      expect(link.reads).to.equal(before + 2);
    });

    it('a confirmation that began before another start does not hide it', async () => {
      const { log, link } = await leading(device);
      const next = await device.node();
      link.beforeRead = async () => {
        link.beforeRead = undefined;
        await next.log.start(started(2));
      };
      expect(await log.confirm()).to.equal('fenced');
    });

    it('an etcd that is away for a while costs time, and nothing else', async () => {
      const { log, link } = await leading(device);
      link.isDown = true;
      const append = told(log.append(group(2, 3)));
      const confirmed = log.confirm();
      await link.refused(5);
      link.isDown = false;
      expect([await append, await confirmed]).to.deep.equal(['durable', 'durable']);
    });

    it('nothing is begun again after the log was closed', async () => {
      const { log, link } = await leading(device);
      device.failNext(log);
      expect(await log.append(group(2, 3))).to.equal('failed');
      link.isDown = true;
      const reopening = refusal(log.reopen());
      await link.refused(2);
      await log.close();
      expect(await reopening)
        .to.be.instanceOf(LogError)
        .with.property('code', 'LOG_IO');
    });

    it('a mirror that takes nothing fails the append, and is brought up to date', async () => {
      const { log, dataDir } = await leading(device, 3);
      device.breakMirror(dataDir);
      expect(await log.append(group(4, 5))).to.equal('failed');
      expect(log.lastNumber).to.equal(3);
      await log.reopen();
      expect(log.lastNumber).to.equal(5);
      expect(await log.append([created(6)])).to.equal('durable');
      expect(plain(log.read(1))).to.deep.equal(await agreed(device));
      expect(fs.existsSync(path.join(dataDir, 'log'))).to.equal(true);
    });
  });
}
