// Owns one linearizable look at the end of the log in etcd: head, and the two keys that can forbid
// to go on from it, all at one revision.

import type { Condition, Etcd, KeyValue } from './etcd.ts';
import { decodeHead, type Head } from './head.ts';
import type { Keys } from './keys.ts';
import {
  decodeFrozen,
  decodeTrimMark,
  encodeFrozen,
  type Frozen,
  type TrimMark,
} from './trim-mark.ts';

/** Head as somebody wrote it. */
export interface KnownHead {
  readonly head: Head;
  /** The whole value: conditions compare it beside the revision, because an etcd that was restored
   * from a snapshot gives out the same revisions again. */
  readonly value: Uint8Array;
  /** Of the put of this value. */
  readonly revision: number;
}

export interface Snapshot {
  /** Undefined: nobody has made this log. */
  readonly known: KnownHead | undefined;
  readonly trim: TrimMark | undefined;
  readonly frozen: Frozen | undefined;
  /** Of etcd as a whole. */
  readonly revision: number;
}

export const knownHead = ({ value, modRevision }: KeyValue): KnownHead => ({
  head: decodeHead(value),
  value,
  revision: modRevision,
});

export const isSameHead = (a: KnownHead, b: KnownHead): boolean =>
  a.revision === b.revision && Buffer.compare(a.value, b.value) === 0;

/** The conditions that nobody has written head since. */
export const isStill = ({ head: key }: Keys, known: KnownHead | undefined): Condition[] =>
  known === undefined
    ? [{ key, modRevision: 0 }]
    : [
        { key, modRevision: known.revision },
        { key, value: known.value },
      ];

/** Forbids all starts, unless that is done or head has changed. @throws EtcdError */
export async function freeze(
  etcd: Pick<Etcd, 'txn'>,
  keys: Keys,
  found: KnownHead | undefined,
  frozen: Frozen,
): Promise<void> {
  const conditions = [...isStill(keys, found), { key: keys.frozen, modRevision: 0 }];
  await etcd.txn(conditions, [{ put: keys.frozen, value: encodeFrozen(frozen) }]);
}

/** @throws EtcdError, LogError LOG_STORE */
export async function look(etcd: Pick<Etcd, 'txn'>, keys: Keys): Promise<Snapshot> {
  const gets = [keys.head, keys.trim, keys.frozen].map((get) => ({ get }));
  const { found, revision } = await etcd.txn([], gets);
  const [head, trim, frozen] = found.map(([kv]) => kv);
  return {
    known: head && knownHead(head),
    trim: trim && decodeTrimMark(trim.value),
    frozen: frozen && decodeFrozen(frozen.value),
    revision,
  };
}
