// Owns what can be asked of the log: a range of numbers and filters. Whether a record matches is
// decided here, for pages, tails and followers alike.

import { type LogRecord, type RecordType, taskOf } from '../model/records.ts';
import type { ChainEnds } from './task-records.ts';

export interface LogFilter {
  readonly taskId?: number | undefined;
  readonly queue?: string | undefined;
  readonly type?: RecordType | undefined;
}

export interface LogQuery extends LogFilter {
  /** Inclusive. */
  readonly from: number;
  /** Inclusive; undefined: the chain's `asOf`, else the newest durable record. */
  readonly to?: number | undefined;
  /** Records at most. */
  readonly limit: number;
  /** Only the last so many of the records that match and are not before `from`. */
  readonly tail?: number | undefined;
  /**
   * Follows the chain of the task in `taskId` instead of reading the whole log. It does not cover
   * records after `asOf`.
   */
  readonly chain?: TaskChain | undefined;
}

export interface TaskChain extends ChainEnds {
  /** The newest record when the ends were looked up. */
  readonly asOf: number;
}

/** @returns the queue of the task that a record is about, or undefined: of none, or forgotten. */
export type QueueOf = (record: LogRecord) => string | undefined;

export function matches(filter: LogFilter, record: LogRecord, queueOf: QueueOf): boolean {
  if (filter.type !== undefined && record.type !== filter.type) return false;
  if (filter.taskId !== undefined && taskOf(record) !== filter.taskId) return false;
  return filter.queue === undefined || queueOf(record) === filter.queue;
}

export const isFiltered = ({ taskId, queue, type }: LogFilter): boolean =>
  taskId !== undefined || queue !== undefined || type !== undefined;

/** What to ask for next: a tail is found once, and a chain tells of nothing after its end. */
export function goOn(query: LogQuery, next: number): LogQuery {
  const chain = query.chain !== undefined && next <= query.chain.asOf ? query.chain : undefined;
  return { ...query, from: next, tail: undefined, chain };
}
