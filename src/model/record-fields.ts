// Owns what each record holds: every field with its name, its kind and its place among the stored
// bytes, described once. A description is played: whoever writes, reads, shows or lists records
// hands in its own `Fields` and is called for each field in the order of the bytes, and what it
// returns becomes the field of the record that the description builds. So the writing and the
// reading of a field cannot drift apart, and every record of a type has the same keys in the same
// order, which keeps what follows fast on millions of them.
//
// A stored field never changes its place, kind or bit. A new optional field takes the next free bit
// of its record and stands last.

import type { Fields } from './field-visitor.ts';
import { type ListedField, ListedFields } from './listed-fields.ts';
import type {
  CoordinatorStarted,
  HistoryForgotten,
  LeaseExpired,
  LeaseExtended,
  LeaseGranted,
  LogRecord,
  RecordType,
  TaskCancelled,
  TaskCompleted,
  TaskCreated,
  TaskDead,
  TaskFailed,
} from './records.ts';
import { FAILURE_KINDS } from './task-states.ts';

type RecordOf<K extends RecordType> = Extract<LogRecord, { type: K }>;
// The order of the calls is the order of the bytes. That holds inside an object literal, too: its
// values are worked out from top to bottom.
type Describe<T extends LogRecord> = (f: Fields, r: Partial<T>) => T;

/** Of every record that ends a lease: the extensions follow. */
const EXTENDED = 1;
const REPORTS = ['complete', 'fail'] as const;

const taskCreated: Describe<TaskCreated> = (f, r) => {
  f.own('task_id', 'T');
  const policy = r.retryPolicy;
  const queue = f.text('queue', r.queue);
  const payload = f.content('payload', r.payload);
  const executionWindowMs = f.count('execution_window_ms', r.executionWindowMs);
  const maxRetries = f.count('retry_policy.max_retries', policy?.maxRetries);
  const backoffMs = f.count('retry_policy.backoff_ms', policy?.backoffMs);
  const requestId = f.has(1, r.requestId !== undefined)
    ? f.text('request_id', r.requestId)
    : undefined;
  const contentHash = f.has(2, r.contentHash !== undefined)
    ? f.hash('content_hash', r.contentHash)
    : undefined;
  const metadata = f.has(4, r.metadata !== undefined) ? f.texts('metadata', r.metadata) : undefined;
  const notBefore = f.has(8, r.notBefore !== undefined)
    ? f.time('not_before', r.notBefore)
    : undefined;
  const originTaskId = f.has(16, r.originTaskId !== undefined)
    ? f.earlier('origin_task_id', 'T', r.originTaskId)
    : undefined;
  const backoffMaxMs = f.has(32, policy?.backoffMaxMs !== undefined)
    ? f.count('retry_policy.backoff_max_ms', policy?.backoffMaxMs)
    : undefined;
  const backoffFactor = f.isStored(64, policy?.backoffFactor !== 1)
    ? f.factor('retry_policy.backoff_factor', policy?.backoffFactor)
    : 1;
  return {
    type: 'TaskCreated',
    seq: f.seq,
    at: f.at,
    prev: f.prev,
    queue,
    payload,
    executionWindowMs,
    retryPolicy: { maxRetries, backoffMs, backoffFactor, backoffMaxMs },
    requestId,
    contentHash,
    metadata,
    notBefore,
    originTaskId,
  };
};

const leaseGranted: Describe<LeaseGranted> = (f, r) => {
  const taskId = f.earlier('task_id', 'T', r.taskId);
  f.own('lease_id', 'L');
  return {
    type: 'LeaseGranted',
    seq: f.seq,
    at: f.at,
    prev: f.prev,
    taskId,
    workerId: f.text('worker_id', r.workerId),
    attempt: f.count('attempt', r.attempt),
    leaseExpiry: f.time('lease_expiry', r.leaseExpiry),
    grantedAt: f.time('granted_at', r.grantedAt),
  };
};

const leaseExtended: Describe<LeaseExtended> = (f, r) => ({
  type: 'LeaseExtended',
  seq: f.seq,
  at: f.at,
  prev: f.prev,
  taskId: f.earlier('task_id', 'T', r.taskId),
  leaseId: f.earlier('lease_id', 'L', r.leaseId),
  newLeaseExpiry: f.time('new_lease_expiry', r.newLeaseExpiry),
});

/** Renewals are told by the record that ends their lease: how many, and which was the last. */
interface Renewed {
  readonly extensions: number;
  readonly lastExtension: number;
}

const extensionsOf = (f: Fields, { extensions }: Partial<Renewed>): number =>
  f.has(EXTENDED, extensions !== 0) ? f.count('extensions', extensions) : 0;

const lastExtensionOf = (f: Fields, { extensions, lastExtension }: Partial<Renewed>): number =>
  f.has(EXTENDED, extensions !== 0) ? f.earlier('last_extension', '', lastExtension) : 0;

const leaseExpired: Describe<LeaseExpired> = (f, r) => ({
  type: 'LeaseExpired',
  seq: f.seq,
  at: f.at,
  prev: f.prev,
  taskId: f.earlier('task_id', 'T', r.taskId),
  leaseId: f.earlier('lease_id', 'L', r.leaseId),
  extensions: extensionsOf(f, r),
  lastExtension: lastExtensionOf(f, r),
});

const taskCompleted: Describe<TaskCompleted> = (f, r) => ({
  type: 'TaskCompleted',
  seq: f.seq,
  at: f.at,
  prev: f.prev,
  taskId: f.earlier('task_id', 'T', r.taskId),
  leaseId: f.earlier('lease_id', 'L', r.leaseId),
  extensions: extensionsOf(f, r),
  lastExtension: lastExtensionOf(f, r),
  result: f.has(2, r.result !== undefined) ? f.content('result', r.result) : undefined,
});

const taskFailed: Describe<TaskFailed> = (f, r) => ({
  type: 'TaskFailed',
  seq: f.seq,
  at: f.at,
  prev: f.prev,
  taskId: f.earlier('task_id', 'T', r.taskId),
  leaseId: f.earlier('lease_id', 'L', r.leaseId),
  extensions: extensionsOf(f, r),
  lastExtension: lastExtensionOf(f, r),
  failureReason: f.text('failure_reason', r.failureReason),
  kind: f.choice('kind', FAILURE_KINDS, r.kind),
  retryAt: f.has(2, r.retryAt !== undefined) ? f.time('retry_at', r.retryAt) : undefined,
});

const taskCancelled: Describe<TaskCancelled> = (f, r) => ({
  type: 'TaskCancelled',
  seq: f.seq,
  at: f.at,
  prev: f.prev,
  taskId: f.earlier('task_id', 'T', r.taskId),
  leaseId: f.earlier('lease_id', 'L', r.leaseId),
  report: f.choice('report', REPORTS, r.report),
});

const taskDead: Describe<TaskDead> = (f, r) => ({
  type: 'TaskDead',
  seq: f.seq,
  at: f.at,
  prev: f.prev,
  taskId: f.earlier('task_id', 'T', r.taskId),
  extensions: extensionsOf(f, r),
  lastExtension: lastExtensionOf(f, r),
  reason: f.text('reason', r.reason),
});

const coordinatorStarted: Describe<CoordinatorStarted> = (f, r) => {
  f.own('epoch', '');
  return {
    type: 'CoordinatorStarted',
    seq: f.seq,
    at: f.at,
    prev: f.prev,
    formatVersion: f.version('format_version', r.formatVersion),
    startedAt: f.time('started_at', r.startedAt),
  };
};

const historyForgotten: Describe<HistoryForgotten> = (f, r) => ({
  type: 'HistoryForgotten',
  seq: f.seq,
  at: f.at,
  prev: f.prev,
  // Not as `earlier`, whose distance back cannot say 0: nothing of this kind was forgotten yet.
  completedThrough: f.count('completed_through', r.completedThrough),
  failedThrough: f.count('failed_through', r.failedThrough),
  totals: {
    leaseExpirations: f.count('totals.lease_expirations', r.totals?.leaseExpirations),
    duplicateExecutions: f.count('totals.duplicate_executions', r.totals?.duplicateExecutions),
    lateReports: f.count('totals.late_reports', r.totals?.lateReports),
    retries: f.count('totals.retries', r.totals?.retries),
    starts: f.count('totals.starts', r.totals?.starts),
  },
});

const DESCRIPTIONS: { readonly [K in RecordType]: Describe<RecordOf<K>> } = {
  TaskCreated: taskCreated,
  LeaseGranted: leaseGranted,
  LeaseExtended: leaseExtended,
  LeaseExpired: leaseExpired,
  TaskCompleted: taskCompleted,
  TaskFailed: taskFailed,
  TaskCancelled: taskCancelled,
  TaskDead: taskDead,
  CoordinatorStarted: coordinatorStarted,
  HistoryForgotten: historyForgotten,
};

const BLANK = Object.freeze({});

/** Calls `fields` for each field of a record. */
export function visitFields(fields: Fields, record: LogRecord): void {
  (DESCRIPTIONS[record.type] as Describe<LogRecord>)(fields, record);
}

/** @returns the record of this type that is made of what `fields` returns. */
export const recordOf = (fields: Fields, type: RecordType): LogRecord =>
  (DESCRIPTIONS[type] as Describe<LogRecord>)(fields, BLANK);

/** @returns all fields that a record of this type can have, in the order of the bytes. */
export function fieldsOf(type: RecordType): readonly ListedField[] {
  const listed = new ListedFields();
  recordOf(listed, type);
  return listed.fields;
}
