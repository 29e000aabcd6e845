// Owns the JSON of a record as /v1/log and its followers show it: the stored names, one line each.
// A field that the record does not have is absent, never null.

import type { LogRecord, RetryPolicy, Totals } from '../model/records.ts';
import { bytesMember, optionalMember } from './format-fields.ts';

/** @returns one JSON object without a line feed. */
export function formatRecord(record: LogRecord): string {
  const { seq, type, at, prev } = record;
  const head = `{"seq":${seq},"type":"${type}","at":${at},"prev":${prev}`;
  return `${head}${fields(record)}}`;
}

function fields(record: LogRecord): string {
  switch (record.type) {
    case 'TaskCreated':
      return (
        `,"task_id":"T${record.seq}","queue":"${record.queue}",` +
        `"execution_window_ms":${record.executionWindowMs},` +
        `"retry_policy":${policy(record.retryPolicy)}` +
        optionalMember('request_id', record.requestId) +
        optionalMember('content_hash', hex(record.contentHash)) +
        optionalMember('metadata', record.metadata) +
        optionalMember('not_before', record.notBefore) +
        (record.originTaskId === undefined ? '' : `,"origin_task_id":"T${record.originTaskId}"`) +
        `,${bytesMember('payload', record.payload, false)}`
      );
    case 'LeaseGranted':
      return (
        `,"task_id":"T${record.taskId}","lease_id":"L${record.seq}",` +
        `"worker_id":${JSON.stringify(record.workerId)},"attempt":${record.attempt},` +
        `"lease_expiry":${record.leaseExpiry},"granted_at":${record.grantedAt}`
      );
    case 'LeaseExtended':
      return `${ids(record)},"new_lease_expiry":${record.newLeaseExpiry}`;
    case 'LeaseExpired':
      return `${ids(record)}${extensions(record)}`;
    case 'TaskCompleted': {
      const { result } = record;
      const shown = result === undefined ? '' : `,${bytesMember('result', result, false)}`;
      return `${ids(record)}${extensions(record)}${shown}`;
    }
    case 'TaskFailed':
      return (
        `${ids(record)},"failure_reason":${JSON.stringify(record.failureReason)},` +
        `"kind":"${record.kind}"${optionalMember('retry_at', record.retryAt)}${extensions(record)}`
      );
    case 'TaskCancelled':
      return `${ids(record)},"report":"${record.report}"`;
    case 'TaskDead': {
      const reason = JSON.stringify(record.reason);
      return `,"task_id":"T${record.taskId}","reason":${reason}${extensions(record)}`;
    }
    case 'CoordinatorStarted':
      return (
        `,"epoch":${record.seq},"format_version":${record.formatVersion},` +
        `"started_at":${record.startedAt}`
      );
    case 'HistoryForgotten':
      return (
        `,"completed_through":${record.completedThrough},` +
        `"failed_through":${record.failedThrough},"totals":${totals(record.totals)}`
      );
  }
}

const ids = (record: { taskId: number; leaseId: number }): string =>
  `,"task_id":"T${record.taskId}","lease_id":"L${record.leaseId}"`;

const extensions = (record: { extensions: number; lastExtension: number }): string =>
  record.extensions === 0
    ? ''
    : `,"extensions":${record.extensions},"last_extension":${record.lastExtension}`;

const hex = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString('hex');

const policy = (given: RetryPolicy): string =>
  `{"max_retries":${given.maxRetries},"backoff_ms":${given.backoffMs},` +
  `"backoff_factor":${given.backoffFactor}${optionalMember('backoff_max_ms', given.backoffMaxMs)}}`;

const totals = (lifetime: Totals): string =>
  JSON.stringify({
    lease_expirations: lifetime.leaseExpirations,
    duplicate_executions: lifetime.duplicateExecutions,
    late_reports: lifetime.lateReports,
    retries: lifetime.retries,
    starts: lifetime.starts,
  });
