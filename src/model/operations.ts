// Owns the table of operations: what can be asked, under which name and route, with which fields,
// and what follows. Routes, batch, socket, mailbox, core, OpenAPI document and client read it.

import { COORDINATOR_OPERATIONS, submitOptions, waitMs } from './coordinator-operations.ts';
import {
  BATCH_MAX,
  COLUMNS_DEFAULT,
  COLUMNS_MAX,
  COLUMNS_MIN,
  PAGE_DEFAULT,
  PAGE_MAX,
} from './limits.ts';
import { get, LOOK, MAKE, type Operation, post, TAKE } from './operation.ts';
import { RECORD_TYPES } from './records.ts';
import * as f from './request-fields.ts';
import { anything, list, text } from './schema.ts';

const logFilter = {
  from: f.optional(f.whole(0, Number.MAX_SAFE_INTEGER, 'First record number, inclusive.')),
  limit: f.optional(f.whole(1, PAGE_MAX, `Records in the answer. Default: ${PAGE_DEFAULT}.`)),
  tail: f.optional(f.whole(1, PAGE_MAX, 'Only the last so many of the records that match.')),
  task: f.optional(f.name(f.TaskIdText)),
  queue: f.optional(f.name(f.QueueName)),
  type: f.optional(f.word(RECORD_TYPES, 'Only records of this type.')),
};

export const OPERATIONS = {
  ...COORDINATOR_OPERATIONS,
  explain: {
    socket: true,
    weight: 128,
    fields: {
      task_id: f.taskId(),
      columns: f.optional(
        f.whole(COLUMNS_MIN, COLUMNS_MAX, `Width of the text. Default: ${COLUMNS_DEFAULT}.`),
      ),
      at: f.optional(f.whole(1, Number.MAX_SAFE_INTEGER, 'As it was after this record.')),
      format: f.optional(f.word(['json', 'text', 'svg'], 'Instead of the Accept header.')),
    },
    http: {
      ...get('/v1/tasks/{task_id}/explain', 'tasks', 'story', LOOK),
      summary: 'Tell the story of a task: each attempt, and why there was another one.',
    },
  },
  log: {
    fields: {
      ...logFilter,
      follow: f.optional(f.word(['true', 'false'], 'true: goes on with what becomes durable.')),
    },
    http: {
      ...get('/v1/log', 'log', 'ndjson', LOOK),
      summary: 'Read the records, one JSON object a line.',
    },
  },
  /** On the socket a page of the log is one answer; who follows asks again from its `next`. */
  logPage: { socket: 'log', weight: 128, fields: { ...logFilter, wait_ms: waitMs } },
  segments: {
    fields: {},
    http: {
      ...get('/v1/segments', 'log', 'bytes'),
      summary: 'Read a whole copy of the log, for `leasehold backup --from`.',
    },
  },
  config: {
    socket: true,
    weight: 16,
    fields: {},
    http: {
      ...get('/v1/config'),
      summary: 'The knobs as they hold, and where each was set.',
    },
  },
  cluster: {
    socket: true,
    weight: 16,
    fields: {},
    http: {
      ...get('/v1/cluster'),
      refusals: [400],
      summary: 'Which node leads, and how far the others have followed.',
    },
  },
  auth: { fields: { token: f.name(text({ description: 'The shared secret.' })) }, socket: true },
  submitRaw: {
    fields: submitOptions,
    http: {
      ...post('/v1/queues/{queue}/tasks', 'tasks', 'Submitted', MAKE),
      summary: 'Make a task whose payload is the body.',
      rawBody: true,
      idempotencyKey: true,
    },
  },
  batch: {
    fields: {
      // Each request is looked at by itself when its turn comes: one bad one spoils no other.
      requests: f.anything(
        list(anything(), {
          maxItems: BATCH_MAX,
          description: 'Each with its `op` and the fields of that request, ids included.',
        }),
      ),
    },
    http: {
      ...post('/v1/batch', 'service', 'Batch', TAKE),
      summary: 'Ask many things at once; each is decided by itself, in order.',
    },
  },
  openapi: {
    fields: {},
    http: { ...get('/openapi.json'), refusals: [400], summary: 'This document.' },
  },
  livez: { fields: {}, http: { ...get('/livez'), open: true, summary: 'The process runs.' } },
  readyz: {
    fields: {},
    http: { ...get('/readyz'), open: true, summary: 'Requests are answered.' },
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];
/** @returns a row with all that rows may have. */
export const operationOf = (name: OperationName): Operation => OPERATIONS[name];

/** @returns something made for each row, by its name. */
export const byOperation = <T>(make: (row: Operation, name: OperationName) => T) =>
  Object.fromEntries(OPERATION_NAMES.map((name) => [name, make(operationOf(name), name)])) as {
    readonly [O in OperationName]: T;
  };

/** @returns the names of the rows that a condition holds for. */
export const operationsThat = (is: (row: Operation) => boolean): OperationName[] =>
  OPERATION_NAMES.filter((name) => is(operationOf(name)));
