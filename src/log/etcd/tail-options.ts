// Owns what the end of the log in etcd is given, and the counts that it keeps for people.

import type { Etcd } from './etcd.ts';
import type { Keys } from './keys.ts';
import type { Time } from './repeating.ts';

export interface TailOptions {
  readonly etcd: Pick<Etcd, 'txn'>;
  readonly keys: Keys;
  /** Random, another one for each process that writes: not the name of a node. */
  readonly writer: string;
  /** The name of this node, for people. */
  readonly node: string;
  /** So long a call that is not answered is repeated. */
  readonly stallMs: number;
  readonly time: Time;
  /** Bytes of a group under one key. Default 1 MiB. */
  readonly pieceBytes?: number;
  /** Counts what became of groups that were not answered at once. */
  readonly resolved?: Resolved;
}

/** Since the process began. */
export class Resolved {
  /** The answer was lost, and the group was found to have been taken. */
  durable = 0;
  /** Sent again, because there was no answer. */
  resent = 0;
  /** Given up: not known to have happened. */
  unknown = 0;
}
