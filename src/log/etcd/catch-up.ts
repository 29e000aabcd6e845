// Owns the bringing of a mirror to where the log in etcd ends, and what forbids it: etcd was set
// back, has forgotten what the mirror lacks, or has agreed on something else.

import { LogCorrupt, LogError } from '../log.ts';
import type { Etcd } from './etcd.ts';
import { readGroups } from './group-pages.ts';
import type { Keys } from './keys.ts';
import type { Feed, Mirror } from './mirror.ts';
import { type Repeating, untilAnswered } from './repeating.ts';
import type { KnownHead, Snapshot } from './snapshot.ts';
import type { Tail } from './tail.ts';
import { frozenText } from './trim-mark.ts';

export interface CatchingUp {
  readonly etcd: Pick<Etcd, 'range' | 'txn'>;
  readonly keys: Keys;
  readonly tail: Tail;
  readonly mirror: Mirror;
}

/**
 * @returns the revision of etcd at which the mirror has everything; then head is known
 * @throws EtcdError; LogError LOG_SET_BACK, LOG_BEHIND, LOG_STORE, LOG_IO; LogCorrupt
 */
export async function catchUp(
  { etcd, keys, tail, mirror }: CatchingUp,
  repeating: Repeating,
  feed: Feed,
): Promise<number> {
  let vanishedAt = -1;
  for (;;) {
    const snapshot = await tail.look(repeating);
    tail.endSeen = snapshot.known?.head.last;
    const known = await believed(snapshot, tail, mirror);
    const { end } = mirror;
    if (end.last === known.head.last) {
      tail.adopt(known);
      return snapshot.revision;
    }
    const read = () => readGroups(etcd, keys, end, snapshot.revision);
    const groups = await untilAnswered(read, repeating);
    if (groups === 'compacted') continue;
    if (groups === 'vanished') {
      // Groups are deleted after `trim` says so: a second look would have shown that.
      if (vanishedAt === end.last) throw noGroupAt(end.last + 1);
      vanishedAt = end.last;
      continue;
    }
    await mirror.take(groups, feed);
  }
}

/** @returns head, when the mirror can go on from what stands in etcd. */
async function believed(
  { known, trim, frozen }: Snapshot,
  tail: Tail,
  mirror: Mirror,
): Promise<KnownHead> {
  const { last, check } = mirror.end;
  if (frozen !== undefined) throw new LogError('LOG_SET_BACK', frozenText(frozen));
  if (known === undefined && last === 0) {
    throw new LogError(
      'LOG_STORE',
      'etcd has no log of this name; `leasehold cluster init` makes one',
    );
  }
  if (known === undefined || known.head.last < last) {
    throw new LogError('LOG_SET_BACK', await tail.freeze(known, last));
  }
  const isSame = known.head.last !== last || check === undefined || known.head.check === check;
  if (!isSame) throw new LogCorrupt(last, 'etcd has agreed on another record under this number');
  if (trim === undefined || trim.through <= last) return known;
  throw new LogError(
    'LOG_BEHIND',
    `the log of this data directory ends at record ${last}, and etcd holds only what comes after ` +
      `record ${trim.through}: copy another node's log with \`leasehold backup --node\``,
  );
}

const noGroupAt = (seq: number): LogCorrupt =>
  new LogCorrupt(seq, 'etcd has no group that begins with it, and yet goes on beyond');
