// Owns the way from the settings to a connection with etcd.

import type { EtcdOptions } from '../log/etcd/grpc-etcd.ts';
import type { EtcdSettings } from '../settings/cluster-settings.ts';

export const etcdOptions = ({ urls, callMs, ca, cert, key, user }: EtcdSettings): EtcdOptions => ({
  urls,
  callMs,
  ...(ca === undefined ? {} : { ca: Buffer.from(ca) }),
  ...(cert === undefined ? {} : { cert: Buffer.from(cert) }),
  ...(key === undefined ? {} : { key: Buffer.from(key) }),
  ...(user === undefined ? {} : { user }),
});
