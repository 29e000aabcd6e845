// Owns the list of HTTP operations as /openapi.json shows it. The routes are in actors/; a test
// holds the two lists against each other.

import type { AnswerName } from './answer-schemas.ts';
import type { Form } from './schemas.ts';

export interface Operation {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly id: string;
  readonly tag: 'tasks' | 'leases' | 'log' | 'service';
  readonly summary: string;
  /** Whose fields stand in the query (get), or in a JSON body (post). */
  readonly form?: Form;
  /** The body is a payload of any type, and the form's fields stand in the query. */
  readonly rawBody?: true;
  /** Success; a media type other than JSON where named. */
  readonly answers: Readonly<Record<number, AnswerName | 'text' | 'ndjson' | 'story'>>;
  readonly refusals: readonly number[];
  /** Asks for no token. */
  readonly open?: true;
}

const CHANGE = [400, 404, 409, 413, 503] as const;

export const OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/tasks',
    id: 'submit',
    tag: 'tasks',
    summary:
      'Make a task. A repeat with its request_id answers the same task while it is remembered.',
    form: 'submit',
    answers: { 201: 'Submitted', 200: 'Submitted' },
    refusals: [400, 413, 422, 503],
  },
  {
    method: 'post',
    path: '/v1/queues/{queue}/tasks',
    id: 'submitRaw',
    tag: 'tasks',
    summary: 'Make a task whose payload is the body.',
    form: 'submit-query',
    rawBody: true,
    answers: { 201: 'Submitted', 200: 'Submitted' },
    refusals: [400, 413, 422, 503],
  },
  {
    method: 'get',
    path: '/v1/tasks',
    id: 'listTasks',
    tag: 'tasks',
    summary: 'List tasks in the order of their numbers, without payloads and results.',
    form: 'tasks',
    answers: { 200: 'Tasks' },
    refusals: [400, 503],
  },
  {
    method: 'get',
    path: '/v1/tasks/{task_id}',
    id: 'getTask',
    tag: 'tasks',
    summary: 'Show a task; with wait_ms, once it is over.',
    form: 'task',
    answers: { 200: 'Task' },
    refusals: [400, 404, 503],
  },
  {
    method: 'get',
    path: '/v1/tasks/{task_id}/explain',
    id: 'explain',
    tag: 'tasks',
    summary: 'Tell the story of a task: each attempt, and why there was another one.',
    form: 'explain',
    answers: { 200: 'story' },
    refusals: [400, 404, 503],
  },
  {
    method: 'post',
    path: '/v1/tasks/{task_id}/kill',
    id: 'kill',
    tag: 'tasks',
    summary: 'End a task for good; whoever works on it is told at the next heartbeat or report.',
    form: 'kill',
    answers: { 200: 'Committed' },
    refusals: CHANGE,
  },
  {
    method: 'post',
    path: '/v1/tasks/{task_id}/redrive',
    id: 'redrive',
    tag: 'tasks',
    summary: 'Make a new task of a FAILED or DEAD one.',
    form: 'redrive',
    answers: { 201: 'Redriven', 200: 'Redriven' },
    refusals: CHANGE,
  },
  {
    method: 'post',
    path: '/v1/leases',
    id: 'lease',
    tag: 'leases',
    summary: 'Take over tasks for a time; with wait_ms, as soon as there is one.',
    form: 'lease',
    answers: { 200: 'Leased' },
    refusals: [400, 413, 503],
  },
  {
    method: 'post',
    path: '/v1/leases/{lease_id}/heartbeat',
    id: 'heartbeat',
    tag: 'leases',
    summary: 'Hold a lease longer.',
    form: 'heartbeat',
    answers: { 200: 'HeartbeatOk' },
    refusals: CHANGE,
  },
  {
    method: 'post',
    path: '/v1/leases/{lease_id}/complete',
    id: 'complete',
    tag: 'leases',
    summary: 'Report that the work is done.',
    form: 'complete',
    answers: { 200: 'Committed' },
    refusals: CHANGE,
  },
  {
    method: 'post',
    path: '/v1/leases/{lease_id}/fail',
    id: 'fail',
    tag: 'leases',
    summary: 'Report that the work failed, or give it back.',
    form: 'fail',
    answers: { 200: 'Committed' },
    refusals: CHANGE,
  },
  {
    method: 'post',
    path: '/v1/batch',
    id: 'batch',
    tag: 'service',
    summary: 'Ask many things at once; each is decided by itself, in order.',
    form: 'batch',
    answers: { 200: 'Batch' },
    refusals: [400, 413, 503],
  },
  {
    method: 'get',
    path: '/v1/log',
    id: 'log',
    tag: 'log',
    summary: 'Read the records, one JSON object a line.',
    form: 'log',
    answers: { 200: 'ndjson' },
    refusals: [400, 503],
  },
  ...(['stats', 'queues', 'workers', 'config'] as const).map(
    (id): Operation => ({
      method: 'get',
      path: `/v1/${id}`,
      id,
      tag: 'service',
      summary: {
        stats: 'Counts by state and queue.',
        queues: 'The queues that hold tasks.',
        workers: 'The workers that gave a sign of life; advisory.',
        config: 'The knobs as they hold, and where each was set.',
      }[id],
      answers: { 200: 'Facts' },
      refusals: [400, 503],
    }),
  ),
  {
    method: 'get',
    path: '/metrics',
    id: 'metrics',
    tag: 'service',
    summary: 'Metrics as Prometheus text.',
    answers: { 200: 'text' },
    refusals: [400, 503],
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'openapi',
    tag: 'service',
    summary: 'This document.',
    answers: { 200: 'Facts' },
    refusals: [400],
  },
  ...(['livez', 'readyz'] as const).map(
    (id): Operation => ({
      method: 'get',
      path: `/${id}`,
      id,
      tag: 'service',
      summary: id === 'livez' ? 'The process runs.' : 'Requests are answered.',
      answers: { 200: 'Facts' },
      refusals: [400, 503],
      open: true,
    }),
  ),
];
