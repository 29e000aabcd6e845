// Owns which options each call of the library takes, and which values each option can have.
// TypeScript checks the same by its types; these tables check also for callers in JavaScript,
// before anything is sent.

import { WAIT_MAX_MS } from '../model/limits.ts';
import { OPERATIONS } from '../model/operations.ts';
import { camelOf, type Field, type Fields, type Group } from '../model/request-fields.ts';
import type { ClientOptions } from './exchanger.ts';
import {
  anything,
  type Check,
  type Checks,
  callback,
  count,
  flag,
  headerText,
  lengthMs,
  nested,
  oneOf,
  schema,
  signal,
  text,
  textMap,
  textOrTexts,
  texts,
  whole,
} from './option-checks.ts';
import type { TaskFilter } from './read-answers.ts';
import type { QueueOptions } from './typed-queue.ts';
import type {
  CallOptions,
  FailureOptions,
  LeaseOptions,
  SubmitOptions,
  TaskReadOptions,
} from './types.ts';
import type { RunOptions, StopOptions, WorkerOptions } from './worker-options.ts';

/** The server refuses a longer wait. */
const waitMs = whole(0, WAIT_MAX_MS);

export const CLIENT: Checks<ClientOptions> = {
  url: textOrTexts,
  token: headerText,
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
  schema,
};

export const QUEUE: Checks<QueueOptions<never>> = { schema };
export const RUN: Checks<RunOptions> = { untilEmpty: flag, signals: flag };
export const STOP: Checks<StopOptions> = { graceMs: lengthMs, abortMs: lengthMs };
export const CALL: Checks<CallOptions> = { signal, timeoutMs: lengthMs };

/** By the table of operations, so that what it takes is taken here and nothing else. */
const checksOf = (fields: Fields): Record<string, Check> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, { presence, kind }]) => presence !== 'made' && kind !== 'flag')
      .map(([name, field]) => [camelOf(name), checkOf(field)]),
  );

function checkOf(field: Field): Check {
  const { kind, schema, words = [] } = field;
  if ('fields' in field) return nested(checksOf((field as Group).fields));
  switch (kind) {
    case 'number':
      return whole(schema.minimum ?? 0, schema.maximum);
    case 'word':
      return oneOf(...words);
    case 'names':
      return texts;
    case 'metadata':
      return textMap;
    case 'bytes':
    case 'fraction':
      return anything;
    default:
      return text;
  }
}

export const SUBMIT = checksOf(OPERATIONS.submit.fields) as Checks<SubmitOptions>;
export const LEASE = checksOf(OPERATIONS.lease.fields) as Checks<LeaseOptions>;
const { reason, kind } = OPERATIONS.fail.fields;
export const FAILURE = checksOf({ reason, kind }) as Checks<FailureOptions>;

export const READ: Checks<TaskReadOptions> = { waitMs };
export const TASKS: Checks<TaskFilter> = {
  state: oneOf('WAITING', 'LEASED', 'COMPLETED', 'FAILED', 'DEAD'),
  queue: text,
  requestId: text,
  after: text,
  limit: whole(1),
};
