// The etcd in memory: the rules that the real one keeps too, and what only a fake one can show on
// command, such as a full database, a lost majority and a snapshot put in its place.

import { expect } from 'chai';
import { EtcdError } from '../../../src/log/etcd/etcd.ts';
import { DirectEtcd } from './direct-etcd.ts';
import { etcdRules } from './etcd-rules.ts';
import { MemoryEtcd } from './memory-etcd.ts';

const value = Buffer.from('v');

etcdRules('in memory', async () => {
  const memory = new MemoryEtcd();
  const etcd = new DirectEtcd(memory);
  return {
    etcd,
    prefix: '/test/',
    outlast: async () => memory.advance(2_000),
    end: async () => etcd.close(),
  };
});

const codeOf = (act: () => unknown): string => {
  try {
    act();
    return 'no error';
  } catch (error) {
    return (error as EtcdError).code;
  }
};

describe('the etcd in memory', () => {
  it('takes no put and no lease once it is full, but reads and deletes', () => {
    const etcd = new MemoryEtcd({ quotaBytes: 3_000 });
    const fill = (): string => codeOf(() => etcd.txn([], [{ put: 'a', value: Buffer.alloc(500) }]));
    while (fill() === 'no error');
    expect(fill()).to.equal('no_space');
    expect(etcd.alarms()).to.deep.equal(['NOSPACE']);
    expect(codeOf(() => etcd.grantLease(1, 5))).to.equal('no_space');
    // A put in the branch that is not carried out is one, too.
    const put = { put: 'b', value };
    const unmet = [{ key: 'a', modRevision: 0 }];
    expect(codeOf(() => etcd.txn(unmet, [put], [{ get: 'a' }]))).to.equal('no_space');
    expect(etcd.range('a', undefined).kvs).to.have.length(1);
    etcd.txn([], [{ remove: 'a' }]);
    etcd.compact(etcd.revision);
    etcd.disarm();
    // What was compacted is room in use no more, but the files are as large as before.
    expect(fill()).to.equal('no_space');
    etcd.defragment();
    etcd.disarm();
    expect(fill()).to.equal('no error');
    expect(etcd.alarms()).to.deep.equal([]);
  });

  it('answers nothing without a majority, and leases live on when it is back', async () => {
    const etcd = new MemoryEtcd({ members: 3 });
    const client = new DirectEtcd(etcd);
    etcd.grantLease(1, 2);
    etcd.txn([], [{ put: 'a', value, lease: 1 }]);
    etcd.setMember(0, false);
    expect((await client.range('a', undefined)).kvs).to.have.length(1);
    etcd.setMember(1, false);
    const error = await client.range('a', undefined).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(EtcdError).with.property('code', 'no_answer');
    expect(etcd.status()).to.have.length(1);
    etcd.advance(60_000);
    etcd.setMember(0, true);
    etcd.advance(61_999);
    expect(etcd.range('a', undefined).kvs).to.have.length(1);
    etcd.advance(62_000);
    expect(etcd.range('a', undefined).kvs).to.deep.equal([]);
  });

  it('issues revisions a second time after an old snapshot was restored', () => {
    const etcd = new MemoryEtcd();
    etcd.txn([], [{ put: 'a', value: Buffer.from('old') }]);
    const snapshot = etcd.snapshot();
    const first = etcd.txn([], [{ put: 'a', value: Buffer.from('lost') }]).revision;
    etcd.restore(snapshot);
    expect(etcd.range('a', undefined).kvs[0]?.value.toString()).to.equal('old');
    const second = etcd.txn([], [{ put: 'a', value: Buffer.from('new') }]).revision;
    expect(second).to.equal(first);
    const byRevision = { key: 'a', modRevision: first };
    expect(etcd.txn([byRevision], []).passed).to.equal(true);
    const byValue = { key: 'a', value: Buffer.from('lost') };
    expect(etcd.txn([byRevision, byValue], []).passed).to.equal(false);
    etcd.restore(snapshot);
    expect(etcd.range('a', undefined).kvs[0]?.value.toString()).to.equal('old');
  });

  it('tells whose request each change was', () => {
    const etcd = new MemoryEtcd();
    const seen: string[] = [];
    etcd.onChange(({ events }, sender) => seen.push(`${sender}: ${events.length}`));
    etcd.by('n1', () => etcd.grantLease(1, 2));
    etcd.by('n1', () => etcd.txn([], [{ put: 'a', value, lease: 1 }]));
    etcd.by('n2', () => etcd.txn([], [{ get: 'a' }]));
    etcd.advance(2_000);
    expect(seen).to.deep.equal(['n1: 1', ': 1']);
  });
});
