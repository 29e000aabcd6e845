// Owns the log on this machine's disk as the mirror of the log in etcd: groups come into it in
// order, each after etcd has it, so that the mirror is always a beginning of the log in etcd.

import type { CoordinatorStarted, LogRecord } from '../../model/records.ts';
import { checksumOf, encodeRecord } from '../codec.ts';
import { type AppendResult, type Log, LogCorrupt, LogError } from '../log.ts';
import type { DecodedGroup } from './group.ts';
import type { MirrorEnd } from './group-pages.ts';

/** A log that one process writes to; it may say in words why it took nothing. */
export type MirrorLog = Log & { readonly trouble?: string | undefined };

/** Told of each record that the mirror has taken and flushed, in order. */
export type Feed = (record: LogRecord) => void;

export class Mirror {
  readonly log: MirrorLog;
  private newest: MirrorEnd | undefined;

  constructor(log: MirrorLog) {
    this.log = log;
  }

  /** @throws LogCorrupt when the last record is damaged. */
  get end(): MirrorEnd {
    const last = this.log.lastNumber;
    if (this.newest?.last !== last) {
      const record = this.log.get(last);
      const check = record === undefined ? undefined : checksumOf(encodeRecord(record));
      this.newest = { last, check: last === 0 ? 0 : check };
    }
    return this.newest;
  }

  /**
   * Appends a group that etcd has. One that leaves out numbers is a single CoordinatorStarted.
   * @throws LogCorrupt for any other group that leaves out numbers
   */
  async append(records: readonly LogRecord[]): Promise<AppendResult> {
    const first = records[0] as LogRecord;
    if (first.seq === this.log.lastNumber + 1) return this.log.append(records);
    if (records.length === 1 && first.type === 'CoordinatorStarted') return this.log.start(first);
    throw new LogCorrupt(first.seq, 'numbers are left out before it, and it is not a start');
  }

  /** The start of this process as the writer. */
  start(record: CoordinatorStarted): Promise<AppendResult> {
    return this.log.start(record);
  }

  /**
   * Groups in their order, small ones together: a flush costs more than a record.
   * @throws LogError when the mirror does not take one; LogCorrupt
   */
  async take(groups: readonly DecodedGroup[], feed: Feed): Promise<void> {
    for (const records of joined(groups)) {
      await this.mustAppend(records);
      for (const record of records) feed(record);
    }
  }

  private async mustAppend(records: readonly LogRecord[]): Promise<void> {
    const result = await this.append(records);
    if (result === 'fenced') {
      throw new LogError('LOG_FENCED', 'another process writes to the log of this data directory');
    }
    if (result === 'durable') return;
    const why = this.log.trouble ?? 'nobody knows why';
    throw new LogError('LOG_IO', `the log of this data directory takes no records: ${why}`);
  }
}

/** A group that leaves out numbers comes into the mirror by itself. */
function joined(groups: readonly DecodedGroup[]): LogRecord[][] {
  const runs: LogRecord[][] = [];
  let isAlone = true;
  for (const { manifest, records } of groups) {
    const newest = runs.at(-1);
    const isGap = manifest.gap !== undefined;
    if (newest === undefined || isAlone || isGap) runs.push([...records]);
    else newest.push(...records);
    isAlone = isGap;
  }
  return runs;
}
