// Owns how each record's own fields are written (the frame around them is codec.ts). It must mirror
// read-record.ts line by line; the golden bytes in the tests hold both to what is on disks already.

import { assertNever } from '../model/assert.ts';
import type { ByteWriter } from '../model/bytes.ts';
import type { LogRecord, TaskCreated } from '../model/records.ts';
import * as flag from './record-flags.ts';

/**
 * Writes type-independent head and fields of a record: everything under its checksum but the
 * type.
 */
export function writeRecord(out: ByteWriter, record: LogRecord): void {
  out.varint(flagsOf(record));
  out.varint(record.at);
  out.varint(record.prev === 0 ? 0 : back(record.seq, record.prev));
  writeFields(out, record);
}

function flagsOf(record: LogRecord): number {
  switch (record.type) {
    case 'TaskCreated':
      return createdFlags(record);
    case 'LeaseExpired':
    case 'TaskDead':
      return has(record.extensions > 0, flag.EXTENDED);
    case 'TaskCompleted':
      return (
        has(record.extensions > 0, flag.EXTENDED) | has(record.result !== undefined, flag.RESULT)
      );
    case 'TaskFailed':
      return (
        has(record.extensions > 0, flag.EXTENDED) | has(record.retryAt !== undefined, flag.RETRY_AT)
      );
    default:
      return 0;
  }
}

function createdFlags(record: TaskCreated): number {
  const { retryPolicy } = record;
  return (
    has(record.requestId !== undefined, flag.REQUEST_ID) |
    has(record.contentHash !== undefined, flag.CONTENT_HASH) |
    has(record.metadata !== undefined, flag.METADATA) |
    has(record.notBefore !== undefined, flag.NOT_BEFORE) |
    has(record.originTaskId !== undefined, flag.ORIGIN) |
    has(retryPolicy.backoffMaxMs !== undefined, flag.BACKOFF_MAX) |
    has(retryPolicy.backoffFactor !== 1, flag.BACKOFF_FACTOR)
  );
}

function writeFields(out: ByteWriter, record: LogRecord): void {
  switch (record.type) {
    case 'TaskCreated':
      return writeCreated(out, record);
    case 'LeaseGranted':
      out.varint(back(record.seq, record.taskId));
      out.string(record.workerId);
      out.varint(record.attempt);
      writeTime(out, record.at, record.leaseExpiry);
      return writeTime(out, record.at, record.grantedAt);
    case 'LeaseExtended':
      writeTaskAndLease(out, record);
      return writeTime(out, record.at, record.newLeaseExpiry);
    case 'LeaseExpired':
      writeTaskAndLease(out, record);
      return writeExtensions(out, record);
    case 'TaskCompleted':
      writeTaskAndLease(out, record);
      writeExtensions(out, record);
      if (record.result !== undefined) out.bytes(record.result);
      return;
    case 'TaskFailed':
      writeTaskAndLease(out, record);
      writeExtensions(out, record);
      out.string(record.failureReason);
      out.u8(flag.KINDS.indexOf(record.kind));
      if (record.retryAt !== undefined) writeTime(out, record.at, record.retryAt);
      return;
    case 'TaskCancelled':
      writeTaskAndLease(out, record);
      return out.u8(flag.REPORTS.indexOf(record.report));
    case 'TaskDead':
      out.varint(back(record.seq, record.taskId));
      writeExtensions(out, record);
      return out.string(record.reason);
    case 'CoordinatorStarted':
      out.varint(record.formatVersion);
      return writeTime(out, record.at, record.startedAt);
    case 'HistoryForgotten':
      out.varint(record.completedThrough);
      out.varint(record.failedThrough);
      out.varint(record.totals.leaseExpirations);
      out.varint(record.totals.duplicateExecutions);
      out.varint(record.totals.lateReports);
      out.varint(record.totals.retries);
      return out.varint(record.totals.starts);
    default:
      return assertNever(record);
  }
}

function writeCreated(out: ByteWriter, record: TaskCreated): void {
  const { retryPolicy } = record;
  out.string(record.queue);
  out.bytes(record.payload);
  out.varint(record.executionWindowMs);
  out.varint(retryPolicy.maxRetries);
  out.varint(retryPolicy.backoffMs);
  if (record.requestId !== undefined) out.string(record.requestId);
  if (record.contentHash !== undefined) out.bytes(record.contentHash);
  if (record.metadata !== undefined) {
    const entries = Object.entries(record.metadata);
    out.varint(entries.length);
    for (const [key, value] of entries) {
      out.string(key);
      out.string(value);
    }
  }
  if (record.notBefore !== undefined) writeTime(out, record.at, record.notBefore);
  if (record.originTaskId !== undefined) out.varint(back(record.seq, record.originTaskId));
  if (retryPolicy.backoffMaxMs !== undefined) out.varint(retryPolicy.backoffMaxMs);
  if (retryPolicy.backoffFactor !== 1) out.f64(retryPolicy.backoffFactor);
}

function writeTaskAndLease(
  out: ByteWriter,
  { seq, taskId, leaseId }: { seq: number; taskId: number; leaseId: number },
): void {
  out.varint(back(seq, taskId));
  out.varint(back(seq, leaseId));
}

function writeExtensions(
  out: ByteWriter,
  { seq, extensions, lastExtension }: { seq: number; extensions: number; lastExtension: number },
): void {
  if (extensions === 0) return;
  out.varint(extensions);
  out.varint(back(seq, lastExtension));
}

/** The distance back to an earlier record's number: always at least 1. */
function back(seq: number, earlier: number): number {
  if (!(earlier >= 1 && earlier < seq)) {
    throw new RangeError(`record ${seq} names record ${earlier}, which is not before it`);
  }
  return seq - earlier;
}

/** A signed distance as an unsigned number: 0, -1, 1, -2 … become 0, 1, 2, 3 … */
function writeTime(out: ByteWriter, at: number, time: number): void {
  const distance = time - at;
  out.varint(distance >= 0 ? distance * 2 : -distance * 2 - 1);
}

const has = (present: boolean, bit: number): number => (present ? bit : 0);
