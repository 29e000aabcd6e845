// A node that follows: what the watch shows goes into its copy, and whatever the watch does not
// show is read.

import { expect } from 'chai';
import { type Copy, Follower } from '../../src/cluster/follower.ts';
import { type Etcd, EtcdError, type WatchEvent } from '../../src/log/etcd/etcd.ts';
import { LogCorrupt } from '../../src/log/log.ts';
import { DirectEtcd } from '../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../support/etcd/memory-etcd.ts';
import { ClusterTime, settled } from './cluster-time.ts';

const PREFIX = '/leasehold/orders/';
const POLL_MS = 600;
/** More than what was shown waits for what else may come. */
const GATHERED_MS = 20;

/** A copy whose records are the puts of `head`: it counts how it learnt of them. */
class CountingCopy implements Copy {
  lastNumber = 0;
  reads = 0;
  followed = 0;
  /** How often it was given what was shown. */
  times = 0;
  trouble: Error | undefined;
  isBlind = false;
  /** What it is given waits for this. */
  slow: Promise<unknown> = Promise.resolve();
  private readonly etcd: MemoryEtcd;

  constructor(etcd: MemoryEtcd) {
    this.etcd = etcd;
  }

  catchUp(): Promise<number> {
    if (this.trouble !== undefined) return Promise.reject(this.trouble);
    this.reads += 1;
    const { kvs, revision } = this.etcd.range(`${PREFIX}head`, undefined);
    this.lastNumber = Number(Buffer.from(kvs[0]?.value ?? '0').toString());
    return Promise.resolve(revision);
  }

  async follow(events: readonly WatchEvent[]): Promise<'followed' | 'behind'> {
    if (this.isBlind) return 'behind';
    this.times += 1;
    await this.slow;
    for (const event of events) {
      if (event.type !== 'put' || event.kv.key !== `${PREFIX}head`) continue;
      this.followed += 1;
      this.lastNumber = Number(Buffer.from(event.kv.value).toString());
    }
    return 'followed';
  }
}

function stage(wrap: (etcd: Etcd) => Etcd = (etcd) => etcd) {
  const etcd = new MemoryEtcd();
  const time = new ClusterTime(etcd);
  const copy = new CountingCopy(etcd);
  const troubles: (string | undefined)[] = [];
  const ending = new AbortController();
  const follower = new Follower({
    etcd: wrap(new DirectEtcd(etcd)),
    prefix: PREFIX,
    copy,
    time: time.ofNode(),
    pollMs: POLL_MS,
    told: (trouble) => troubles.push(trouble),
  });
  const over = follower.run(ending.signal);
  const writes = async (...records: number[]): Promise<void> => {
    for (const record of records) {
      etcd.txn([], [{ put: `${PREFIX}head`, value: Buffer.from(String(record)) }]);
      await settled();
    }
    await time.pass(GATHERED_MS);
  };
  return { etcd, time, copy, troubles, writes, over, stop: () => ending.abort() };
}

describe('a node that follows', () => {
  it('takes what the watch shows, without reading it', async () => {
    const { copy, writes, stop, over } = stage();
    await settled();
    for (let n = 1; n <= 20; n += 1) await writes(n);
    expect(copy).to.include({ lastNumber: 20, followed: 20, reads: 1 });
    stop();
    await over;
  });

  it('takes together what is written within a moment', async () => {
    const { copy, writes, stop, over } = stage();
    await settled();
    await writes(1, 2, 3);
    await writes(4, 5);
    expect(copy).to.include({ lastNumber: 5, followed: 5, times: 2, reads: 1 });
    stop();
    await over;
  });

  it('reads what the watch did not show', async () => {
    const { copy, writes, stop, over } = stage();
    await settled();
    copy.isBlind = true;
    await writes(1);
    expect(copy).to.include({ lastNumber: 1, followed: 0, reads: 2 });
    copy.isBlind = false;
    await writes(2);
    expect(copy).to.include({ lastNumber: 2, followed: 1, reads: 2 });
    stop();
    await over;
  });

  it('keeps no more than a bound of what it is shown, and reads instead', async () => {
    let open = 0;
    const { etcd, copy, writes, stop, over } = stage((direct) =>
      Object.assign(Object.create(direct) as Etcd, {
        watch: (...given: Parameters<Etcd['watch']>) => {
          const watch = direct.watch(...given);
          open += 1;
          return { close: () => void (watch.close(), (open -= 1)) };
        },
      }),
    );
    await settled();
    let goOn = (): void => {};
    copy.slow = new Promise<void>((resolve) => (goOn = resolve));
    await writes(1);
    const piece = Buffer.alloc(1024 * 1024);
    for (let n = 0; n < 65; n += 1) {
      if (n < 64) expect(open).to.equal(1);
      etcd.txn([], [{ put: `${PREFIX}c/${n}`, value: piece }]);
      await settled();
    }
    expect(open).to.equal(0);
    await writes(2);
    goOn();
    // It knows that it lacks something, so it reads that at once.
    await settled();
    expect(copy).to.include({ lastNumber: 2, followed: 1, reads: 2 });
    await writes(3);
    expect(copy).to.include({ lastNumber: 3, followed: 2, reads: 2 });
    stop();
    await over;
  });

  it('reads on when the watch is silent, and begins another one', async () => {
    let watches = 0;
    const { copy, writes, time, stop, over } = stage((etcd) =>
      Object.assign(Object.create(etcd) as Etcd, {
        watch: (...given: Parameters<Etcd['watch']>) => {
          watches += 1;
          return watches === 1 ? { close: () => {} } : etcd.watch(...given);
        },
      }),
    );
    await settled();
    await writes(1);
    expect(copy.lastNumber).to.equal(0);
    await time.pass(POLL_MS);
    expect(copy).to.include({ lastNumber: 1, followed: 0 });
    await writes(2);
    expect(copy).to.include({ lastNumber: 2, followed: 1 });
    stop();
    await over;
  });

  it('goes on when what it watches was compacted', async () => {
    const silent: { end?: (error: EtcdError) => void } = {};
    const { copy, writes, time, stop, over } = stage((etcd) =>
      Object.assign(Object.create(etcd) as Etcd, {
        watch: (prefix: string, from: number, listener: Parameters<Etcd['watch']>[2]) => {
          if (silent.end !== undefined) return etcd.watch(prefix, from, listener);
          silent.end = (error) => listener.ended(error);
          return { close: () => {} };
        },
      }),
    );
    await settled();
    silent.end?.(new EtcdError('compacted', 'mvcc: required revision has been compacted'));
    await writes(1);
    await time.pass(POLL_MS);
    await writes(2);
    expect(copy).to.include({ lastNumber: 2, followed: 1 });
    stop();
    await over;
  });

  it('tells what keeps it from following, and when that is over', async () => {
    const { copy, troubles, writes, time, stop, over } = stage();
    await settled();
    copy.trouble = new EtcdError('no_answer', 'nobody answers');
    copy.isBlind = true;
    await writes(1);
    expect(troubles.at(-1)).to.equal('nobody answers');
    copy.trouble = undefined;
    await time.pass(POLL_MS);
    expect(troubles.at(-1)).to.equal(undefined);
    expect(copy.lastNumber).to.equal(1);
    stop();
    await over;
  });

  it('ends with what the copy cannot go on from', async () => {
    const { copy, writes, over } = stage();
    await settled();
    copy.trouble = new LogCorrupt(7, 'damaged');
    copy.isBlind = true;
    const told = over.catch((error: Error) => error);
    await writes(1);
    expect(await told).to.equal(copy.trouble);
  });
});
