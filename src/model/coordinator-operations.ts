// Owns the rows of the operations that the coordinator decides: what can be asked of it, with which
// fields, and what follows. The whole table is operations.ts.

import { LEASES_MAX, QUEUES_MAX, WAIT_MAX_MS } from './limits.ts';
import { queuesFields, tasksFields, workersFields } from './list-requests.ts';
import { CHANGE, get, LIST, LOOK, MAKE, type Operation, post, TAKE } from './operation.ts';
import * as f from './request-fields.ts';
import { FAILURE_KINDS } from './task-states.ts';

const ANY = Number.MAX_SAFE_INTEGER;

export const waitMs = f.filled(
  f.whole(0, WAIT_MAX_MS, 'How long the answer may wait. In milliseconds.'),
  0,
);
const encoding = f.filled(
  f.flag('base64', 'base64: payloads and results are given as base64 always.'),
  false,
);
const queue = f.name(f.QueueName);
const held = { task_id: f.taskId(), lease_id: f.leaseId() };

/** The options of a submit whose body is the payload; its JSON has them too. */
export const submitOptions = {
  request_id: f.optional(
    f.identifier(
      'Names this submit: repeated while the task is remembered, it is answered with that task.',
    ),
  ),
  execution_window_ms: f.counted(
    'w',
    f.optional(f.duration(1, 'Hard cap of ownership for each attempt.')),
  ),
  max_retries: f.counted('r', f.optional(f.whole(0, ANY, 'Further attempts after a failed one.'))),
  backoff_ms: f.counted('b', f.optional(f.duration(0, 'Pause after the first failure.'))),
  delay_ms: f.optional(f.duration(0, 'The task is not eligible before so much time is over.')),
};

export const COORDINATOR_OPERATIONS = {
  submit: {
    coordinator: 'record',
    socket: true,
    batch: true,
    note: 'Exactly one of payload and payload_base64 is given.',
    fields: {
      payload: f.bytes(
        'The payload: opaque, given back byte for byte.',
        'The payload in padded standard base64.',
      ),
      queue: f.filled(queue, 'default'),
      request_id: submitOptions.request_id,
      content_hash: f.made(f.bytes('First 16 bytes of SHA-256, with a request_id only.', '')),
      execution_window_ms: submitOptions.execution_window_ms,
      retry_policy: f.group('What follows a failed attempt. Absent fields: the knobs.', {
        max_retries: submitOptions.max_retries,
        backoff_ms: submitOptions.backoff_ms,
        backoff_factor: f.counted(
          'f',
          f.optional(f.fraction(1, 100, 'Growth of the pause per failure.')),
        ),
        backoff_max_ms: f.counted(
          'm',
          f.optional(f.duration(0, 'The pause grows no longer than this.')),
        ),
      }),
      delay_ms: submitOptions.delay_ms,
      metadata: f.optional(f.metadata()),
    },
    http: {
      ...post('/v1/tasks', 'tasks', 'Submitted', MAKE),
      summary:
        'Make a task. A repeat with its request_id answers the same task while it is remembered.',
      idempotencyKey: true,
    },
  },
  lease: {
    coordinator: 'leases',
    socket: true,
    batch: true,
    once: true,
    fields: {
      worker_id: f.identifier('Who asks. Advisory: the lease id alone is the authority.'),
      queues: f.filled(
        f.names(
          f.QueueName,
          QUEUES_MAX,
          'Queues to lease from, together in order of eligibility. Default: default.',
        ),
        ['default'],
      ),
      max: f.filled(f.whole(1, LEASES_MAX, 'Leases to be granted at most.'), 1),
      wait_ms: waitMs,
      capacity: f.optional(f.whole(1, ANY, 'Leases that this worker can hold in all.')),
      encoding,
    },
    http: {
      ...post('/v1/leases', 'leases', 'Leased', TAKE),
      summary: 'Take over tasks for a time; with wait_ms, as soon as there is one.',
      inQuery: ['encoding'],
    },
  },
  heartbeat: {
    coordinator: 'record',
    inProgress: true,
    socket: true,
    batch: true,
    fields: held,
    http: {
      ...post('/v1/leases/{lease_id}/heartbeat', 'leases', 'HeartbeatOk', CHANGE),
      summary: 'Hold a lease longer.',
    },
  },
  complete: {
    coordinator: 'record',
    inProgress: true,
    socket: true,
    batch: true,
    note: 'At most one of result and result_base64 is given.',
    fields: {
      ...held,
      result: f.optional(
        f.bytes('What came of it: opaque.', 'The result in padded standard base64.'),
      ),
    },
    http: {
      ...post('/v1/leases/{lease_id}/complete', 'leases', 'Committed', CHANGE),
      summary: 'Report that the work is done.',
    },
  },
  fail: {
    coordinator: 'record',
    inProgress: true,
    socket: true,
    batch: true,
    fields: {
      ...held,
      reason: f.reason(),
      kind: f.filled(
        f.word(
          FAILURE_KINDS,
          'error: by the retry policy; permanent: no further attempt; ' +
            'released: given back unharmed.',
        ),
        'error',
      ),
    },
    http: {
      ...post('/v1/leases/{lease_id}/fail', 'leases', 'Committed', CHANGE),
      summary: 'Report that the work failed, or give it back.',
    },
  },
  kill: {
    coordinator: 'record',
    socket: true,
    batch: true,
    fields: { task_id: f.taskId(), reason: f.filled(f.reason(), 'killed') },
    http: {
      ...post('/v1/tasks/{task_id}/kill', 'tasks', 'Committed', CHANGE),
      summary: 'End a task for good; whoever works on it is told at the next heartbeat or report.',
    },
  },
  redrive: {
    coordinator: 'record',
    socket: true,
    batch: true,
    once: true,
    fields: { task_id: f.taskId() },
    http: {
      ...post('/v1/tasks/{task_id}/redrive', 'tasks', 'Redriven', CHANGE),
      summary: 'Make a new task of a FAILED or DEAD one.',
    },
  },
  task: {
    coordinator: 'read',
    socket: true,
    weight: 16,
    fields: { task_id: f.taskId(), wait_ms: waitMs, encoding },
    http: {
      ...get('/v1/tasks/{task_id}', 'tasks', 'Task', LOOK),
      id: 'getTask',
      summary: 'Show a task; with wait_ms, once it is over.',
    },
  },
  tasks: {
    coordinator: 'read',
    socket: true,
    weight: 128,
    fields: tasksFields,
    http: {
      ...get('/v1/tasks', 'tasks', 'Tasks', LIST),
      id: 'listTasks',
      summary: 'List tasks in the order of their numbers, without payloads and results.',
    },
  },
  /** What is true of a task now: the reader asks, to explain it. */
  standing: { coordinator: 'read', fields: { task_id: f.taskId() } },
  stats: {
    coordinator: 'read',
    socket: true,
    fields: {},
    http: { ...get('/v1/stats'), summary: 'Counts by state and queue.' },
  },
  queues: {
    coordinator: 'read',
    socket: true,
    weight: 128,
    fields: queuesFields,
    http: { ...get('/v1/queues', 'service', 'Queues'), summary: 'The queues that hold tasks.' },
  },
  workers: {
    coordinator: 'read',
    socket: true,
    weight: 128,
    fields: workersFields,
    http: {
      ...get('/v1/workers', 'service', 'Workers'),
      summary: 'The workers that gave a sign of life or hold leases; advisory.',
    },
  },
  metrics: {
    coordinator: 'read',
    fields: {},
    http: { ...get('/metrics'), answer: 'text', summary: 'Metrics as Prometheus text.' },
  },
} as const satisfies Record<string, Operation>;
