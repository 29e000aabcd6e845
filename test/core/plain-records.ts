// Owns plain records for tests that build a history by hand: right in all that they leave open.

import type { LogRecord, TaskCreated } from '../../src/model/records.ts';

export const AT = 1_000;
/** Of a lease that was never extended. */
export const none = { extensions: 0, lastExtension: 0 };

export const created = (seq: number, more: Partial<TaskCreated> = {}): LogRecord => ({
  type: 'TaskCreated',
  seq,
  at: AT,
  prev: 0,
  queue: 'q',
  payload: new Uint8Array(),
  executionWindowMs: 500,
  retryPolicy: { maxRetries: 9, backoffMs: 10, backoffFactor: 1 },
  ...more,
});

export const granted = (seq: number, taskId: number, prev = taskId, attempt = 1): LogRecord => ({
  type: 'LeaseGranted',
  seq,
  at: AT,
  prev,
  taskId,
  workerId: 'w',
  attempt,
  grantedAt: AT,
  leaseExpiry: AT + 50,
});
