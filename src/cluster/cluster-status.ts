// Owns what an operator is shown of a cluster: everything that etcd says of it, at one moment.

import type { Etcd } from '../log/etcd/etcd.ts';
import { decodeManifest } from '../log/etcd/group.ts';
import { type Keys, prefixEnd } from '../log/etcd/keys.ts';
import { look } from '../log/etcd/snapshot.ts';
import { holdersOf } from '../log/etcd/trim.ts';
import { frozenText } from '../log/etcd/trim-mark.ts';
import { decodeBeat } from './beat.ts';
import type { Hold } from './copy-holds.ts';
import { readAgreement } from './joining.ts';
import { memberOf, readStanding } from './reports.ts';

export interface ClusterStatus {
  readonly cluster: string;
  /** Undefined: no node leads. */
  readonly leader: string | undefined;
  readonly url: string | undefined;
  /** Number of the CoordinatorStarted of the newest leader. */
  readonly epoch: number;
  readonly last_sequence: number;
  /** Why nobody may lead, in words. */
  readonly halted: string | undefined;
  readonly nodes: readonly NodeStatus[];
  /** What etcd holds of the log. */
  readonly tail: {
    readonly groups: number;
    readonly bytes: number;
    /** Up to this record groups may be deleted. */
    readonly trimmed: number;
    /** Machines with a running node that holds all of that. */
    readonly holders: number;
  };
  /** Copies of the log for which etcd keeps what they lack. */
  readonly holds: readonly Hold[];
  readonly members: readonly MemberStatus[];
  readonly alarms: readonly string[];
}

interface NodeStatus {
  readonly node: string;
  readonly url: string;
  readonly runs: boolean;
  /** Undefined for a node that does not run. */
  readonly mirrored: number | undefined;
  readonly lag: number | undefined;
  readonly version: string | undefined;
}

interface MemberStatus {
  readonly member: string;
  readonly version: string;
  readonly leads: boolean;
  readonly db_bytes: number;
  readonly db_bytes_in_use: number;
  /** How large the database may become; undefined: the member does not tell it. */
  readonly quota_bytes: number | undefined;
}

const PAGE = 1_000;

/** @throws ClusterError CLUSTER_UNKNOWN, EtcdError, LogError */
export async function clusterStatus(
  etcd: Pick<Etcd, 'range' | 'txn' | 'status' | 'alarms'>,
  keys: Keys,
  cluster: string,
): Promise<ClusterStatus> {
  await readAgreement(etcd, keys, cluster);
  const [{ known, trim, frozen }, { nodes, holds }, leader, servers, alarms, tail] =
    await Promise.all([
      look(etcd, keys),
      readStanding(etcd, keys),
      etcd.range(keys.leader, undefined),
      etcd.status(),
      etcd.alarms(),
      tailOf(etcd, keys),
    ]);
  const [kv] = leader.kvs;
  const beat = kv && decodeBeat(kv.value);
  const last = known?.head.last ?? 0;
  const trimmed = trim?.through ?? 0;
  const members = nodes.map((one) => memberOf(one));
  return {
    cluster,
    leader: beat?.node,
    url: beat?.url,
    epoch: known?.head.epoch ?? 0,
    last_sequence: last,
    halted: frozen && frozenText(frozen),
    nodes: nodes.map(({ node, report, registration }) => ({
      node,
      url: report?.url ?? registration?.url ?? '',
      runs: report !== undefined,
      mirrored: report?.mirrored,
      lag: report && Math.max(0, last - report.mirrored),
      version: report?.version,
    })),
    tail: { ...tail, trimmed, holders: holdersOf(members, trimmed) },
    holds,
    members: servers.map((one) => ({
      member: one.member,
      version: one.version,
      leads: one.leader === one.member,
      db_bytes: one.dbBytes,
      db_bytes_in_use: one.dbBytesInUse,
      quota_bytes: one.quotaBytes,
    })),
    alarms,
  };
}

async function tailOf(
  etcd: Pick<Etcd, 'range'>,
  keys: Keys,
): Promise<{ groups: number; bytes: number }> {
  let groups = 0;
  let bytes = 0;
  for (let from = keys.groups; ; ) {
    const { kvs, more } = await etcd.range(from, prefixEnd(keys.groups), { limit: PAGE });
    groups += kvs.length;
    for (const { key, value } of kvs) bytes += decodeManifest(key, value).bytes;
    const last = kvs.at(-1);
    if (!more || last === undefined) return { groups, bytes };
    from = `${last.key}\0`;
  }
}
