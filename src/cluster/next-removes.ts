// Owns the deletion of groups that etcd may forget: some at a time, each with its pieces.

import type { Etcd, Operation } from '../log/etcd/etcd.ts';
import { decodeManifest, type Manifest } from '../log/etcd/group.ts';
import { type Keys, prefixEnd } from '../log/etcd/keys.ts';
import { isTrimmed } from '../log/etcd/trim.ts';

/** A group is two operations, and etcd takes 128 in a transaction. */
const GROUPS_AT_ONCE = 60;

/** @returns the deletion of some groups that end by this record, their pieces included. */
export async function nextRemoves(
  etcd: Pick<Etcd, 'range'>,
  keys: Keys,
  through: number,
): Promise<Operation[]> {
  const range = { limit: GROUPS_AT_ONCE };
  const { kvs } = await etcd.range(keys.groups, keys.group(through + 1), range);
  return kvs
    .map(({ key, value }): Manifest => decodeManifest(key, value))
    .filter((manifest) => isTrimmed(manifest, through))
    .flatMap(({ first }) => {
      const pieces = keys.chunksOf(first);
      return [{ remove: keys.group(first) }, { remove: pieces, end: prefixEnd(pieces) }];
    });
}
