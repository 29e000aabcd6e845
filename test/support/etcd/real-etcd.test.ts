// The rules of etcd over a real member: what the etcd in memory is believed to keep.

import { openEtcd } from '../../../src/log/etcd/grpc-etcd.ts';
import { withEtcd } from '../etcd-cluster.ts';
import { etcdRules } from './etcd-rules.ts';

let cases = 0;

withEtcd('etcd, one member', { members: 1 }, (cluster) => {
  etcdRules('over a real member', async () => {
    const etcd = openEtcd({ urls: cluster().urls, callMs: 20_000 });
    cases += 1;
    const prefix = `/rules/${cases}/`;
    return {
      etcd,
      prefix,
      // Whatever the machine is busy with: it ends when etcd says that the keys are gone.
      outlast: async () => {
        for (let left = 1; left > 0; ) left = (await etcd.range(prefix, `${prefix}~`)).kvs.length;
      },
      end: async () => etcd.close(),
    };
  });
});
