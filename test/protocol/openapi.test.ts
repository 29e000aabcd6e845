// Holds what /openapi.json says about answers against what answer-text.ts makes of them.

import { Ajv } from 'ajv';
import { expect } from 'chai';
import { REASONS, rejected } from '../../src/model/refusal.ts';
import type { Response, TaskSummary } from '../../src/model/response.ts';
import { ANSWERS, type AnswerName } from '../../src/protocol/answer-schemas.ts';
import { format } from '../../src/protocol/answer-text.ts';
import { openApi } from '../../src/protocol/openapi.ts';

const payload = new Uint8Array([255]);
const summary: TaskSummary = {
  taskId: 1,
  queue: 'q',
  state: 'LEASED',
  attempt: 2,
  maxRetries: 3,
  backoffMs: 0,
  executionWindowMs: 5,
  requestId: 'r',
  originTaskId: 5,
  redrivenAs: 6,
  createdAt: 1,
  eligibleAt: 7,
  lease: { leaseId: 2, workerId: 'w', grantedAt: 1, leaseExpiry: 2, executionDeadline: 3 },
  endedAt: 8,
  expirations: 0,
  failures: 1,
  retryAt: 9,
  lastFailureReason: 'no',
  lastFailureKind: 'error',
  deadReason: 'killed',
  metadata: { a: 'b' },
  records: 1,
};
const made = { taskId: 1, state: 'WAITING', deduplicated: false, record: 1 } as const;

const answers: readonly (readonly [AnswerName, Response])[] = [
  ['Submitted', { kind: 'submitted', queue: 'q', ...made }],
  ['Redriven', { kind: 'redriven', originTaskId: 4, ...made, record: null }],
  ['Committed', { kind: 'committed', taskState: 'WAITING', retryAt: 5, record: 6 }],
  [
    'HeartbeatOk',
    {
      kind: 'heartbeat',
      leaseExpiry: 1,
      leaseMs: 0,
      executionDeadline: 3,
      atCap: true,
      record: null,
    },
  ],
  [
    'Leased',
    {
      kind: 'leased',
      waitedMs: 0,
      base64: false,
      leases: [
        {
          taskId: 1,
          leaseId: 2,
          queue: 'q',
          attempt: 2,
          maxRetries: 3,
          previous: {
            attempt: 1,
            leaseId: 1,
            workerId: 'w',
            ended: 'failed',
            at: 1,
            reason: 'no',
          },
          metadata: { a: 'b' },
          payload,
          leaseExpiry: 1,
          leaseMs: 2,
          executionDeadline: 3,
          heartbeatIntervalMs: 4,
          createdAt: 5,
        },
      ],
      empty: { reason: 'not_yet_eligible', nextEligibleAt: 5 },
    },
  ],
  ['Task', { kind: 'task', task: summary, payload, result: payload, base64: false }],
  ['Tasks', { kind: 'tasks', tasks: [summary], next: 1 }],
  ['Tasks', { kind: 'tasks', tasks: [], next: null }],
  [
    'Problem',
    rejected('duplicate_report', 'Before.', {
      firstOutcome: 'COMMITTED',
      firstReport: 'fail',
      firstRecord: 3,
      taskState: 'DEAD',
      leaseExpiry: 4,
      field: 'f',
    }),
  ],
];

describe('the OpenAPI document', () => {
  for (const [name, response] of answers) {
    it(`describes ${name} as it is (${response.kind})`, () => {
      const validator = new Ajv({ allErrors: true, strict: false }).compile(ANSWERS[name]);
      validator(JSON.parse(format(response)));
      expect(validator.errors).to.equal(null);
    });
  }

  it('names every reason that a refusal can have', () => {
    const { reason } = ANSWERS.Problem.properties;
    expect(reason).to.have.property('enum').that.has.members(Object.keys(REASONS));
    expect(ANSWERS.Problem.required).to.include('reason');
  });

  it('refers only to what it has', () => {
    const text = JSON.stringify(openApi('1.2.3'));
    const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).to.be.greaterThan(20);
    for (const [, name] of references) expect(ANSWERS).to.have.property(name ?? '');
    expect(text).to.include('"version":"1.2.3"');
  });
});
