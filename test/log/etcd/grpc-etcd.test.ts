// Holds the client of etcd to etcd.ts, with real members: what it says, what it believes of answers
// and of missing ones, and that a member which is gone costs one call.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type Etcd, EtcdError, type WatchEvent } from '../../../src/log/etcd/etcd.ts';
import { openEtcd } from '../../../src/log/etcd/grpc-etcd.ts';
import { withCertificates } from '../../support/certificates.ts';
import { type EtcdCluster, withEtcd } from '../../support/etcd-cluster.ts';
import { needEtcdctl } from '../../support/etcd-snapshot.ts';

const bytes = (text: string) => Buffer.from(text);
const text = (value: Uint8Array | undefined) => value && Buffer.from(value).toString();

async function refusal(act: Promise<unknown>): Promise<EtcdError> {
  const error = await act.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(EtcdError);
  return error as EtcdError;
}

/** Repeats a read until a member answers. */
async function untilAnswered(etcd: Etcd): Promise<void> {
  for (let calls = 1; ; calls++) {
    try {
      await etcd.range('/test/a', undefined);
      return;
    } catch (error) {
      expect((error as EtcdError).code).to.equal('no_answer');
      if (calls === 100) throw error;
    }
  }
}

/** What a watch shows, one event at a time. */
class Seen {
  readonly events: WatchEvent[] = [];
  error: EtcdError | undefined;
  private wake = (): void => {};

  watch(etcd: Etcd, prefix: string, from: number) {
    return etcd.watch(prefix, from, {
      events: (events) => {
        this.events.push(...events);
        this.wake();
      },
      ended: (error) => {
        this.error = error;
        this.wake();
      },
    });
  }

  async until(done: () => boolean): Promise<void> {
    while (!done()) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

withEtcd('log/etcd/grpc-etcd, one member', { members: 1 }, (cluster) => {
  let etcd: Etcd;
  let space = 0;
  const key = (name: string) => `/test/${space}/${name}`;
  beforeEach(() => {
    space += 1;
    etcd = openEtcd({ urls: cluster().urls, callMs: 5_000 });
  });
  afterEach(() => etcd.close());

  it('does one branch of a transaction or the other', async () => {
    const a = key('a');
    const created = await etcd.txn([{ key: a, modRevision: 0 }], [{ put: a, value: bytes('1') }]);
    expect(created.passed).to.equal(true);
    const again = await etcd.txn(
      [{ key: a, modRevision: 0 }],
      [{ put: a, value: bytes('2') }],
      [{ get: a }, { get: key('none') }],
    );
    expect(again.passed).to.equal(false);
    expect(again.found).to.have.length(2);
    const [kv] = again.found[0] ?? [];
    expect([kv?.key, text(kv?.value), kv?.modRevision]).to.deep.equal([a, '1', created.revision]);
    expect(again.found[1]).to.deep.equal([]);
  });

  it('compares values and revisions, and all conditions must hold', async () => {
    const a = key('a');
    const { revision } = await etcd.txn([], [{ put: a, value: bytes('1') }]);
    const tried = async (value: string, modRevision: number) =>
      (
        await etcd.txn(
          [
            { key: a, value: bytes(value) },
            { key: a, modRevision },
          ],
          [],
        )
      ).passed;
    expect(await tried('1', revision)).to.equal(true);
    expect(await tried('2', revision)).to.equal(false);
    expect(await tried('1', revision - 1)).to.equal(false);
  });

  it('removes a key or a range of keys', async () => {
    await etcd.txn(
      [],
      ['a', 'b', 'c', 'd'].map((name) => ({ put: key(name), value: bytes(name) })),
    );
    await etcd.txn([], [{ remove: key('a') }, { remove: key('b'), end: key('d') }]);
    const { kvs } = await etcd.range(key(''), key('z'));
    expect(kvs.map(({ value }) => text(value))).to.deep.equal(['d']);
  });

  it('reads a range in pages, and as of a revision', async () => {
    const put = (name: string, value: string) =>
      etcd.txn([], [{ put: key(name), value: bytes(value) }]);
    for (const name of ['a', 'b', 'c']) await put(name, 'old');
    const { revision } = await etcd.range(key('a'), undefined);
    await put('b', 'new');
    const page = await etcd.range(key(''), key('z'), { limit: 2, revision });
    expect(page.kvs.map((kv) => [kv.key, text(kv.value)])).to.deep.equal([
      [key('a'), 'old'],
      [key('b'), 'old'],
    ]);
    expect(page.more).to.equal(true);
    const rest = await etcd.range(key('c'), key('z'), { limit: 2, revision });
    expect([rest.kvs.length, rest.more]).to.deep.equal([1, false]);
    const now = await etcd.range(key('b'), undefined);
    expect([text(now.kvs[0]?.value), now.revision]).to.deep.equal(['new', revision + 1]);
  });

  it('carries values of a megabyte and bytes of every kind', async () => {
    const value = Buffer.alloc(1_100_000, 7);
    for (let i = 0; i < 256; i++) value[i] = i;
    await etcd.txn([], [{ put: key('large'), value }]);
    const { kvs } = await etcd.range(key('large'), undefined);
    expect(Buffer.compare(kvs[0]?.value as Buffer, value)).to.equal(0);
    const tooLarge = etcd.txn([], [{ put: key('large'), value: Buffer.alloc(2_000_000) }]);
    expect((await refusal(tooLarge)).code).to.equal('refused');
  });

  it('shows changes from a revision on, in order', async () => {
    const first = await etcd.txn([], [{ put: key('a'), value: bytes('1') }]);
    await etcd.txn([], [{ put: key('b'), value: bytes('2') }]);
    const seen = new Seen();
    const watch = seen.watch(etcd, key(''), first.revision);
    await seen.until(() => seen.events.length === 2);
    await etcd.txn([], [{ remove: key('a') }, { put: key('c'), value: bytes('3') }]);
    await seen.until(() => seen.events.length === 4);
    const told = seen.events.map((event) =>
      event.type === 'put'
        ? [event.kv.key, text(event.kv.value), event.kv.modRevision - first.revision]
        : [event.key, 'removed', event.modRevision - first.revision],
    );
    expect(told).to.deep.equal([
      [key('a'), '1', 0],
      [key('b'), '2', 1],
      [key('a'), 'removed', 2],
      [key('c'), '3', 2],
    ]);
    watch.close();
    await etcd.txn([], [{ put: key('d'), value: bytes('4') }]);
    expect(seen.error).to.equal(undefined);
    expect(seen.events).to.have.length(4);
  });

  it('says that a revision was compacted, to a watch and to a read', async () => {
    const { revision } = await etcd.txn([], [{ put: key('a'), value: bytes('1') }]);
    await etcd.txn([], [{ put: key('a'), value: bytes('2') }]);
    await etcd.compact(revision + 1);
    const read = etcd.range(key('a'), undefined, { revision });
    expect((await refusal(read)).code).to.equal('compacted');
    const seen = new Seen();
    seen.watch(etcd, key(''), revision);
    await seen.until(() => seen.error !== undefined);
    expect(seen.error?.code).to.equal('compacted');
    expect((await etcd.range(key('a'), undefined)).kvs).to.have.length(1);
  });

  it('grants, keeps and revokes a lease under an id of the largest size', async () => {
    const lease = Number.MAX_SAFE_INTEGER - space;
    expect(await etcd.grantLease(lease, 60)).to.be.at.least(60);
    await etcd.txn([], [{ put: key('leased'), value: bytes('x'), lease }]);
    expect(await etcd.keepLease(lease)).to.be.at.least(60);
    expect((await refusal(etcd.grantLease(lease, 60))).code).to.equal('refused');
    await etcd.revokeLease(lease);
    expect((await etcd.range(key('leased'), undefined)).kvs).to.deep.equal([]);
    expect(await etcd.keepLease(lease)).to.equal(0);
    expect((await refusal(etcd.revokeLease(lease))).code).to.equal('refused');
  });

  it('tells the state of the members and that no alarm stands', async () => {
    const [status, ...others] = await etcd.status();
    expect(others).to.deep.equal([]);
    expect(status?.version).to.match(/^3\./);
    expect(status?.member).to.equal(status?.leader).and.match(/^\d+$/);
    expect(status?.dbBytes)
      .to.be.at.least(status?.dbBytesInUse as number)
      .greaterThan(0);
    // The default of etcd.
    expect(status?.quotaBytes).to.equal(2 * 1024 ** 3);
    expect(await etcd.alarms()).to.deep.equal([]);
  });

  it('answers nothing any more when it is closed, and its watches are silent', async () => {
    const seen = new Seen();
    seen.watch(etcd, key(''), 1);
    etcd.close();
    expect((await refusal(etcd.range(key('a'), undefined))).code).to.equal('no_answer');
    expect(seen.error).to.equal(undefined);
  });
});

withEtcd('log/etcd/grpc-etcd, a member that is gone', {}, (cluster) => {
  const opened = (callMs: number) => openEtcd({ urls: cluster().urls, callMs });
  /** A client that asks the first member: on a busy machine it may have gone on to the next one. */
  async function openedAtFirst(callMs: number): Promise<Etcd> {
    const etcd = opened(callMs);
    if (await etcd.range('/test/a', undefined).catch(() => false)) return etcd;
    etcd.close();
    return openedAtFirst(callMs);
  }

  it('costs one call, also a watch ends and begins at another member', async () => {
    const etcd = await openedAtFirst(2_000);
    const { revision } = await etcd.range('/test/a', undefined);
    const seen = new Seen();
    seen.watch(etcd, '/test/', revision + 1);
    await etcd.txn([], [{ put: '/test/a', value: bytes('1') }]);
    await seen.until(() => seen.events.length === 1);
    await cluster().kill(0);
    await seen.until(() => seen.error !== undefined);
    expect(seen.error?.code).to.equal('no_answer');
    await untilAnswered(etcd);
    const again = new Seen();
    again.watch(etcd, '/test/', revision + 1);
    await again.until(() => again.events.length === 1 || again.error !== undefined);
    expect(again.events).to.have.length(1);
    etcd.close();
    await cluster().restart(0);
  });

  it('that is paused costs one call of the time that was set', async () => {
    const etcd = await openedAtFirst(1_000);
    await cluster().pause(0);
    const began = performance.now();
    expect((await refusal(etcd.range('/test/a', undefined))).code).to.equal('no_answer');
    expect(performance.now() - began).to.be.within(900, 30_000);
    await untilAnswered(etcd);
    cluster().resume(0);
    etcd.close();
  });

  it('and has taken the majority with it: nothing is answered, until it is back', async () => {
    const etcd = opened(1_000);
    await cluster().kill(0);
    await cluster().kill(1);
    const write = etcd.txn([], [{ put: '/test/a', value: bytes('2') }]);
    expect((await refusal(write)).code).to.equal('no_answer');
    for (let i = 0; i < 3; i++) {
      expect((await refusal(etcd.range('/test/a', undefined))).code).to.equal('no_answer');
    }
    await cluster().restart(0);
    await untilAnswered(etcd);
    await cluster().restart(1);
    etcd.close();
  });
});

withEtcd(
  'log/etcd/grpc-etcd, a full etcd',
  { members: 1, flags: ['--quota-backend-bytes', '2000000'] },
  (cluster) => {
    it('says so, and still reads and removes', async () => {
      const etcd = openEtcd({ urls: cluster().urls, callMs: 5_000 });
      const value = Buffer.alloc(500_000, 1);
      // etcd looks at its size a few times a second: what comes between passes.
      const fill = async (): Promise<void> => {
        for (let i = 0; i < 1_000; i++) await etcd.txn([], [{ put: `/test/${i}`, value }]);
      };
      expect((await refusal(fill())).code).to.equal('no_space');
      expect(await etcd.alarms()).to.deep.equal(['NOSPACE']);
      expect((await etcd.range('/test/0', undefined)).kvs).to.have.length(1);
      expect((await etcd.txn([], [{ remove: '/test/0' }])).passed).to.equal(true);
      etcd.close();
    });
  },
);

withEtcd('log/etcd/grpc-etcd, user and password', { members: 1 }, (cluster) => {
  const control = (...args: string[]) =>
    execFileSync('etcdctl', ['--endpoints', cluster().urls[0] as string, ...args], {
      env: { ...process.env, ETCDCTL_API: '3' },
      stdio: 'ignore',
    });
  before(function () {
    needEtcdctl(this);
    control('user', 'add', 'root:secret');
    control('user', 'grant-role', 'root', 'root');
    control('auth', 'enable');
  });
  const opened = (cluster: EtcdCluster, password: string) =>
    openEtcd({ urls: cluster.urls, callMs: 5_000, user: { name: 'root', password } });

  it('are sent, and a wrong one is refused', async () => {
    const etcd = opened(cluster(), 'secret');
    await etcd.txn([], [{ put: '/test/a', value: bytes('1') }]);
    expect((await etcd.range('/test/a', undefined)).kvs).to.have.length(1);
    etcd.close();
    const wrong = opened(cluster(), 'wrong');
    expect((await refusal(wrong.range('/test/a', undefined))).code).to.equal('denied');
    wrong.close();
    const none = openEtcd({ urls: cluster().urls, callMs: 5_000 });
    expect((await refusal(none.range('/test/a', undefined))).code).to.equal('denied');
    none.close();
  });

  it('are sent again when etcd does not know the token any more', async () => {
    const etcd = opened(cluster(), 'secret');
    await etcd.range('/test/a', undefined);
    // A member keeps its tokens in memory only.
    await cluster().restart(0);
    await untilAnswered(etcd);
    etcd.close();
  });
});

describe('log/etcd/grpc-etcd over TLS', () => {
  const files = withCertificates();

  withEtcd(
    'log/etcd/grpc-etcd, certificates',
    () => ({ members: 1, tls: files() }),
    (cluster) => {
      const read = (name: 'ca' | 'cert' | 'key') => fs.readFileSync(files()[name]);
      const opened = (given: object) => openEtcd({ urls: cluster().urls, callMs: 5_000, ...given });

      it('are shown and checked', async () => {
        const etcd = opened({ ca: read('ca'), cert: read('cert'), key: read('key') });
        await etcd.txn([], [{ put: '/test/a', value: bytes('1') }]);
        expect((await etcd.range('/test/a', undefined)).kvs).to.have.length(1);
        etcd.close();
        const stranger = opened({});
        expect((await refusal(stranger.range('/test/a', undefined))).code).to.equal('denied');
        stranger.close();
      });
    },
  );
});

describe('log/etcd/grpc-etcd', () => {
  it('is told apart from a URL that is none', () => {
    const open = () => openEtcd({ urls: ['ftp://127.0.0.1:1'], callMs: 1_000 });
    expect(open).to.throw('begins with http: or https:');
  });

  it('says that nobody answers where nobody listens', async () => {
    const etcd = openEtcd({ urls: ['http://127.0.0.1:1'], callMs: 5_000 });
    expect((await refusal(etcd.range('/test/a', undefined))).code).to.equal('no_answer');
    expect(await etcd.status()).to.deep.equal([]);
    etcd.close();
  });

  it('tries a member that is gone again and again, and soon enough', async () => {
    // What a dead member's machine does: it takes the connection and ends it.
    const tries: number[] = [];
    const server = net.createServer((socket) => {
      tries.push(performance.now());
      socket.destroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    const etcd = openEtcd({ urls: [`http://127.0.0.1:${port}`], callMs: 5_000 });
    while (tries.length < 14) {
      await refusal(etcd.range('/test/a', undefined));
      await pause(5);
    }
    etcd.close();
    server.close();
    const gaps = tries.slice(1).map((at, i) => at - (tries[i] ?? 0));
    const usual = (some: readonly number[]) =>
      some.toSorted((a, b) => a - b)[some.length >> 1] ?? 0;
    // Without a bound they would grow tenfold, and go on growing.
    expect(usual(gaps.slice(-5)) / usual(gaps.slice(0, 3))).to.be.lessThan(3.5);
  });
});
