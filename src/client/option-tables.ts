// Owns which options each call of the library takes, and what values each can have. The types say
// the same to who uses TypeScript; this is for everybody, and before anything is sent.

import { DURATION_MAX, LEASES_MAX, WAIT_MAX_MS } from '../model/limits.ts';
import type { TaskFilter } from './answers.ts';
import type { FailureOptions, TaskReadOptions } from './calls.ts';
import type { ClientOptions } from './exchanger.ts';
import {
  anything,
  type Checks,
  callback,
  count,
  flag,
  lengthMs,
  nested,
  oneOf,
  signal,
  text,
  textMap,
  texts,
  whole,
} from './option-checks.ts';
import type { CallOptions, LeaseOptions, RetryPolicyOptions, SubmitOptions } from './types.ts';
import type { RunOptions, StopOptions, WorkerOptions } from './worker-options.ts';

/** Goes over the wire, where it has an end. */
const wireMs = whole(0, DURATION_MAX);
/** The server refuses a longer wait. */
const waitMs = whole(0, WAIT_MAX_MS);

export const CLIENT: Checks<ClientOptions> = {
  url: text,
  token: text,
  timeoutMs: lengthMs,
  retries: count,
  backoffMs: lengthMs,
  backoffMaxMs: lengthMs,
  onProtocol: callback,
};

const { onProtocol: _, ...CONNECTION } = CLIENT;

export const WORKER: Checks<WorkerOptions> = {
  ...CONNECTION,
  handler: anything,
  queues: texts,
  concurrency: whole(1),
  threads: whole(1),
  workerId: text,
  heartbeat: oneOf('thread', 'handler'),
  waitMs,
  quiet: flag,
};

export const RUN: Checks<RunOptions> = { untilEmpty: flag, signals: flag };
export const STOP: Checks<StopOptions> = { graceMs: lengthMs, abortMs: lengthMs };
export const CALL: Checks<CallOptions> = { signal, timeoutMs: lengthMs };

const RETRY_POLICY: Checks<RetryPolicyOptions> = {
  maxRetries: whole(0),
  backoffMs: wireMs,
  backoffFactor: anything,
  backoffMaxMs: wireMs,
};

export const SUBMIT: Checks<SubmitOptions> = {
  payload: anything,
  queue: text,
  requestId: text,
  executionWindowMs: whole(1, DURATION_MAX),
  retryPolicy: nested(RETRY_POLICY),
  delayMs: wireMs,
  metadata: textMap,
};

export const LEASE: Checks<LeaseOptions> = {
  workerId: text,
  queues: texts,
  max: whole(1, LEASES_MAX),
  waitMs,
  capacity: whole(1),
};

export const FAILURE: Checks<FailureOptions> = {
  reason: text,
  kind: oneOf('error', 'permanent', 'released'),
};

export const READ: Checks<TaskReadOptions> = { waitMs };
export const TASKS: Checks<TaskFilter> = {
  state: oneOf('WAITING', 'LEASED', 'COMPLETED', 'FAILED', 'DEAD'),
  queue: text,
  requestId: text,
  after: text,
  limit: whole(1),
};
