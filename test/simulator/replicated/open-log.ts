// Owns how a process of the cluster comes to its log: the product's own, over the etcd in memory
// and the mirror on its machine's disk.

import type { Time } from '../../../src/cluster/time.ts';
import { ReplicatedLog } from '../../../src/log/etcd/replicated-log.ts';
import type { Events } from '../events.ts';
import { NodeLog } from '../node.ts';
import type { Cluster } from './cluster.ts';
import { KEYS } from './layout.ts';
import type { Member } from './member.ts';

const STALL_MS = 2_000;

/** Its machine's clock, and timers that end with the process. */
export const timeOf = (events: Events, member: Member): Time => ({
  monotonic: () => member.machine.monotonic(),
  after: (ms, act) => {
    let isWanted = true;
    events.after(ms, () => {
      if (isWanted && member.phase !== 'over') act();
    });
    return () => {
      isWanted = false;
    };
  },
});

export function newLog(cluster: Cluster, member: Member): ReplicatedLog {
  const { events, settings } = cluster;
  const mirror = new NodeLog(member.machine.mirror, settings.segmentRecords, false);
  mirror.removalFails = () => cluster.dice.chance(cluster.troubles.removal);
  return new ReplicatedLog({
    etcd: member.network,
    keys: KEYS,
    writer: member.name,
    node: member.machine.name,
    stallMs: STALL_MS,
    pieceBytes: settings.pieceBytes,
    mirror,
    time: timeOf(events, member),
  });
}

/** Resolves when the mirror holds everything that etcd had when it was asked. */
export async function openLog(cluster: Cluster, member: Member): Promise<ReplicatedLog> {
  const log = newLog(cluster, member);
  await log.catchUp();
  return log;
}
