// Owns one scene that chance would hardly play: etcd is restored from an old snapshot, a node that
// had followed no further starts there, and its start gets the very revision that the leader before
// knows as that of its own head.

import { encodeHead } from '../../../src/log/etcd/head.ts';
import { openReplicatedLog } from '../../../src/log/etcd/replicated-log.ts';
import { MemoryLog } from '../../../src/log/memory-log.ts';
import { MemoryStore } from '../../../src/log/memory-store.ts';
import { DirectEtcd } from '../../support/etcd/direct-etcd.ts';
import { MemoryEtcd } from '../../support/etcd/memory-etcd.ts';
import type { Run } from '../run.ts';
import { KEYS } from './layout.ts';

const AT = 1_700_000_000_000;
const time = { monotonic: () => 0, after: () => () => {} };

const start = (seq: number) =>
  ({ type: 'CoordinatorStarted', seq, at: AT, prev: 0, formatVersion: 1, startedAt: AT }) as const;
const task = (seq: number) =>
  ({
    type: 'TaskCreated',
    seq,
    at: AT,
    prev: 0,
    queue: 'q',
    payload: new Uint8Array([seq]),
    executionWindowMs: 1_000,
    retryPolicy: { maxRetries: 1, backoffMs: 0, backoffFactor: 1 },
  }) as const;

/** @param lost so many groups are acknowledged after the snapshot, and are not in it */
export async function playRestored(lost: number): Promise<Run> {
  const seen: string[] = [];
  const etcd = new MemoryEtcd();
  const value = encodeHead({ epoch: 0, last: 0, check: 0, writer: '' });
  etcd.txn([], [{ put: KEYS.head, value }]);
  const mirror = new MemoryStore();
  const open = (name: string, store = new MemoryStore()) =>
    openReplicatedLog({
      etcd: new DirectEtcd(etcd),
      keys: KEYS,
      writer: name,
      node: name,
      stallMs: 1_000,
      mirror: new MemoryLog({ store }),
      time,
    });
  const leader = await open('a', mirror);
  seen.push(`a starts: ${await leader.start(start(1))}`);
  seen.push(`a appends 2: ${await leader.append([task(2)])}`);
  const snapshot = etcd.snapshot();
  const behind = await open('b');
  for (let n = 0; n < lost; n += 1) seen.push(`a appends: ${await leader.append([task(3 + n)])}`);
  const known = etcd.range(KEYS.head, undefined).kvs[0]?.modRevision ?? 0;
  etcd.restore(snapshot);
  while (etcd.revision < known - 1) etcd.txn([], [{ put: 'elsewhere', value }]);
  seen.push(`b starts: ${await behind.start(start(3))}`);
  const revision = etcd.range(KEYS.head, undefined).kvs[0]?.modRevision;
  const answer = await leader.append([task(3 + lost)]);
  const confirmed = await leader.confirm();
  seen.push(`a appends: ${answer}`, `a confirms: ${confirmed}`);
  const isFrozen = etcd.range(KEYS.frozen, undefined).kvs.length > 0;
  const onFrozen = await behind.append([task(4)]);
  const reopened = await open('a again', mirror).catch((error: Error) => error);
  const isRefused = reopened instanceof Error;
  seen.push(`frozen: ${isFrozen}`, `b appends: ${onFrozen}`, `a opens again: ${isRefused}`);
  const wrongs = [
    [revision !== known, 'the revision was not issued again: nothing is shown'],
    [answer !== 'fenced', 'the leader before goes on where its records are gone'],
    [confirmed !== 'fenced', 'the leader before is confirmed'],
    // By one record it is as long again: then only the records themselves tell.
    [!isFrozen && lost > 1, 'nobody froze the log that was set back'],
    [onFrozen === 'durable' && isFrozen, 'records are appended to a frozen log'],
    [!isRefused, 'a node goes on from a log that is not the one in etcd'],
  ] as const;
  const [wrong] = wrongs.filter(([isWrong]) => isWrong).map(([, what]) => what);
  const transcript = (): string => seen.join('\n');
  const records = lost + 4;
  if (wrong === undefined) return { records, transcript };
  return { records, failure: { checker: 'restored', message: wrong }, transcript };
}
