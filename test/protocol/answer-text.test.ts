// Answers as they leave: bodies, problem details and statuses of every response.

import { expect } from 'chai';
import { rejected, unavailable } from '../../src/model/refusal.ts';
import type { Response } from '../../src/model/response.ts';
import { answerOf } from '../../src/protocol/answer-frame.ts';
import { format } from '../../src/protocol/answer-text.ts';

const json = (response: Response) => JSON.parse(format(response));
const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const lease = {
  taskId: 42,
  leaseId: 57,
  queue: 'mail',
  attempt: 2,
  maxRetries: 3,
  payload: bytes('\ufeff\0"é😀'),
  leaseExpiry: 1_030,
  leaseMs: 30,
  executionDeadline: 9_000,
  heartbeatIntervalMs: 10,
  createdAt: 900,
};
const leased = { kind: 'leased', waitedMs: 5, base64: false } as const;
const summary = {
  taskId: 1,
  queue: 'q',
  state: 'WAITING',
  attempt: 0,
  maxRetries: 3,
  backoffMs: 0,
  executionWindowMs: 5,
  createdAt: 1,
  expirations: 0,
  failures: 0,
  records: 1,
} as const;

describe('answers as JSON', () => {
  it('submit and redrive: 201 for a new task, 200 for one that was there', () => {
    const made = { kind: 'submitted', taskId: 1, state: 'WAITING', queue: 'q' } as const;
    const first: Response = { ...made, deduplicated: false, record: 1 };
    const second: Response = { ...made, deduplicated: true, record: null };
    const text = '"state":"WAITING","queue":"q","deduplicated":';
    expect(format(first)).to.equal(`{"task_id":"T1",${text}false,"record":1}`);
    expect(format(second)).to.equal(`{"task_id":"T1",${text}true,"record":null}`);
    expect([answerOf(first).status, answerOf(second).status]).to.deep.equal([201, 200]);
    const again = { kind: 'redriven', taskId: 9, originTaskId: 1, state: 'WAITING' } as const;
    const redriven: Response = { ...again, deduplicated: false, record: 9 };
    expect(answerOf(redriven).status).to.equal(201);
    expect(json(redriven)).to.deep.equal({
      task_id: 'T9',
      origin_task_id: 'T1',
      state: 'WAITING',
      deduplicated: false,
      record: 9,
    });
  });

  it('a lease', () => {
    const previous = {
      attempt: 1,
      leaseId: 50,
      workerId: 'w"1',
      ended: 'failed',
      at: 950,
    } as const;
    const got = json({
      ...leased,
      leases: [{ ...lease, previous: { ...previous, reason: 'no' }, metadata: { 'a"': 'b' } }],
    });
    expect(got).to.deep.equal({
      leases: [
        {
          task_id: 'T42',
          lease_id: 'L57',
          fencing_token: 57,
          queue: 'mail',
          attempt: 2,
          max_retries: 3,
          previous: {
            attempt: 1,
            lease_id: 'L50',
            worker_id: 'w"1',
            ended: 'failed',
            at: 950,
            reason: 'no',
          },
          metadata: { 'a"': 'b' },
          payload: '\ufeff\0"é😀',
          lease_expiry: 1_030,
          lease_ms: 30,
          waited_ms: 5,
          execution_deadline: 9_000,
          heartbeat_interval_ms: 10,
          created_at: 900,
        },
      ],
    });
  });

  it('payloads as text where they are text, else as base64, always when asked', () => {
    const one = (payload: Uint8Array, base64: boolean) =>
      json({ ...leased, base64, leases: [{ ...lease, payload }] }).leases[0];
    const binary = one(new Uint8Array([255, 254, 0]), false);
    expect(binary).to.include({ payload_base64: '//4A' }).and.not.to.have.property('payload');
    const asked = one(bytes('p'), true);
    expect(asked).to.include({ payload_base64: 'cA==' }).and.not.to.have.property('payload');
    expect(one(bytes(''), false).payload).to.equal('');
    // A view into the middle of something larger.
    expect(one(bytes('abc').subarray(1, 2), false).payload).to.equal('b');
  });

  it('no lease, and why', () => {
    const empty = { reason: 'not_yet_eligible', nextEligibleAt: 7 } as const;
    expect(json({ ...leased, leases: [], empty })).to.deep.equal({
      leases: [],
      empty: { reason: 'not_yet_eligible', next_eligible_at: 7 },
    });
    expect(json({ ...leased, leases: [], empty: { reason: 'no_task' } })).to.deep.equal({
      leases: [],
      empty: { reason: 'no_task' },
    });
  });

  it('heartbeats and reports', () => {
    const beat = { leaseExpiry: 9, leaseMs: 3, executionDeadline: 9 } as const;
    expect(json({ kind: 'heartbeat', ...beat, atCap: true, record: null })).to.deep.equal({
      outcome: 'OK',
      lease_expiry: 9,
      lease_ms: 3,
      execution_deadline: 9,
      at_cap: true,
      record: null,
    });
    expect(json({ kind: 'heartbeat', ...beat, atCap: false, record: 4 })).not.to.have.property(
      'at_cap',
    );
    const failed: Response = { kind: 'committed', taskState: 'WAITING', retryAt: 8, record: 5 };
    expect(format(failed)).to.equal(
      '{"outcome":"COMMITTED","task_state":"WAITING","retry_at":8,"record":5}',
    );
  });

  it('a task, with only the members that it has', () => {
    const shown: Response = { kind: 'task', task: summary, payload: bytes('p'), base64: false };
    expect(json(shown)).to.deep.equal({
      task_id: 'T1',
      queue: 'q',
      state: 'WAITING',
      attempt: 0,
      max_retries: 3,
      backoff_ms: 0,
      execution_window_ms: 5,
      created_at: 1,
      expirations: 0,
      failures: 0,
      records: 1,
      payload: 'p',
    });
    const held = { leaseId: 2, workerId: 'w', grantedAt: 1, leaseExpiry: 2, executionDeadline: 3 };
    const full = json({
      ...shown,
      task: {
        ...summary,
        requestId: 'r',
        originTaskId: 5,
        redrivenAs: 6,
        eligibleAt: 7,
        lease: held,
        endedAt: 8,
        retryAt: 9,
        lastFailureReason: 'no',
        lastFailureKind: 'error',
        deadReason: 'killed',
        metadata: { a: 'b' },
      },
      result: new Uint8Array([255]),
    });
    expect(full).to.deep.include({
      request_id: 'r',
      origin_task_id: 'T5',
      redriven_as: 'T6',
      eligible_at: 7,
      lease: {
        lease_id: 'L2',
        worker_id: 'w',
        granted_at: 1,
        lease_expiry: 2,
        execution_deadline: 3,
      },
      ended_at: 8,
      retry_at: 9,
      last_failure_reason: 'no',
      last_failure_kind: 'error',
      dead_reason: 'killed',
      metadata: { a: 'b' },
      result_base64: '/w==',
    });
  });

  it('a page of tasks', () => {
    const page = json({ kind: 'tasks', tasks: [summary, { ...summary, taskId: 3 }], next: 3 });
    expect(page.tasks.map((task: { task_id: string }) => task.task_id)).to.deep.equal(['T1', 'T3']);
    expect(page.next).to.equal('T3');
    expect(format({ kind: 'tasks', tasks: [], next: null })).to.equal('{"tasks":[],"next":null}');
  });

  it('a refusal is a problem document', () => {
    const refusal = rejected('duplicate_report', 'L57 was reported before.', {
      firstOutcome: 'COMMITTED',
      firstReport: 'fail',
      firstRecord: 60,
      taskState: 'FAILED',
    });
    const answer = answerOf(refusal);
    expect(answer).to.include({ status: 409, retryAfterSeconds: 0 });
    expect(JSON.parse(answer.body.toString())).to.deep.equal({
      type: 'urn:leasehold:duplicate_report',
      title: 'The lease has its outcome already',
      status: 409,
      detail: 'L57 was reported before.',
      outcome: 'REJECTED',
      reason: 'duplicate_report',
      first_outcome: 'COMMITTED',
      first_report: 'fail',
      first_record: 60,
      task_state: 'FAILED',
      record: null,
    });
  });

  it('is the same text in the mailbox, however long', () => {
    for (const length of [0, 100, 20_000, 30_000, 200_000]) {
      for (const text of ['x', 'é', '漢']) {
        const response: Response = { kind: 'overview', body: { text: text.repeat(length) } };
        expect(answerOf(response).body.toString()).to.equal(format(response));
      }
    }
  });

  it('UNAVAILABLE says when to try again', () => {
    const answer = answerOf(unavailable('log_unavailable', 'No room.', 2_500));
    expect(answer).to.include({ status: 503, retryAfterSeconds: 3 });
  });
});
