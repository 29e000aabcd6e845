// Owns the promise of the log in words and types. The log is the only authority: what it holds is
// what happened, what it does not hold did not. Three logs keep the promise (lmdb-log, in a cluster
// etcd/replicated-log, in tests memory-log) and one contract suite holds all of them to it. Nothing
// outside these files may assume LMDB or etcd.
//
// The promise:
//  - A record's key is its number: 1, 2, 3 … A group of records is one atomic commit: after any
//    crash all of it is there or nothing of it.
//  - `append` says 'durable' only after the group is flushed to the device; no reader sees a
//    record before that.
//  - One group is in flight at a time, and it is conditional, inside the log's own transaction, on
//    the expected next number. The first refusal ('fenced') ends the writer for good: another
//    writer has the log, and this one must stop.
//  - 'failed' means: not known to have happened. The caller drops its state, calls `reopen` and
//    believes what it then reads.
//  - Every record carries a checksum over its number and bytes; a damaged, undecodable or missing
//    record is named (LogCorrupt) and never passed over or repaired.
//  - A number may be absent only when it lies in the dropped set: history that was forgotten and
//    removed, or numbers skipped by a restored log.

import type { CoordinatorStarted, LogRecord } from '../model/records.ts';

export type AppendResult = 'durable' | 'fenced' | 'failed';
/** At once where the store commits within the call; else when it has. */
export type Appended = AppendResult | Promise<AppendResult>;

/** Numbers whose absence is declared, as sorted disjoint ranges, both ends inclusive. */
export interface DroppedSet {
  has(seq: number): boolean;
  /** @returns the last number of the range that holds this number, 0 when none does. */
  endOfRange(seq: number): number;
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

export interface LogBytes {
  /** Size of all segment files on the device. */
  readonly total: number;
}

/** A stretch of the log that takes no more records. */
export interface SealedSegment {
  readonly first: number;
  readonly last: number;
}

/** The reading half: what a reader beside the writer, or an offline tool, may do. */
export interface LogReader {
  /** Number of the newest durable record, 0 for an empty log. */
  readonly lastNumber: number;
  readonly dropped: DroppedSet;
  /** One record, checksum verified; undefined when the number is beyond the end or dropped.
   * @throws LogCorrupt naming the number. */
  get(seq: number): LogRecord | undefined;
  /**
   * How many numbers a restored log left free right before this record, which is its first start;
   * 0: none. Dropped numbers alone do not tell: history that was removed leaves such, too.
   * @throws LogCorrupt naming the number.
   */
  skippedBefore(seq: number): number;
  /** Records from..to (inclusive, default: the end as of the call) in ascending order.
   * @throws LogCorrupt at the first damaged record or undeclared hole. */
  read(from: number, to?: number): Iterable<LogRecord>;
  bytes(): LogBytes;
  close(): Promise<void>;
}

export interface Log extends LogReader {
  /** Appends the CoordinatorStarted that makes this writer the writer. `record.seq` is lastNumber
   * + 1, or lastNumber + 1 + skip on a restored log: the numbers between become dropped. */
  start(record: CoordinatorStarted): Promise<AppendResult>;
  /** Appends one group; records[0].seq is lastNumber + 1 and they ascend by 1. Non-empty. */
  append(records: readonly LogRecord[]): Appended;
  /**
   * Asks the store whether this writer still is the writer, for answers that rest on no new record.
   * Only a store that several machines write to has it; where the device has one writer, nobody
   * can have taken over. It asks again each time: what was known before the call does not count.
   * @returns 'durable': nobody else had started when the store was asked, which was after the call
   * began. 'fenced': another writer has the log, for good. 'failed': not known; nothing changes.
   */
  confirm?(): Promise<AppendResult>;
  /** The stretches that take no more records, in ascending order. */
  sealed(): readonly SealedSegment[];
  /**
   * Removes, for good, the records of a sealed stretch that `keep` does not want; their numbers
   * become dropped. Appending and reading go on meanwhile; a crash leaves the stretch as it was or
   * as it becomes, and repeating it is harmless.
   * @param signal gives it up, unless it is as good as done
   * @returns how many records were removed. @throws LogCorrupt, LogError; then nothing was.
   */
  rewrite(
    segment: SealedSegment,
    keep: (record: LogRecord) => boolean,
    signal?: AbortSignal,
  ): Promise<number>;
  /**
   * Makes one stretch of sealed neighbours that have become small, the first such; nothing that can
   * be read changes. As with `rewrite`, everything goes on meanwhile, and a crash is harmless.
   * @returns the stretch, undefined when there was nothing to do. @throws LogCorrupt, LogError.
   */
  merge(signal?: AbortSignal): Promise<SealedSegment | undefined>;
  /** After 'failed': closes, opens again read-write, and reports what is there (lastNumber). */
  reopen(): Promise<void>;
}

/** Where history goes before it is removed; without one it is gone then. */
export interface Archive {
  /**
   * All records up to the end of this stretch are kept, flushed, when it resolves. The stretches
   * must come in ascending order, before anything was removed from them; repeating one is harmless.
   * @throws LogError, LogCorrupt; then nothing may be removed.
   */
  keep(segment: SealedSegment, signal?: AbortSignal): Promise<void>;
}

/**
 * A record that cannot be believed. Whoever catches it refuses to start, changes nothing, and
 * names the record.
 */
export class LogCorrupt extends Error {
  override readonly name = 'LogCorrupt';
  readonly code = 'LOG_CORRUPT';
  readonly seq: number;
  readonly why: string;
  constructor(seq: number, why: string) {
    super(`record ${seq}: ${why}`);
    this.seq = seq;
    this.why = why;
  }
}

/** What somebody can do about it; never done by itself. */
export const wayOut = (seq: number, dataDir: string): string =>
  seq <= 1
    ? 'No record before it is sound: what is left is a backup.'
    : `The records before ${seq} are sound: \`leasehold backup --until ${seq - 1} NEWDIR ` +
      `--data-dir ${dataDir}\` copies them and says what it leaves behind.`;

/** Operating errors of a log: each has a code that the command line turns into words. */
export class LogError extends Error {
  override readonly name = 'LogError';
  readonly code: LogErrorCode;
  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
/** How the sentence begins that a directory holds no log. */
export const NO_LOG = 'there is no log';

export type LogErrorCode =
  | 'LOG_LOCKED'
  | 'LOG_DIRECTORY'
  | 'LOG_FORMAT_NEWER'
  | 'LOG_IO'
  | 'LOG_ARCHIVE'
  | 'LOG_FENCED'
  | 'LOG_STORE'
  | 'LOG_SET_BACK'
  | 'LOG_BEHIND';
