// A record as a line of the log listing, with the names that other programs rely on.

import { expect } from 'chai';
import type { LogRecord } from '../../src/model/records.ts';
import { formatRecord } from '../../src/protocol/record-json.ts';

const at = { at: 1_000, prev: 4 };
const lease = { taskId: 4, leaseId: 6 };
const never = { extensions: 0, lastExtension: 0 };
const line = (record: LogRecord) => JSON.parse(formatRecord(record));
const base = (type: string, seq: number) => ({ seq, type, at: 1_000, prev: 4 });

describe('records as lines of /v1/log', () => {
  it('TaskCreated', () => {
    const plain: LogRecord = {
      type: 'TaskCreated',
      seq: 4,
      at: 1_000,
      prev: 0,
      queue: 'q',
      payload: new Uint8Array(Buffer.from('p')),
      executionWindowMs: 5,
      retryPolicy: { maxRetries: 3, backoffMs: 1, backoffFactor: 1.5 },
    };
    const shown = {
      ...base('TaskCreated', 4),
      prev: 0,
      task_id: 'T4',
      queue: 'q',
      execution_window_ms: 5,
      retry_policy: { max_retries: 3, backoff_ms: 1, backoff_factor: 1.5 },
    };
    expect(line(plain)).to.deep.equal({ ...shown, payload: 'p' });
    const full: LogRecord = {
      ...plain,
      payload: new Uint8Array([255]),
      retryPolicy: { ...plain.retryPolicy, backoffMaxMs: 9 },
      requestId: 'r',
      contentHash: new Uint8Array([1, 171]),
      metadata: { k: 'v' },
      notBefore: 7,
      originTaskId: 2,
    };
    expect(line(full)).to.deep.equal({
      ...shown,
      retry_policy: { ...shown.retry_policy, backoff_max_ms: 9 },
      request_id: 'r',
      content_hash: '01ab',
      metadata: { k: 'v' },
      not_before: 7,
      origin_task_id: 'T2',
      payload_base64: '/w==',
    });
  });

  const rows: readonly (readonly [LogRecord, object])[] = [
    [
      {
        type: 'LeaseGranted',
        seq: 6,
        ...at,
        taskId: 4,
        workerId: 'w"',
        attempt: 1,
        leaseExpiry: 9,
        grantedAt: 8,
      },
      { lease_id: 'L6', worker_id: 'w"', attempt: 1, lease_expiry: 9, granted_at: 8 },
    ],
    [
      { type: 'LeaseExtended', seq: 7, ...at, ...lease, newLeaseExpiry: 12 },
      { lease_id: 'L6', new_lease_expiry: 12 },
    ],
    [
      { type: 'LeaseExpired', seq: 8, ...at, ...lease, extensions: 2, lastExtension: 7 },
      { lease_id: 'L6', extensions: 2, last_extension: 7 },
    ],
    [{ type: 'TaskCompleted', seq: 8, ...at, ...lease, ...never }, { lease_id: 'L6' }],
    [
      {
        type: 'TaskCompleted',
        seq: 8,
        ...at,
        ...lease,
        ...never,
        result: new Uint8Array(Buffer.from('ok')),
      },
      { lease_id: 'L6', result: 'ok' },
    ],
    [
      {
        type: 'TaskFailed',
        seq: 8,
        ...at,
        ...lease,
        ...never,
        failureReason: 'no',
        kind: 'error',
        retryAt: 11,
      },
      { lease_id: 'L6', failure_reason: 'no', kind: 'error', retry_at: 11 },
    ],
    [
      { type: 'TaskCancelled', seq: 9, ...at, ...lease, report: 'fail' },
      { lease_id: 'L6', report: 'fail' },
    ],
    [{ type: 'TaskDead', seq: 9, ...at, taskId: 4, reason: 'x', ...never }, { reason: 'x' }],
  ];
  for (const [record, fields] of rows) {
    it(`${record.type} ${Object.keys(fields).join(' ')}`, () => {
      const shown = { ...base(record.type, record.seq), task_id: 'T4', ...fields };
      expect(line(record)).to.deep.equal(shown);
    });
  }

  it('records about no task', () => {
    const start = { type: 'CoordinatorStarted', formatVersion: 1, startedAt: 5 } as const;
    expect(line({ ...start, seq: 3, ...at })).to.deep.equal({
      ...base('CoordinatorStarted', 3),
      epoch: 3,
      format_version: 1,
      started_at: 5,
    });
    const totals = {
      leaseExpirations: 1,
      duplicateExecutions: 2,
      lateReports: 3,
      retries: 4,
      starts: 5,
    };
    const forgotten = { type: 'HistoryForgotten', completedThrough: 8, failedThrough: 9 } as const;
    expect(line({ ...forgotten, seq: 3, ...at, totals })).to.deep.equal({
      ...base('HistoryForgotten', 3),
      completed_through: 8,
      failed_through: 9,
      totals: {
        lease_expirations: 1,
        duplicate_executions: 2,
        late_reports: 3,
        retries: 4,
        starts: 5,
      },
    });
  });
});
