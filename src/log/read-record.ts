// Owns how each record's own fields are read back (the frame around them is codec.ts). It must
// mirror write-record.ts line by line. Every record of a type is built with the same keys in the
// same order, absent fields as undefined, so that what follows stays fast on millions of them.

import type { ByteReader } from '../model/bytes.ts';
import {
  type CoordinatorStarted,
  FORMAT_VERSION,
  type HistoryForgotten,
  type LeaseExpired,
  type LeaseExtended,
  type LeaseGranted,
  type LogRecord,
  RECORD_TYPES,
  type RecordType,
  type RetryPolicy,
  type TaskCancelled,
  type TaskCompleted,
  type TaskCreated,
  type TaskDead,
  type TaskFailed,
} from '../model/records.ts';
import { LogError } from './log.ts';
import * as flag from './record-flags.ts';

type ReadFields<T extends LogRecord> = (
  input: ByteReader,
  seq: number,
  at: number,
  prev: number,
  flags: number,
) => T;
type FieldsOf = { [K in RecordType]: ReadFields<Extract<LogRecord, { type: K }>> };

/** @throws RangeError when the bytes are not a record's. */
export function readRecord(input: ByteReader, seq: number): LogRecord {
  const code = input.u8();
  const readFields = FIELDS_BY_CODE[code - 1];
  if (readFields === undefined) throw new RangeError(`unknown record type ${code}`);
  const flags = input.varint();
  const known = FLAGS_BY_CODE[code - 1] as number;
  if (flags > known || (flags & ~known) !== 0) {
    throw new RangeError(`unknown flags ${flags} of a ${RECORD_TYPES[code - 1]}`);
  }
  const at = input.varint();
  const distance = input.varint();
  return readFields(input, seq, at, distance === 0 ? 0 : earlier(seq, distance), flags);
}

const readCreated: ReadFields<TaskCreated> = (input, seq, at, prev, flags) => {
  const queue = input.string();
  const payload = input.bytesCopy();
  const executionWindowMs = input.varint();
  const maxRetries = input.varint();
  const backoffMs = input.varint();
  const requestId = flags & flag.REQUEST_ID ? input.string() : undefined;
  const contentHash = flags & flag.CONTENT_HASH ? input.bytesCopy() : undefined;
  const metadata = flags & flag.METADATA ? readMetadata(input) : undefined;
  const notBefore = flags & flag.NOT_BEFORE ? readTime(input, at) : undefined;
  const originTaskId = flags & flag.ORIGIN ? readEarlier(input, seq) : undefined;
  const backoffMaxMs = flags & flag.BACKOFF_MAX ? input.varint() : undefined;
  const backoffFactor = flags & flag.BACKOFF_FACTOR ? input.f64() : 1;
  const retryPolicy: RetryPolicy = { maxRetries, backoffMs, backoffFactor, backoffMaxMs };
  return {
    type: 'TaskCreated',
    seq,
    at,
    prev,
    queue,
    payload,
    executionWindowMs,
    retryPolicy,
    requestId,
    contentHash,
    metadata,
    notBefore,
    originTaskId,
  };
};

function readMetadata(input: ByteReader): Record<string, string> {
  const entries: [string, string][] = [];
  for (let left = input.varint(); left > 0; left--) entries.push([input.string(), input.string()]);
  return Object.fromEntries(entries);
}

const readGranted: ReadFields<LeaseGranted> = (input, seq, at, prev) => {
  const taskId = readEarlier(input, seq);
  const workerId = input.string();
  const attempt = input.varint();
  const leaseExpiry = readTime(input, at);
  const grantedAt = readTime(input, at);
  return { type: 'LeaseGranted', seq, at, prev, taskId, workerId, attempt, leaseExpiry, grantedAt };
};

const readExtended: ReadFields<LeaseExtended> = (input, seq, at, prev) => {
  const taskId = readEarlier(input, seq);
  const leaseId = readEarlier(input, seq);
  const newLeaseExpiry = readTime(input, at);
  return { type: 'LeaseExtended', seq, at, prev, taskId, leaseId, newLeaseExpiry };
};

const readExpired: ReadFields<LeaseExpired> = (input, seq, at, prev, flags) => {
  const taskId = readEarlier(input, seq);
  const leaseId = readEarlier(input, seq);
  const extensions = flags & flag.EXTENDED ? input.varint() : 0;
  const lastExtension = flags & flag.EXTENDED ? readEarlier(input, seq) : 0;
  return { type: 'LeaseExpired', seq, at, prev, taskId, leaseId, extensions, lastExtension };
};

const readCompleted: ReadFields<TaskCompleted> = (input, seq, at, prev, flags) => {
  const taskId = readEarlier(input, seq);
  const leaseId = readEarlier(input, seq);
  const extensions = flags & flag.EXTENDED ? input.varint() : 0;
  const lastExtension = flags & flag.EXTENDED ? readEarlier(input, seq) : 0;
  const result = flags & flag.RESULT ? input.bytesCopy() : undefined;
  return {
    type: 'TaskCompleted',
    seq,
    at,
    prev,
    taskId,
    leaseId,
    extensions,
    lastExtension,
    result,
  };
};

const readFailed: ReadFields<TaskFailed> = (input, seq, at, prev, flags) => {
  const taskId = readEarlier(input, seq);
  const leaseId = readEarlier(input, seq);
  const extensions = flags & flag.EXTENDED ? input.varint() : 0;
  const lastExtension = flags & flag.EXTENDED ? readEarlier(input, seq) : 0;
  const failureReason = input.string();
  const kind = pick(flag.KINDS, input.u8());
  const retryAt = flags & flag.RETRY_AT ? readTime(input, at) : undefined;
  return {
    type: 'TaskFailed',
    seq,
    at,
    prev,
    taskId,
    leaseId,
    extensions,
    lastExtension,
    failureReason,
    kind,
    retryAt,
  };
};

const readCancelled: ReadFields<TaskCancelled> = (input, seq, at, prev) => {
  const taskId = readEarlier(input, seq);
  const leaseId = readEarlier(input, seq);
  const report = pick(flag.REPORTS, input.u8());
  return { type: 'TaskCancelled', seq, at, prev, taskId, leaseId, report };
};

const readDead: ReadFields<TaskDead> = (input, seq, at, prev, flags) => {
  const taskId = readEarlier(input, seq);
  const extensions = flags & flag.EXTENDED ? input.varint() : 0;
  const lastExtension = flags & flag.EXTENDED ? readEarlier(input, seq) : 0;
  const reason = input.string();
  return { type: 'TaskDead', seq, at, prev, taskId, extensions, lastExtension, reason };
};

const readStarted: ReadFields<CoordinatorStarted> = (input, seq, at, prev) => {
  const formatVersion = input.varint();
  if (formatVersion > FORMAT_VERSION) throw newer(seq, formatVersion);
  const startedAt = readTime(input, at);
  return { type: 'CoordinatorStarted', seq, at, prev, formatVersion, startedAt };
};

const readForgotten: ReadFields<HistoryForgotten> = (input, seq, at, prev) => {
  const completedThrough = input.varint();
  const failedThrough = input.varint();
  const leaseExpirations = input.varint();
  const duplicateExecutions = input.varint();
  const lateReports = input.varint();
  const retries = input.varint();
  const starts = input.varint();
  const totals = { leaseExpirations, duplicateExecutions, lateReports, retries, starts };
  return { type: 'HistoryForgotten', seq, at, prev, completedThrough, failedThrough, totals };
};

const newer = (seq: number, version: number): LogError =>
  new LogError(
    'LOG_FORMAT_NEWER',
    `record ${seq} begins format version ${version} of the log; this program reads up to version ` +
      `${FORMAT_VERSION}: use the newer program that wrote it`,
  );

const readEarlier = (input: ByteReader, seq: number): number => earlier(seq, input.varint());

function earlier(seq: number, distance: number): number {
  if (distance === 0 || distance >= seq) throw new RangeError(`no record ${distance} back`);
  return seq - distance;
}

function readTime(input: ByteReader, at: number): number {
  const zigzag = input.varint();
  return zigzag % 2 === 0 ? at + zigzag / 2 : at - (zigzag + 1) / 2;
}

function pick<T>(choices: readonly T[], index: number): T {
  const choice = choices[index];
  if (choice === undefined) throw new RangeError(`no choice ${index}`);
  return choice;
}

const FIELDS: FieldsOf = {
  TaskCreated: readCreated,
  LeaseGranted: readGranted,
  LeaseExtended: readExtended,
  LeaseExpired: readExpired,
  TaskCompleted: readCompleted,
  TaskFailed: readFailed,
  TaskCancelled: readCancelled,
  TaskDead: readDead,
  CoordinatorStarted: readStarted,
  HistoryForgotten: readForgotten,
};
const KNOWN_FLAGS: Partial<Record<RecordType, number>> = {
  TaskCreated: flag.CREATED_ALL,
  LeaseExpired: flag.EXTENDED,
  TaskCompleted: flag.EXTENDED | flag.RESULT,
  TaskFailed: flag.EXTENDED | flag.RETRY_AT,
  TaskDead: flag.EXTENDED,
  CoordinatorStarted: 0xffff, // Whatever follows: its version is told before anything else.
};
const FIELDS_BY_CODE = RECORD_TYPES.map((type) => FIELDS[type] as ReadFields<LogRecord>);
const FLAGS_BY_CODE = RECORD_TYPES.map((type) => KNOWN_FLAGS[type] ?? 0);
