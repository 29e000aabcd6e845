// Owns the form of everything that is asked, once: these schemas validate, give the types and are
// what the OpenAPI document shows. What a schema cannot say (bytes, surrogates) parse.ts checks.

import {
  BATCH_MAX,
  COLUMNS_DEFAULT,
  COLUMNS_MAX,
  COLUMNS_MIN,
  DURATION_MAX,
  ID_MAX_BYTES,
  LEASES_MAX,
  PAGE_DEFAULT,
  PAGE_MAX,
  QUEUE_PATTERN,
  QUEUES_MAX,
  REASON_MAX_BYTES,
  WAIT_MAX_MS,
} from '../model/limits.ts';
import { RECORD_TYPES } from '../model/records.ts';
import { TASK_STATES } from '../model/request.ts';
import {
  anything,
  as,
  integer,
  list,
  number,
  object,
  optional,
  type Schema,
  type Static,
  text,
} from './schema.ts';

const closed = { additionalProperties: false } as const;

const choice = <const T extends string>(values: readonly T[], description: string) =>
  as<T>({ type: 'string', enum: [...values], description });
const whole = (minimum: number, maximum: number, description: string) =>
  integer({ minimum, maximum, description });
const duration = (minimum: 0 | 1, description: string) =>
  whole(minimum, DURATION_MAX, `${description} In milliseconds.`);
const id = (description: string) => text({ minLength: 1, maxLength: ID_MAX_BYTES, description });

export const TaskIdText = text({
  pattern: '^T[1-9][0-9]{0,15}$',
  description: 'A task id, as submit answered it.',
});
export const LeaseIdText = text({
  pattern: '^L[1-9][0-9]{0,15}$',
  description: 'A lease id, as lease answered it.',
});
export const QueueName = text({
  pattern: QUEUE_PATTERN,
  description: 'A queue: 1 to 128 of A-Z a-z 0-9 . _ : -',
});
const Reason = text({ maxLength: REASON_MAX_BYTES, description: 'A reason for people.' });
const Wait = whole(0, WAIT_MAX_MS, 'How long the answer may wait. In milliseconds.');
const Encoding = choice(['base64'], 'base64: payloads and results are given as base64 always.');
const Payload = text({ description: 'The payload: opaque, given back byte for byte.' });
const PayloadBase64 = text({ description: 'The payload in padded standard base64.' });

const ExecutionWindow = duration(1, 'Hard cap of ownership for each attempt.');
const MaxRetries = whole(0, Number.MAX_SAFE_INTEGER, 'Further attempts after a failed one.');
const Backoff = duration(0, 'Pause after the first failure.');
const Delay = duration(0, 'The task is not eligible before so much time is over.');
const RequestId = id(
  'Names this submit: repeated while the task is remembered, it is answered with that task.',
);

export const RetryPolicyBody = object(
  {
    max_retries: optional(MaxRetries),
    backoff_ms: optional(Backoff),
    backoff_factor: optional(
      number({ minimum: 1, maximum: 100, description: 'Growth of the pause per failure.' }),
    ),
    backoff_max_ms: optional(duration(0, 'The pause grows no longer than this.')),
  },
  { ...closed, description: 'What follows a failed attempt. Absent fields: the knobs.' },
);
// The keys are the user's own: `additionalProperties` reaches all of them, a pattern would not.
export const MetadataBody = as<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Facts carried along: strings, 4 KiB of keys and values in all.',
});

export const SubmitBody = object(
  {
    payload: optional(Payload),
    payload_base64: optional(PayloadBase64),
    queue: optional(QueueName),
    request_id: optional(RequestId),
    execution_window_ms: optional(ExecutionWindow),
    retry_policy: optional(RetryPolicyBody),
    delay_ms: optional(Delay),
    metadata: optional(MetadataBody),
  },
  { ...closed, description: 'Exactly one of payload and payload_base64 is given.' },
);
/** The options of a submit whose body is the payload. */
export const SubmitQuery = object(
  {
    request_id: optional(RequestId),
    execution_window_ms: optional(ExecutionWindow),
    max_retries: optional(MaxRetries),
    backoff_ms: optional(Backoff),
    delay_ms: optional(Delay),
  },
  closed,
);
export const LeaseBody = object(
  {
    worker_id: id('Who asks. Advisory: the lease id alone is the authority.'),
    queues: optional(
      list(QueueName, {
        minItems: 1,
        maxItems: QUEUES_MAX,
        description: 'Queues to lease from, together in order of eligibility. Default: default.',
      }),
    ),
    max: optional(whole(1, LEASES_MAX, 'Leases to be granted at most.')),
    wait_ms: optional(Wait),
    capacity: optional(
      whole(1, Number.MAX_SAFE_INTEGER, 'Leases that this worker can hold in all.'),
    ),
    encoding: optional(Encoding),
  },
  closed,
);
const report = { task_id: TaskIdText, lease_id: LeaseIdText };
export const HeartbeatBody = object(report, closed);
export const CompleteBody = object(
  {
    ...report,
    result: optional(text({ description: 'What came of it: opaque.' })),
    result_base64: optional(text({ description: 'The result in padded standard base64.' })),
  },
  { ...closed, description: 'At most one of result and result_base64 is given.' },
);
export const FailBody = object(
  {
    ...report,
    reason: Reason,
    kind: optional(
      choice(
        ['error', 'permanent', 'released'],
        'error: by the retry policy; permanent: no further attempt; released: given back unharmed.',
      ),
    ),
  },
  closed,
);
export const KillBody = object({ task_id: TaskIdText, reason: optional(Reason) }, closed);
export const RedriveBody = object({ task_id: TaskIdText }, closed);
export const TaskQuery = object(
  { task_id: TaskIdText, wait_ms: optional(Wait), encoding: optional(Encoding) },
  closed,
);
export const TasksQuery = object(
  {
    state: optional(choice(TASK_STATES, 'Only tasks in this state.')),
    queue: optional(QueueName),
    request_id: optional(id('Only the task with this request id.')),
    after: optional(
      as<string | number>({
        anyOf: [TaskIdText, { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }],
        description: "Only tasks after this one: an answer's `next`.",
      }),
    ),
    limit: optional(whole(1, PAGE_MAX, `Tasks in the answer. Default: ${PAGE_DEFAULT}.`)),
  },
  closed,
);
export const ExplainQuery = object(
  {
    task_id: TaskIdText,
    columns: optional(
      whole(COLUMNS_MIN, COLUMNS_MAX, `Width of the text. Default: ${COLUMNS_DEFAULT}.`),
    ),
    at: optional(whole(1, Number.MAX_SAFE_INTEGER, 'As it was after this record.')),
    format: optional(choice(['json', 'text', 'svg'], 'Instead of the Accept header.')),
  },
  closed,
);
const logFilter = {
  from: optional(whole(0, Number.MAX_SAFE_INTEGER, 'First record number, inclusive.')),
  limit: optional(whole(1, PAGE_MAX, `Records in the answer. Default: ${PAGE_DEFAULT}.`)),
  tail: optional(whole(1, PAGE_MAX, 'Only the last so many of the records that match.')),
  task: optional(TaskIdText),
  queue: optional(QueueName),
  type: optional(choice(RECORD_TYPES, 'Only records of this type.')),
};
const Follow = choice(['true', 'false'], 'true: goes on with what becomes durable.');
export const LogQuery = object({ ...logFilter, follow: optional(Follow) }, closed);
/** On the socket a page of the log is one answer; who follows asks again from its `next`. */
export const LogPageBody = object({ ...logFilter, wait_ms: optional(Wait) }, closed);
export const AuthBody = object({ token: text({ description: 'The shared secret.' }) }, closed);
export const NothingBody = object({}, closed);
/** Each request is looked at by itself when its turn comes: one bad one spoils no other. */
export const BatchBody = object(
  {
    requests: list(anything(), {
      maxItems: BATCH_MAX,
      description: 'Each with its `op` and the fields of that request, ids included.',
    }),
  },
  closed,
);

export type SubmitFields = Static<typeof SubmitBody>;
export type SubmitQueryFields = Static<typeof SubmitQuery>;
export type LeaseFields = Static<typeof LeaseBody>;
export type HeartbeatFields = Static<typeof HeartbeatBody>;
export type CompleteFields = Static<typeof CompleteBody>;
export type FailFields = Static<typeof FailBody>;
export type KillFields = Static<typeof KillBody>;
export type RedriveFields = Static<typeof RedriveBody>;
export type TaskFields = Static<typeof TaskQuery>;
export type TasksFields = Static<typeof TasksQuery>;
export type ExplainFields = Static<typeof ExplainQuery>;
export type LogFields = Static<typeof LogQuery>;
export type LogPageFields = Static<typeof LogPageBody>;
export type BatchFields = Static<typeof BatchBody>;
export type AuthFields = Static<typeof AuthBody>;

/** What each verb takes; the socket's methods and a batch's ops are the same words. */
export const SCHEMAS = {
  submit: SubmitBody,
  lease: LeaseBody,
  heartbeat: HeartbeatBody,
  complete: CompleteBody,
  fail: FailBody,
  kill: KillBody,
  redrive: RedriveBody,
  task: TaskQuery,
  tasks: TasksQuery,
  explain: ExplainQuery,
  auth: AuthBody,
  stats: NothingBody,
  queues: NothingBody,
  workers: NothingBody,
  config: NothingBody,
  'submit-query': SubmitQuery,
  log: LogQuery,
  'log-page': LogPageBody,
  batch: BatchBody,
} as const satisfies Record<string, Schema>;
export type Form = keyof typeof SCHEMAS;
