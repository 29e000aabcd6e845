// Owns one scene whose moment is too short for chance: a leader gives a group up, opens its log
// again, and the group arrives between that and the next start.

import { encodeHead } from '../../../src/log/etcd/head.ts';
import { openReplicatedLog } from '../../../src/log/etcd/replicated-log.ts';
import { MemoryLog } from '../../../src/log/memory-log.ts';
import type { CoordinatorStarted } from '../../../src/model/records.ts';
import { DirectEtcd } from '../../support/etcd/direct-etcd.ts';
import { MemoryEtcd, noAnswer } from '../../support/etcd/memory-etcd.ts';
import type { Run } from '../run.ts';
import { KEYS } from './layout.ts';

const AT = 1_700_000_000_000;
const start = (seq: number): CoordinatorStarted => {
  return { type: 'CoordinatorStarted', seq, at: AT, prev: 0, formatVersion: 1, startedAt: AT };
};

/** A client whose transactions can be held back: they are not answered, and come later. */
class HoldingEtcd extends DirectEtcd {
  isHolding = false;
  readonly held: (() => void)[] = [];
  private readonly memory: MemoryEtcd;

  constructor(memory: MemoryEtcd) {
    super(memory);
    this.memory = memory;
  }

  override txn(...asked: Parameters<DirectEtcd['txn']>): ReturnType<DirectEtcd['txn']> {
    if (!this.isHolding) return super.txn(...asked);
    this.held.push(() => this.memory.txn(...asked));
    return Promise.reject(noAnswer());
  }
}

/** @returns what is wrong when a group that was given up is not gone for good. */
export async function playLateGroup(): Promise<Run> {
  const memory = new MemoryEtcd();
  const value = encodeHead({ epoch: 0, last: 0, check: 0, writer: '' });
  memory.txn([], [{ put: KEYS.head, value }]);
  const etcd = new HoldingEtcd(memory);
  const log = await openReplicatedLog({
    etcd,
    keys: KEYS,
    writer: 'a',
    node: 'a',
    stallMs: 0,
    mirror: new MemoryLog(),
    time: { monotonic: () => 0, after: () => () => {} },
  });
  const started = await log.start(start(1));
  etcd.isHolding = true;
  const appended = await log.append([start(2)]);
  etcd.isHolding = false;
  await log.reopen();
  for (const arrive of etcd.held) arrive();
  const head = JSON.parse(String(memory.range(KEYS.head, undefined).kvs[0]?.value)) as {
    readonly last: number;
  };
  const confirmed = await log.confirm();
  const ends = `reopened at ${log.lastNumber}, head at ${head.last}`;
  const seen = `start ${started}, append ${appended}, ${ends}, confirmed ${confirmed}`;
  const transcript = (): string => seen;
  const isHeld = started === 'durable' && appended === 'failed' && etcd.held.length > 0;
  const isRight = isHeld && head.last === log.lastNumber && confirmed === 'durable';
  if (isRight) return { records: log.lastNumber, transcript };
  return { records: log.lastNumber, failure: { checker: 'barrier', message: seen }, transcript };
}
