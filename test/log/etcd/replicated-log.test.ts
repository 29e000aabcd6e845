// Holds the log of several machines to the contract, over an etcd in memory and over real members.

import type { Etcd } from '../../../src/log/etcd/etcd.ts';
import { openEtcd } from '../../../src/log/etcd/grpc-etcd.ts';
import { DirectEtcd } from '../../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../../support/etcd/memory-etcd.ts';
import { withEtcd } from '../../support/etcd-cluster.ts';
import { confirmsItsWriter } from '../confirms.ts';
import { holdsTheContract } from '../contract.ts';
import { followsOthers } from './following-cases.ts';
import { ReplicatedDevice } from './replicated-device.ts';
import { settlesUncertainty } from './uncertain.ts';

const SIZES = [
  ['', 64 * 1024 * 1024],
  [', tiny segments', 1],
] as const;

function holds(name: string, etcd: () => Etcd): void {
  for (const [size, segmentBytes] of SIZES) {
    const make = () => ReplicatedDevice.make(etcd(), { segmentBytes });
    holdsTheContract(`${name}${size}`, segmentBytes === 1, make);
    confirmsItsWriter(`${name}${size}`, make);
  }
  settlesUncertainty(name, etcd);
  followsOthers(name, etcd);
}

holds('ReplicatedLog on an etcd in memory', () => new DirectEtcd(new MemoryEtcd()));

withEtcd('log/etcd/replicated-log, real members', {}, (cluster) => {
  let etcd: Etcd | undefined;
  const opened = (): Etcd => {
    etcd ??= openEtcd({ urls: cluster().urls, callMs: 5_000 });
    return etcd;
  };
  after(() => etcd?.close());
  holds('ReplicatedLog on etcd', opened);
});
