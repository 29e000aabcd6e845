// Owns how a process of the cluster opens its log: the product's own, over the etcd in memory and
// the mirror on its machine's disk.

import { openReplicatedLog, type ReplicatedLog } from '../../../src/log/etcd/replicated-log.ts';
import { NodeLog } from '../node.ts';
import type { Cluster } from './cluster.ts';
import { KEYS } from './layout.ts';
import type { Member } from './member.ts';

const STALL_MS = 2_000;

/** Resolves when the mirror holds everything that etcd had when it was asked. */
export function openLog(cluster: Cluster, member: Member): Promise<ReplicatedLog> {
  const { events, settings } = cluster;
  const mirror = new NodeLog(member.machine.mirror, settings.segmentRecords, false);
  mirror.removalFails = () => cluster.dice.chance(cluster.troubles.removal);
  return openReplicatedLog({
    etcd: member.network,
    keys: KEYS,
    writer: member.name,
    node: member.machine.name,
    stallMs: STALL_MS,
    pieceBytes: settings.pieceBytes,
    mirror,
    time: {
      monotonic: () => events.now,
      after: (ms, act) => {
        let isWanted = true;
        events.after(ms, () => {
          if (isWanted) act();
        });
        return () => {
          isWanted = false;
        };
      },
    },
  });
}
