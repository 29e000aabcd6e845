// Owns the description of each answer: its fields in the order of their text. The types of answers,
// their text, the OpenAPI document and what the client library shows are made from it.

import * as a from './answer-fields.ts';
import { FAILURE_KINDS } from './task-states.ts';

export const submitted = {
  task_id: a.taskId(),
  state: a.state(),
  queue: a.queue(),
  deduplicated: a.flag('true: an earlier submit made this task.'),
  record: a.caused(),
};

export const previous = {
  attempt: a.count('Its number.'),
  lease_id: a.leaseId(),
  worker_id: a.words('Who held it.'),
  ended: a.word(['expired', 'failed', 'released'], 'How it ended.'),
  at: a.time('When.'),
  reason: a.optional(a.words('The reason of its fail.')),
};

export const lease = {
  task_id: a.taskId(),
  lease_id: a.leaseId(),
  fencing_token: a.from('item.leaseId', a.number('Only ever grows: let stores refuse older ones.')),
  queue: a.queue(),
  attempt: a.count('1 for the first.'),
  max_retries: a.count('Further attempts after a failed one.'),
  previous: a.optional(a.object(previous, 'The attempt before this one.')),
  metadata: a.optional(a.metadata()),
  payload: a.bytes(),
  lease_expiry: a.time('The lease holds until then.'),
  lease_ms: a.count('Time left when it was decided. In milliseconds.'),
  waited_ms: a.from(
    'answer.waitedMs',
    a.count('How long the request was parked before. In milliseconds.'),
  ),
  execution_deadline: a.time('No heartbeat extends the lease beyond this.'),
  heartbeat_interval_ms: a.count('How often a heartbeat is due. In milliseconds.'),
  created_at: a.time('When the task was submitted.'),
};

export const empty = {
  reason: a.word(['no_task', 'not_yet_eligible', 'at_capacity'], 'Why there is none.'),
  next_eligible_at: a.optional(a.time('When the next task becomes eligible.')),
};

export const leased = { leases: a.list(lease), empty: a.optional(a.object(empty)) };

export const heartbeat = {
  outcome: a.constant('OK', 'The lease holds.'),
  lease_expiry: a.time('The lease holds until then.'),
  lease_ms: a.count('Time left when it was decided. In milliseconds.'),
  execution_deadline: a.time('No heartbeat extends the lease beyond this.'),
  at_cap: a.sign('true: the lease can grow no more.'),
  record: a.caused(),
};

export const committed = {
  outcome: a.constant('COMMITTED', 'It was accepted, and is final for this attempt.'),
  task_state: a.state(),
  retry_at: a.optional(a.time('When the task is eligible again.')),
  record: a.number('The number of the record that it caused.'),
};

export const redriven = {
  task_id: a.taskId(),
  origin_task_id: a.taskId(),
  state: a.state(),
  deduplicated: a.flag('true: it was redriven before, as this task.'),
  record: a.caused(),
};

/** What a list shows of a task; one task alone has its bytes too. */
export const summary = {
  task_id: a.taskId(),
  queue: a.queue(),
  state: a.state(),
  attempt: a.count('Attempts begun.'),
  max_retries: a.count('Further attempts after a failed one.'),
  backoff_ms: a.count('Pause after the first failure.'),
  execution_window_ms: a.count('Hard cap of ownership for each attempt.'),
  request_id: a.optional(a.words()),
  origin_task_id: a.optional(a.taskId()),
  redriven_as: a.optional(a.taskId()),
  created_at: a.time('When it was submitted.'),
  eligible_at: a.optional(a.time('When it can be leased, by delay or backoff.')),
  lease: a.optional(
    a.object({
      lease_id: a.leaseId(),
      worker_id: a.words(),
      granted_at: a.time('When it was granted.'),
      lease_expiry: a.time('It holds until then.'),
      execution_deadline: a.time('No heartbeat extends it beyond this.'),
    }),
  ),
  ended_at: a.optional(a.time('When it became COMPLETED, FAILED or DEAD.')),
  expirations: a.count('Leases that expired.'),
  failures: a.count('Accepted fails, released ones not counted.'),
  retry_at: a.optional(a.time('When its backoff is over.')),
  last_failure_reason: a.optional(a.words()),
  last_failure_kind: a.optional(a.word(FAILURE_KINDS, 'The last fail.')),
  dead_reason: a.optional(a.words('Why it is DEAD: what the kill said, or the poison rule.')),
  metadata: a.optional(a.metadata()),
  records: a.count('Records about it in the log.'),
};
export const taskBytes = { result: a.optional(a.bytes()), payload: a.bytes() };

export const tasks = { tasks: a.list(summary), next: a.next() };

/** What a refusal says besides its reason and what belongs to that. */
export const refusal = {
  field: a.optional(a.words('The field that is malformed, dotted.')),
  first_outcome: a.optional(a.word(['COMMITTED', 'CANCELLED'], 'What the first report got.')),
  first_report: a.optional(a.word(['complete', 'fail'], 'Which the first report was.')),
  first_record: a.optional(a.number()),
  task_state: a.optional(a.state()),
  lease_expiry: a.optional(a.time('When the lease ran out.')),
  leader: a.optional(a.words('With not_leader: the URL of the node to ask instead.')),
  record: a.caused(),
};

/** What is true of queues and workers beside their rows. */
const ofList = {
  next: a.cursor(),
  more: a.count('How many rows stand after the last one.'),
  now: a.time('When the list was made.'),
  since: a.time('Since when what is in no record is known: the last start of the coordinator.'),
  advisory: a.words('Which of it is in no record, as a sentence.'),
};

export const queues = {
  queues: a.list({
    queue: a.queue(),
    waiting: a.count('Tasks that are WAITING, eligible or not.'),
    leased: a.count('Tasks that are LEASED.'),
    completed: a.count('Tasks that are COMPLETED, and remembered.'),
    failed: a.count('Tasks that are FAILED, and remembered.'),
    dead: a.count('Tasks that are DEAD, and remembered.'),
    eligible: a.count('Waiting tasks that can be leased now.'),
    delayed: a.count('Waiting tasks whose time has not come, by delay or backoff.'),
    oldest_waiting_ms: a.count('Age of the oldest eligible task since it is so. In milliseconds.'),
    next_eligible_at: a.optional(a.time('When the next delayed task becomes eligible.')),
    last_asked_at: a.optional(a.time('When a worker last asked for a lease from this queue.')),
    last_asked_by: a.optional(a.words('Which worker that was.')),
    parked_requests: a.count('Lease requests that wait for a task of this queue.'),
    submitted_per_second: a.rate('Tasks that came, a second, in the last minute.'),
    finished_per_second: a.rate('Tasks that ended, a second, in the last minute.'),
  }),
  ...ofList,
};

export const workers = {
  workers: a.list({
    worker_id: a.words('As it names itself. Two processes may bear one name.'),
    last_seen_at: a.optional(a.time('Its last request; absent: none since the start.')),
    capacity: a.optional(a.count('How many leases it says it can hold.')),
    active_leases: a.count('Leases that it holds.'),
    leases: a.names('Up to a hundred of them.'),
    next_lease_expiry: a.optional(a.time('When the first of its leases runs out.')),
  }),
  ...ofList,
};
