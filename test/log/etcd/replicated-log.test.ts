// Holds the log of several machines to the contract, over an etcd in memory and over real members.

import type { Etcd } from '../../../src/log/etcd/etcd.ts';
import { openEtcd } from '../../../src/log/etcd/grpc-etcd.ts';
import { DirectEtcd } from '../../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../../support/etcd/memory-etcd.ts';
import { withEtcd } from '../../support/etcd-cluster.ts';
import { inTurn } from '../../support/tier.ts';
import { confirmsItsWriter } from '../confirms.ts';
import { holdsTheContract } from '../contract.ts';
import { followsOthers } from './following-cases.ts';
import { takesTogether } from './gathering-cases.ts';
import { ReplicatedDevice } from './replicated-device.ts';
import { settlesUncertainty } from './uncertain.ts';

const SIZES = [
  ['', 64 * 1024 * 1024],
  [', tiny segments', 1],
] as const;

const SUITES: readonly ((name: string, etcd: () => Etcd) => void)[] = [
  ...SIZES.map(([size, segmentBytes]) => (name: string, etcd: () => Etcd): void => {
    const make = () => ReplicatedDevice.make(etcd(), { segmentBytes });
    holdsTheContract(`${name}${size}`, segmentBytes === 1, make);
    confirmsItsWriter(`${name}${size}`, make);
  }),
  settlesUncertainty,
  followsOthers,
  takesTogether,
];

for (const holds of SUITES) {
  holds('ReplicatedLog on an etcd in memory', () => new DirectEtcd(new MemoryEtcd()));
}

withEtcd('log/etcd/replicated-log, real members', {}, (cluster) => {
  let etcd: Etcd | undefined;
  const opened = (): Etcd => {
    etcd ??= openEtcd({ urls: cluster().urls, callMs: 5_000 });
    return etcd;
  };
  after(() => etcd?.close());
  // What an etcd in memory shows, real members have to show too, but not each day.
  for (const holds of inTurn(SUITES, 2)) holds('ReplicatedLog on etcd', opened);
});
