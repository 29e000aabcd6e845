// Owns the public API of the package: what is not exported here may change without notice.

export type { BatchOutcome } from './client/client.ts';
export { Client } from './client/client.ts';
export {
  type AbortCode,
  type ClientErrorCode,
  LeaseholdError,
  PermanentFailure,
  RefusedError,
  TaskAborted,
} from './client/errors.ts';
export type { ClientOptions } from './client/exchanger.ts';
export type { Handler, HandlerContext } from './client/handler.ts';
export type { Lease, LeaseData } from './client/lease.ts';
export { monotonicMs } from './client/local-clock.ts';
export type { Schema, SchemaIssue, SchemaResult } from './client/payload-schema.ts';
export type { Leased, TaskFilter, TaskPage } from './client/read-answers.ts';
export type { BatchRequest } from './client/request-params.ts';
export { Queue, type QueueOptions, type QueueSubmitOptions } from './client/typed-queue.ts';
export type * from './client/types.ts';
export { Worker } from './client/worker.ts';
export type { FailureReport, WorkerEvents } from './client/worker-events.ts';
export type { StopOptions, WorkerOptions } from './client/worker-options.ts';
