// Owns how a Request lies in the mailbox: bytes, because bytes cross threads ten times cheaper than
// objects and a deeply nested object might vanish on the way. Both ends are of one build, so this
// form has no version and is never stored.

import { ByteReader, ByteWriter } from '../model/bytes.ts';
import {
  type Op,
  type OverviewRequest,
  type Request,
  type SubmitRequest,
  TASK_STATES,
  type TasksRequest,
} from '../model/request.ts';

const OPS = [
  'submit',
  'lease',
  'heartbeat',
  'complete',
  'fail',
  'kill',
  'redrive',
  'task',
  'tasks',
  'standing',
  'stats',
  'queues',
  'workers',
  'metrics',
] as const satisfies readonly Op[];
const KINDS = ['error', 'permanent', 'released'] as const;

const writer = new ByteWriter(1_024);
const reader = new ByteReader();

/** @returns a view that the next call overwrites: the mailbox copies it at once. */
export function encodeRequest(request: Request): Uint8Array {
  writer.reset();
  writer.u8(OPS.indexOf(request.op));
  writeFields(request);
  return writer.view();
}

/**
 * @returns the request; its payload, result and content hash are views into the message.
 * @throws RangeError when the message is not one that encodeRequest made.
 */
export function decodeRequest(message: Uint8Array): Request {
  reader.reset(message);
  const op = OPS[reader.u8()];
  if (op === undefined) throw new RangeError('unknown op');
  const request = readFields(op);
  if (reader.remaining !== 0) throw new RangeError(`${reader.remaining} bytes after a ${op}`);
  return request;
}

function writeFields(request: Request): void {
  switch (request.op) {
    case 'submit':
      return writeSubmit(request);
    case 'lease':
      writer.string(request.workerId);
      writer.varint(request.queues.length);
      for (const queue of request.queues) writer.string(queue);
      writer.varint(request.max);
      writer.varint(request.waitMs);
      writer.optionalVarint(request.capacity);
      return writer.bool(request.base64);
    case 'heartbeat':
    case 'complete':
    case 'fail':
      writer.varint(request.taskId);
      writer.varint(request.leaseId);
      if (request.op === 'complete') writeBytes(request.result);
      if (request.op !== 'fail') return;
      writer.string(request.reason);
      return writer.u8(KINDS.indexOf(request.kind));
    case 'kill':
      writer.varint(request.taskId);
      return writer.string(request.reason);
    case 'redrive':
    case 'standing':
      return writer.varint(request.taskId);
    case 'task':
      writer.varint(request.taskId);
      writer.varint(request.waitMs);
      return writer.bool(request.base64);
    case 'tasks':
      return writeTasks(request);
    default:
      return;
  }
}

function readFields(op: (typeof OPS)[number]): Request {
  switch (op) {
    case 'submit':
      return readSubmit();
    case 'lease':
      return {
        op,
        workerId: reader.string(),
        queues: readList(),
        max: reader.varint(),
        waitMs: reader.varint(),
        capacity: reader.optionalVarint(),
        base64: reader.bool(),
      };
    case 'heartbeat':
      return { op, taskId: reader.varint(), leaseId: reader.varint() };
    case 'complete':
      return { op, taskId: reader.varint(), leaseId: reader.varint(), result: readBytes() };
    case 'fail': {
      const [taskId, leaseId, reason] = [reader.varint(), reader.varint(), reader.string()];
      return { op, taskId, leaseId, reason, kind: pick(KINDS) };
    }
    case 'kill':
      return { op, taskId: reader.varint(), reason: reader.string() };
    case 'redrive':
    case 'standing':
      return { op, taskId: reader.varint() };
    case 'task':
      return { op, taskId: reader.varint(), waitMs: reader.varint(), base64: reader.bool() };
    case 'tasks':
      return readTasks();
    default:
      return { op } satisfies OverviewRequest;
  }
}

function writeSubmit(request: SubmitRequest): void {
  writer.string(request.queue);
  writer.bytes(request.payload);
  writer.optionalString(request.requestId);
  writeBytes(request.contentHash);
  writer.optionalVarint(request.executionWindowMs);
  writer.optionalVarint(request.maxRetries);
  writer.optionalVarint(request.backoffMs);
  writer.bool(request.backoffFactor !== undefined);
  if (request.backoffFactor !== undefined) writer.f64(request.backoffFactor);
  writer.optionalVarint(request.backoffMaxMs);
  writer.optionalVarint(request.delayMs);
  const { metadata } = request;
  writer.bool(metadata !== undefined);
  if (metadata === undefined) return;
  const entries = Object.entries(metadata);
  writer.varint(entries.length);
  for (const [key, value] of entries) {
    writer.string(key);
    writer.string(value);
  }
}

function readSubmit(): SubmitRequest {
  return {
    op: 'submit',
    queue: reader.string(),
    payload: reader.bytes(),
    requestId: reader.optionalString(),
    contentHash: readBytes(),
    executionWindowMs: reader.optionalVarint(),
    maxRetries: reader.optionalVarint(),
    backoffMs: reader.optionalVarint(),
    backoffFactor: reader.bool() ? reader.f64() : undefined,
    backoffMaxMs: reader.optionalVarint(),
    delayMs: reader.optionalVarint(),
    metadata: reader.bool() ? readMetadata() : undefined,
  };
}

function readMetadata(): Record<string, string> {
  const entries: [string, string][] = [];
  for (let left = reader.varint(); left > 0; left -= 1) {
    entries.push([reader.string(), reader.string()]);
  }
  return Object.fromEntries(entries);
}

function writeTasks(request: TasksRequest): void {
  writer.u8(request.state === undefined ? 0 : TASK_STATES.indexOf(request.state) + 1);
  writer.optionalString(request.queue);
  writer.optionalString(request.requestId);
  writer.varint(request.after);
  writer.varint(request.limit);
}

function readTasks(): TasksRequest {
  const state = reader.u8();
  return {
    op: 'tasks',
    state: state === 0 ? undefined : at(TASK_STATES, state - 1),
    queue: reader.optionalString(),
    requestId: reader.optionalString(),
    after: reader.varint(),
    limit: reader.varint(),
  };
}

function readList(): string[] {
  const list: string[] = [];
  for (let left = reader.varint(); left > 0; left -= 1) list.push(reader.string());
  return list;
}

function writeBytes(bytes: Uint8Array | undefined): void {
  writer.bool(bytes !== undefined);
  if (bytes !== undefined) writer.bytes(bytes);
}

const readBytes = (): Uint8Array | undefined => (reader.bool() ? reader.bytes() : undefined);

const pick = <T>(values: readonly T[]): T => at(values, reader.u8());

function at<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new RangeError(`no choice ${index}`);
  return value;
}
