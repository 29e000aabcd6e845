// Owns the description of the answers for /openapi.json. Nothing validates with these: what an
// answer is, format.ts decides, and a test holds the two against each other.

import { REASONS } from '../model/refusal.ts';
import { TASK_STATES } from '../model/request.ts';
import { LeaseIdText, MetadataBody, QueueName, TaskIdText } from '../model/request-fields.ts';
import {
  as,
  boolean,
  integer,
  list,
  object,
  optional,
  type Schema,
  text,
} from '../model/schema.ts';

const closed = { additionalProperties: false } as const;
const word = (values: readonly string[], description: string) =>
  as<string>({ type: 'string', enum: [...values], description });
const time = (description: string) =>
  integer({ description: `${description} In ms since the epoch, by the coordinator's time.` });
const count = (description: string) => integer({ minimum: 0, description });
const State = word(TASK_STATES, 'Where the task stands.');
const Caused = as<number | null>({
  type: ['integer', 'null'],
  description: 'The number of the record that the request caused; null: none.',
});
const bytes = (name: string) => ({
  [name]: optional(text({ description: 'When the bytes are valid UTF-8.' })),
  [`${name}_base64`]: optional(text({ description: 'When they are not, or on request.' })),
});

const Submitted = object(
  {
    task_id: TaskIdText,
    state: State,
    queue: QueueName,
    deduplicated: boolean({ description: 'true: an earlier submit made this task.' }),
    record: Caused,
  },
  closed,
);
const Previous = object(
  {
    attempt: count('Its number.'),
    lease_id: LeaseIdText,
    worker_id: text({ description: 'Who held it.' }),
    ended: word(['expired', 'failed', 'released'], 'How it ended.'),
    at: time('When.'),
    reason: optional(text({ description: 'The reason of its fail.' })),
  },
  { ...closed, description: 'The attempt before this one.' },
);
const Lease = object(
  {
    task_id: TaskIdText,
    lease_id: LeaseIdText,
    fencing_token: integer({ description: 'Only ever grows: let stores refuse older ones.' }),
    queue: QueueName,
    attempt: count('1 for the first.'),
    max_retries: count('Further attempts after a failed one.'),
    previous: optional(Previous),
    metadata: optional(MetadataBody),
    ...bytes('payload'),
    lease_expiry: time('The lease holds until then.'),
    lease_ms: count('Time left when it was decided. In milliseconds.'),
    waited_ms: count('How long the request was parked before. In milliseconds.'),
    execution_deadline: time('No heartbeat extends the lease beyond this.'),
    heartbeat_interval_ms: count('How often a heartbeat is due. In milliseconds.'),
    created_at: time('When the task was submitted.'),
  },
  closed,
);
const Leased = object(
  {
    leases: list(Lease),
    empty: optional(
      object(
        {
          reason: word(['no_task', 'not_yet_eligible', 'at_capacity'], 'Why there is none.'),
          next_eligible_at: optional(time('When the next task becomes eligible.')),
        },
        closed,
      ),
    ),
  },
  closed,
);
const HeartbeatOk = object(
  {
    outcome: word(['OK'], 'The lease holds.'),
    lease_expiry: time('The lease holds until then.'),
    lease_ms: count('Time left when it was decided. In milliseconds.'),
    execution_deadline: time('No heartbeat extends the lease beyond this.'),
    at_cap: optional(boolean({ description: 'true: the lease can grow no more.' })),
    record: Caused,
  },
  closed,
);
const Committed = object(
  {
    outcome: word(['COMMITTED'], 'It was accepted, and is final for this attempt.'),
    task_state: State,
    retry_at: optional(time('When the task is eligible again.')),
    record: integer({ description: 'The number of the record that it caused.' }),
  },
  closed,
);
const Redriven = object(
  {
    task_id: TaskIdText,
    origin_task_id: TaskIdText,
    state: State,
    deduplicated: boolean({ description: 'true: it was redriven before, as this task.' }),
    record: Caused,
  },
  closed,
);
const summary = {
  task_id: TaskIdText,
  queue: QueueName,
  state: State,
  attempt: count('Attempts begun.'),
  max_retries: count('Further attempts after a failed one.'),
  backoff_ms: count('Pause after the first failure.'),
  execution_window_ms: count('Hard cap of ownership for each attempt.'),
  request_id: optional(text()),
  origin_task_id: optional(TaskIdText),
  redriven_as: optional(TaskIdText),
  created_at: time('When it was submitted.'),
  eligible_at: optional(time('When it can be leased, by delay or backoff.')),
  lease: optional(
    object(
      {
        lease_id: LeaseIdText,
        worker_id: text(),
        granted_at: time('When it was granted.'),
        lease_expiry: time('It holds until then.'),
        execution_deadline: time('No heartbeat extends it beyond this.'),
      },
      closed,
    ),
  ),
  ended_at: optional(time('When it became COMPLETED, FAILED or DEAD.')),
  expirations: count('Leases that expired.'),
  failures: count('Accepted fails, released ones not counted.'),
  retry_at: optional(time('When its backoff is over.')),
  last_failure_reason: optional(text()),
  last_failure_kind: optional(word(['error', 'permanent', 'released'], 'The last fail.')),
  metadata: optional(MetadataBody),
  records: count('Records about it in the log.'),
};
const Task = object({ ...summary, ...bytes('result'), ...bytes('payload') }, closed);
const Tasks = object(
  {
    tasks: list(object(summary, closed)),
    next: as<string | null>({
      type: ['string', 'null'],
      description: 'Give it as `after` to go on; null: the end was reached.',
    }),
  },
  closed,
);
const Batch = object(
  {
    answers: list(
      object({ http_status: integer() }, { description: 'The body it would have alone.' }),
    ),
  },
  closed,
);
const Problem = object(
  {
    type: text(),
    title: text(),
    status: integer(),
    detail: text(),
    outcome: word(['CANCELLED', 'REJECTED', 'UNAVAILABLE'], 'What a program decides by.'),
    reason: word(Object.keys(REASONS), 'Why, as a word.'),
    field: optional(text({ description: 'The field that is malformed, dotted.' })),
    first_outcome: optional(word(['COMMITTED', 'CANCELLED'], 'What the first report got.')),
    first_report: optional(word(['complete', 'fail'], 'Which the first report was.')),
    first_record: optional(integer()),
    task_state: optional(State),
    lease_expiry: optional(time('When the lease ran out.')),
    record: optional(Caused),
  },
  { description: 'A refusal (RFC 9457).' },
);
const Facts = object({}, { additionalProperties: true, description: 'Facts for people.' });

export const ANSWERS = {
  Submitted,
  Leased,
  HeartbeatOk,
  Committed,
  Redriven,
  Task,
  Tasks,
  Batch,
  Problem,
  Facts,
} as const satisfies Record<string, Schema>;
export type AnswerName = keyof typeof ANSWERS;
