// Owns the making of a cluster: its keys are put in one transaction, on the condition that there is
// no cluster of this name, or that the one of this name was halted because etcd had been set back.

import type { Etcd, Operation } from '../log/etcd/etcd.ts';
import type { End } from '../log/etcd/group.ts';
import { encodeHead } from '../log/etcd/head.ts';
import { type Keys, prefixEnd } from '../log/etcd/keys.ts';
import { look } from '../log/etcd/snapshot.ts';
import { encodeTrimMark, frozenText } from '../log/etcd/trim-mark.ts';
import { type Agreement, encodeAgreement } from './agreement.ts';
import { ClusterError } from './cluster-error.ts';

/** A log that the cluster goes on with. */
export interface Beginning {
  /** Its last record. */
  readonly end: End;
  /** Numbers that the first start leaves out: an old server may have used them. */
  readonly gap: number;
}

/**
 * @param from undefined: the log begins empty
 * @throws ClusterError CLUSTER_EXISTS; EtcdError, LogError
 */
export async function initCluster(
  etcd: Pick<Etcd, 'range' | 'txn'>,
  keys: Keys,
  agreement: Agreement,
  from?: Beginning,
): Promise<void> {
  const { frozen } = await look(etcd, keys);
  const [meta] = (await etcd.range(keys.meta, undefined)).kvs;
  if (meta !== undefined && (frozen === undefined || from === undefined)) {
    const why = frozen === undefined ? '' : `, and it is halted: ${frozenText(frozen)}`;
    throw new ClusterError('CLUSTER_EXISTS', `there is a cluster of this name already${why}`);
  }
  const conditions = [{ key: keys.meta, modRevision: meta?.modRevision ?? 0 }];
  const answer = await etcd.txn(conditions, [
    ...(meta === undefined ? [] : leftovers(keys)),
    ...beginning(keys, agreement, from),
  ]);
  if (!answer.passed) throw new ClusterError('CLUSTER_EXISTS', 'somebody else made it just now');
}

/** What a halted log left in etcd. */
const leftovers = (keys: Keys): Operation[] => [
  { remove: keys.groups, end: prefixEnd(keys.groups) },
  { remove: keys.chunks, end: prefixEnd(keys.chunks) },
  { remove: keys.frozen },
  { remove: keys.leader },
];

function beginning(keys: Keys, agreement: Agreement, from: Beginning | undefined): Operation[] {
  const { last, check } = from?.end ?? { last: 0, check: 0 };
  const gap = from === undefined || from.gap === 0 ? {} : { gap: from.gap };
  const head = { epoch: 0, last, check, writer: '', ...gap };
  return [
    { put: keys.meta, value: encodeAgreement(agreement) },
    { put: keys.head, value: encodeHead(head) },
    ...(last === 0 ? [] : [{ put: keys.trim, value: encodeTrimMark({ through: last, check }) }]),
  ];
}
