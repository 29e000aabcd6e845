// Owns what an operator may ask of a running cluster: that another node leads, that a node belongs
// to it no more, and that room is made in a full etcd.

import type { Etcd } from '../log/etcd/etcd.ts';
import type { Keys } from '../log/etcd/keys.ts';
import { look } from '../log/etcd/snapshot.ts';
import { holdersOf, MIRRORS_MIN, mayForgetNode } from '../log/etcd/trim.ts';
import { type Beat, decodeBeat } from './beat.ts';
import { ClusterError } from './cluster-error.ts';
import { nextRemoves } from './next-removes.ts';
import { memberOf, readNodes, registrationsOf } from './reports.ts';

type Asked = Pick<Etcd, 'range' | 'txn'>;

const refused = (message: string): ClusterError => new ClusterError('CLUSTER_REFUSED', message);

/** @returns undefined: no node leads, or is about to. */
export async function readLeader(
  etcd: Pick<Etcd, 'range'>,
  keys: Keys,
): Promise<{ readonly beat: Beat; readonly revision: number } | undefined> {
  const [kv] = (await etcd.range(keys.leader, undefined)).kvs;
  return kv && { beat: decodeBeat(kv.value), revision: kv.modRevision };
}

/**
 * Takes the leader's key away: a node that follows takes over, and the one that led is fenced.
 * @returns who led. @throws ClusterError CLUSTER_REFUSED, EtcdError
 */
export async function askToStepDown(etcd: Asked, keys: Keys): Promise<Beat> {
  const leader = await readLeader(etcd, keys);
  if (leader === undefined) throw refused('no node leads now');
  const nodes = await readNodes(etcd, keys);
  const others = nodes.filter(({ node, report }) => report && node !== leader.beat.node);
  if (others.length === 0) throw refused(`only ${leader.beat.node} runs: no node could take over`);
  const condition = { key: keys.leader, modRevision: leader.revision };
  const { passed } = await etcd.txn([condition], [{ remove: keys.leader }]);
  return passed ? leader.beat : askToStepDown(etcd, keys);
}

/** @throws ClusterError CLUSTER_REFUSED, EtcdError */
export async function forgetNode(etcd: Asked, keys: Keys, name: string): Promise<void> {
  const [nodes, { trim }] = await Promise.all([readNodes(etcd, keys), look(etcd, keys)]);
  const found = nodes.find(({ node }) => node === name);
  if (found === undefined) throw refused(`the cluster has no node ${name}`);
  if (found.report !== undefined) throw refused(`${name} runs; stop it first`);
  const through = trim?.through ?? 0;
  const members = nodes.map((one) => memberOf(one));
  if (through > 0 && !mayForgetNode(members, name, through)) {
    throw refused(
      `etcd has deleted the records up to ${through}, and the machines whose nodes run and hold ` +
        `them are ${holdersOf(members, through)}; ${MIRRORS_MIN} must be left`,
    );
  }
  const conditions = [{ key: keys.node(name), modRevision: 0 }];
  const { passed } = await etcd.txn(conditions, [{ remove: `${registrationsOf(keys)}${name}` }]);
  if (!passed) throw refused(`${name} runs by now; stop it first`);
}

/**
 * Deletes what etcd may forget already. It needs no room: etcd refuses every transaction that puts
 * something once it is full.
 * @returns groups that were deleted. @throws EtcdError, LogError
 */
export async function freeRoom(
  etcd: Pick<Etcd, 'range' | 'txn' | 'compact'>,
  keys: Keys,
): Promise<number> {
  const { trim, revision } = await look(etcd, keys);
  let groups = 0;
  let newest = revision;
  for (;;) {
    const removes = await nextRemoves(etcd, keys, trim?.through ?? 0);
    if (removes.length === 0) break;
    newest = (await etcd.txn([], removes)).revision;
    groups += removes.length / 2;
  }
  await etcd.compact(newest).catch(() => {});
  return groups;
}
