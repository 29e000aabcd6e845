// Owns the mapping from the wire's fields to a Request. It knows neither HTTP nor the socket: both
// hand it the same fields under the same names, and it decides nothing.

import { ID_MAX_BYTES, PAGE_DEFAULT, type ParseLimits, REASON_MAX_BYTES } from '../model/limits.ts';
import type { Rejected } from '../model/refusal.ts';
import type { Request } from '../model/request.ts';
import { badText, isRefusal, readLeaseId, readTaskId, refuse } from './parse-fields.ts';
import { DEFAULT_QUEUE, parseSubmit } from './parse-submit.ts';
import { readBytes } from './payload-bytes.ts';
import type {
  CompleteFields,
  FailFields,
  HeartbeatFields,
  KillFields,
  LeaseFields,
  RedriveFields,
  TaskFields,
  TasksFields,
} from './schemas.ts';
import { malformed } from './validate-form.ts';

/** The verbs that reach the coordinator. */
export type Verb =
  | 'submit'
  | 'lease'
  | 'heartbeat'
  | 'complete'
  | 'fail'
  | 'kill'
  | 'redrive'
  | 'task'
  | 'tasks'
  | 'stats'
  | 'queues'
  | 'workers';

type Read = (fields: never, limits: ParseLimits) => Request | Rejected;

/**
 * @param fields the value of a JSON text, ids included; nothing about it is known.
 * @returns the request, or `malformed` / `too_large` naming the field. Never throws.
 */
export function parseRequest(verb: Verb, fields: unknown, limits: ParseLimits): Request | Rejected {
  if (verb === 'submit') return parseSubmit(fields, limits);
  const fault = malformed(verb, fields);
  if (fault !== undefined) return fault;
  return (READERS[verb] as Read)(fields as never, limits);
}

const READERS = {
  lease: readLease,
  heartbeat: readHeartbeat,
  complete: readComplete,
  fail: readFail,
  kill: readKill,
  redrive: readRedrive,
  task: readTask,
  tasks: readTasks,
  stats: (): Request => ({ op: 'stats' }),
  queues: (): Request => ({ op: 'queues' }),
  workers: (): Request => ({ op: 'workers' }),
} as const;

function readLease(given: LeaseFields): Request | Rejected {
  const bad = badText('worker_id', given.worker_id, ID_MAX_BYTES);
  if (bad !== undefined) return bad;
  const queues = given.queues ?? [DEFAULT_QUEUE];
  return {
    op: 'lease',
    workerId: given.worker_id,
    queues: queues.length === 1 ? queues : [...new Set(queues)],
    max: given.max ?? 1,
    waitMs: given.wait_ms ?? 0,
    capacity: given.capacity,
    base64: given.encoding === 'base64',
  };
}

function readHeartbeat(given: HeartbeatFields): Request | Rejected {
  const taskId = readTaskId(given.task_id);
  const leaseId = readLeaseId(given.lease_id);
  if (isRefusal(taskId)) return taskId;
  if (isRefusal(leaseId)) return leaseId;
  return { op: 'heartbeat', taskId, leaseId };
}

function readComplete(given: CompleteFields, limits: ParseLimits): Request | Rejected {
  const taskId = readTaskId(given.task_id);
  const leaseId = readLeaseId(given.lease_id);
  const { result, result_base64: base64 } = given;
  const bytes = readBytes('result', result, base64, limits.payloadMaxBytes);
  if (isRefusal(taskId)) return taskId;
  if (isRefusal(leaseId)) return leaseId;
  if (isRefusal(bytes)) return bytes;
  return { op: 'complete', taskId, leaseId, result: bytes };
}

function readFail(given: FailFields): Request | Rejected {
  const taskId = readTaskId(given.task_id);
  const leaseId = readLeaseId(given.lease_id);
  const bad = badText('reason', given.reason, REASON_MAX_BYTES);
  if (isRefusal(taskId)) return taskId;
  if (isRefusal(leaseId)) return leaseId;
  return bad ?? { op: 'fail', taskId, leaseId, reason: given.reason, kind: given.kind ?? 'error' };
}

function readKill(given: KillFields): Request | Rejected {
  const taskId = readTaskId(given.task_id);
  const reason = given.reason ?? 'killed';
  const bad = badText('reason', reason, REASON_MAX_BYTES);
  if (isRefusal(taskId)) return taskId;
  return bad ?? { op: 'kill', taskId, reason };
}

function readRedrive(given: RedriveFields): Request | Rejected {
  const taskId = readTaskId(given.task_id);
  return isRefusal(taskId) ? taskId : { op: 'redrive', taskId };
}

function readTask(given: TaskFields): Request | Rejected {
  const taskId = readTaskId(given.task_id);
  if (isRefusal(taskId)) return taskId;
  return {
    op: 'task',
    taskId,
    waitMs: given.wait_ms ?? 0,
    base64: given.encoding === 'base64',
  };
}

function readTasks(given: TasksFields): Request | Rejected {
  const { request_id: requestId } = given;
  const bad = requestId === undefined ? undefined : badText('request_id', requestId, ID_MAX_BYTES);
  if (bad !== undefined) return bad;
  const after = typeof given.after === 'string' ? readTaskId(given.after) : (given.after ?? 0);
  if (isRefusal(after)) return refuse('after', 'after must be the `next` of an answer.');
  return {
    op: 'tasks',
    state: given.state,
    queue: given.queue,
    requestId,
    after,
    limit: given.limit ?? PAGE_DEFAULT,
  };
}
