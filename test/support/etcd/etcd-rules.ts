// Owns the rules of etcd that leasehold relies on, as cases that are played over the etcd in memory
// and over the real one: a proof on the first is worth as much as the two are alike.

import { expect } from 'chai';
import { type Etcd, EtcdError, type WatchEvent } from '../../../src/log/etcd/etcd.ts';

/** An etcd for one case, with keys of its own. */
export interface Played {
  readonly etcd: Etcd;
  /** Keys begin with this; nobody else uses it. */
  readonly prefix: string;
  /** Lets as much time pass as a lease of two seconds needs to run out. */
  outlast(): Promise<void>;
  end(): Promise<void>;
}

const bytes = (text: string): Uint8Array => Buffer.from(text);
const textOf = (value: Uint8Array): string => Buffer.from(value).toString();

export function etcdRules(name: string, play: () => Promise<Played>): void {
  describe(`the rules of etcd: ${name}`, () => {
    let played: Played;
    let etcd: Etcd;
    beforeEach(async () => {
      played = await play();
      ({ etcd } = played);
    });
    afterEach(() => played.end());

    const at = (key: string): string => played.prefix + key;
    const put = async (key: string, value: string): Promise<number> =>
      (await etcd.txn([], [{ put: at(key), value: bytes(value) }])).revision;
    const all = async (revision?: number): Promise<string[]> => {
      const { kvs } = await etcd.range(at(''), at('~'), revision === undefined ? {} : { revision });
      return kvs.map(({ key, value }) => `${key.slice(played.prefix.length)}=${textOf(value)}`);
    };
    const codeOf = async (call: Promise<unknown>): Promise<string> => {
      const error = await call.then(
        () => 'no error',
        (thrown: unknown) => thrown,
      );
      return error instanceof EtcdError ? error.code : String(error);
    };
    type Condition = { readonly modRevision: number } | { readonly value: Uint8Array };
    const passes = async (condition: Condition): Promise<boolean> =>
      (await etcd.txn([{ key: at('a'), ...condition }], [])).passed;

    it('a key that is absent has revision 0 and no value, not even an empty one', async () => {
      expect(await passes({ modRevision: 0 })).to.equal(true);
      expect(await passes({ value: bytes('') })).to.equal(false);
      const revision = await put('a', '');
      expect(await passes({ modRevision: 0 })).to.equal(false);
      expect(await passes({ modRevision: revision })).to.equal(true);
      expect(await passes({ value: bytes('') })).to.equal(true);
      await etcd.txn([], [{ remove: at('a') }]);
      expect(await passes({ modRevision: 0 })).to.equal(true);
    });

    it('all conditions must hold, else the other branch is carried out', async () => {
      const revision = await put('a', '1');
      const conditions = [
        { key: at('a'), modRevision: revision },
        { key: at('b'), modRevision: 7 },
      ];
      const then = [{ put: at('c'), value: bytes('then') }];
      const answer = await etcd.txn(conditions, then, [{ get: at('a') }, { get: at('nothing') }]);
      expect(answer.passed).to.equal(false);
      expect(answer.found.map((kvs) => kvs.map(({ value }) => textOf(value)))).to.deep.equal([
        ['1'],
        [],
      ]);
      expect(await all()).to.deep.equal(['a=1']);
    });

    it('a transaction is one revision, and none when it changes nothing', async () => {
      const before = await put('a', '1');
      const twice = await etcd.txn(
        [],
        [
          { put: at('b'), value: bytes('2') },
          { put: at('c'), value: bytes('3') },
        ],
      );
      expect(twice.revision).to.equal(before + 1);
      const { kvs } = await etcd.range(at('b'), at('d'));
      expect(kvs.map(({ modRevision }) => modRevision)).to.deep.equal([before + 1, before + 1]);
      expect((await etcd.txn([], [{ get: at('a') }])).revision).to.equal(before + 1);
      expect((await etcd.txn([], [{ remove: at('nothing') }])).revision).to.equal(before + 1);
      expect((await etcd.txn([], [])).revision).to.equal(before + 1);
      expect(await put('a', '1')).to.equal(before + 2);
    });

    it('a get sees what the operations before it in the transaction did', async () => {
      await put('a', '1');
      const answer = await etcd.txn(
        [],
        [{ get: at('a') }, { put: at('a'), value: bytes('2') }, { get: at('a') }],
      );
      const seen = answer.found.map(([kv]) => textOf(kv?.value ?? bytes('nothing')));
      expect(seen).to.deep.equal(['1', '2']);
      expect(answer.found[1]?.[0]?.modRevision).to.equal(answer.revision);
    });

    it('a key is put once in a transaction, and not put and removed', async () => {
      const one = { put: at('b'), value: bytes('1') };
      expect(await codeOf(etcd.txn([], [one, one]))).to.equal('refused');
      expect(await codeOf(etcd.txn([], [one, { remove: at('b') }]))).to.equal('refused');
      const range = { remove: at('a'), end: at('c') };
      expect(await codeOf(etcd.txn([], [range, one]))).to.equal('refused');
      expect(await codeOf(etcd.txn([], [{ remove: at('b') }, range]))).to.equal('no error');
      const beside = { remove: at('a'), end: at('b') };
      expect(await codeOf(etcd.txn([], [beside, one]))).to.equal('no error');
      expect(await all()).to.deep.equal(['b=1']);
    });

    it('a transaction has at most 128 operations', async () => {
      const gets = (count: number) => Array.from({ length: count }, () => ({ get: at('a') }));
      expect(await codeOf(etcd.txn([], gets(128)))).to.equal('no error');
      expect(await codeOf(etcd.txn([], gets(129)))).to.equal('refused');
      expect(await codeOf(etcd.txn([], [], gets(129)))).to.equal('refused');
    });

    it('a request has a bounded size', async () => {
      const value = new Uint8Array(1024 * 1024);
      expect(await codeOf(etcd.txn([], [{ put: at('a'), value }]))).to.equal('no error');
      const puts = ['a', 'b'].map((key) => ({ put: at(key), value }));
      expect(await codeOf(etcd.txn([], puts))).to.equal('refused');
    });

    it('a range is in the order of its keys, and says when there are more', async () => {
      for (const key of ['c', 'a', 'b']) await put(key, key);
      const { kvs, more } = await etcd.range(at(''), at('~'), { limit: 2 });
      expect(kvs.map(({ key }) => key)).to.deep.equal([at('a'), at('b')]);
      expect(more).to.equal(true);
      expect((await etcd.range(at('b'), at('~'), { limit: 2 })).more).to.equal(false);
      expect((await etcd.range(at('a'), undefined)).kvs).to.have.length(1);
      expect((await etcd.range(at('a'), at('b'))).kvs).to.have.length(1);
    });

    it('a range at a revision shows what was then, and answers with the newest one', async () => {
      const first = await put('a', '1');
      await put('a', '2');
      const last = (await etcd.txn([], [{ remove: at('a') }])).revision;
      expect(await all(first)).to.deep.equal(['a=1']);
      expect(await all(first + 1)).to.deep.equal(['a=2']);
      expect(await all(last)).to.deep.equal([]);
      const then = await etcd.range(at('a'), undefined, { revision: first });
      expect(then.revision).to.equal(last);
      const future = etcd.range(at('a'), undefined, { revision: last + 9 });
      expect(await codeOf(future)).to.equal('refused');
    });

    it('what was compacted cannot be read, and cannot be compacted again', async () => {
      const first = await put('a', '1');
      const second = await put('a', '2');
      await etcd.compact(second);
      expect(await all(second)).to.deep.equal(['a=2']);
      expect(await codeOf(all(first))).to.equal('compacted');
      expect(await codeOf(etcd.compact(first))).to.equal('compacted');
      expect(await codeOf(etcd.compact(second))).to.equal('compacted');
      expect(await codeOf(etcd.compact(second + 9))).to.equal('refused');
    });

    it('a watch from an old revision shows all changes since, then the new ones', async () => {
      await put('a', '1');
      const from = await put('a', '2');
      await etcd.txn([], [{ remove: at('a') }]);
      const seen: string[] = [];
      const done = new Promise<void>((resolve, reject) => {
        const watch = etcd.watch(played.prefix, from, {
          events: (events) => {
            for (const event of events) seen.push(words(event, played.prefix));
            if (!seen.includes('b=4')) return;
            watch.close();
            resolve();
          },
          ended: reject,
        });
      });
      await put('b', '3');
      await put('b', '4');
      await done;
      expect(seen).to.deep.equal(['a=2', 'a removed', 'b=3', 'b=4']);
    });

    it('a watch from before the compaction ends', async () => {
      const first = await put('a', '1');
      await put('a', '2');
      const last = await put('a', '3');
      await etcd.compact(last);
      const error = await new Promise<EtcdError>((resolve) => {
        etcd.watch(played.prefix, first, { events: () => {}, ended: resolve });
      });
      expect(error.code).to.equal('compacted');
    });

    it('a lease takes its keys with it when it runs out, in one revision', async () => {
      expect(await etcd.grantLease(leaseId(), 1)).to.be.at.least(1);
      const id = leaseId();
      await etcd.grantLease(id, 2);
      const puts = ['a', 'b'].map((key) => ({ put: at(key), value: bytes('1'), lease: id }));
      const { revision } = await etcd.txn([], puts);
      expect(await codeOf(etcd.grantLease(id, 2))).to.equal('refused');
      expect(await etcd.keepLease(id)).to.equal(2);
      await played.outlast();
      expect(await all()).to.deep.equal([]);
      expect(await all(revision)).to.deep.equal(['a=1', 'b=1']);
      expect(await etcd.keepLease(id)).to.equal(0);
      expect(await codeOf(etcd.txn([], puts))).to.equal('refused');
      expect(await all()).to.deep.equal([]);
    });

    it('a lease that is revoked takes its keys along; one put without it stays', async () => {
      const id = leaseId();
      await etcd.grantLease(id, 60);
      const bound = ['a', 'b'].map((key) => ({ put: at(key), value: bytes('1'), lease: id }));
      await etcd.txn([], bound);
      await put('b', '2');
      await etcd.revokeLease(id);
      expect(await all()).to.deep.equal(['b=2']);
      expect(await codeOf(etcd.revokeLease(id))).to.equal('refused');
    });
  });
}

let leases = 0;
const leaseId = (): number => {
  leases += 1;
  return process.pid * 1_000_000 + leases;
};

const words = (event: WatchEvent, prefix: string): string =>
  event.type === 'put'
    ? `${event.kv.key.slice(prefix.length)}=${textOf(event.kv.value)}`
    : `${event.key.slice(prefix.length)} removed`;
