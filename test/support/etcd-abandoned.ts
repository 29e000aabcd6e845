// Owns a process that starts an etcd and waits to be killed: etcd-cluster.test.ts looks at what it
// leaves behind.

import { EtcdCluster } from './etcd-cluster.ts';

const { pids, directory } = await EtcdCluster.start({ members: 1 });
console.log(JSON.stringify({ pids, directory }));
setInterval(() => {}, 60_000);
