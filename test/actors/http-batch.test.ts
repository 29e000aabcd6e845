// Shows a batch over HTTP: its answers stand in the order of its requests, and are bounded.

import { expect } from 'chai';
import { askBatch } from '../../actors/http/batch.ts';
import { BatchBytes } from '../../actors/ingress/batch-bytes.ts';
import type { Asker, Gate } from '../../actors/ingress/gate.ts';
import { rejected } from '../../src/model/refusal.ts';
import type { Request } from '../../src/model/request.ts';
import { Answer } from '../../src/protocol/answer-frame.ts';
import { type Decide, type Stage, send, startServer } from './http-support.ts';

const committed: Decide = () => ({ kind: 'committed', taskState: 'COMPLETED', record: 3 });

describe('a batch over HTTP', () => {
  let stage: Stage;
  before(async () => {
    stage = await startServer();
  });
  after(() => stage.server.stop());

  it('is answered in order, each by itself, in one run of the mailbox', async () => {
    const late: number[] = [];
    stage.coordinator.decide = (request, ticket) => {
      if (request.op !== 'submit') return committed(request, ticket);
      late.push(ticket);
      return undefined;
    };
    const report = { task_id: 'T1', lease_id: 'L2' };
    const sent = send(stage.port, 'POST', '/v1/batch', {
      requests: [
        { op: 'submit', payload: 'a' },
        { op: 'complete', ...report },
        { op: 'submit', payload: 5 },
        { op: 'lease', worker_id: 'w', wait_ms: 5 },
        { op: 'explode' },
        5,
        { op: 'task', task_id: 'T1' },
        { op: 'kill', task_id: 'T1', __proto__x: 1 },
        { op: 'submit', payload: 'b', payload_base64: 'Yg==' },
        { op: 'submit', payload: 'b' },
      ],
    });
    while (late.length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
    for (const ticket of late.reverse()) {
      stage.coordinator.answer(ticket, { ...rejected('too_large', 'Late.'), record: ticket });
    }
    const { status, json } = await sent;
    expect(status).to.equal(200);
    const seen = json.answers.map((one: Record<string, unknown>) => [
      one['http_status'],
      one['reason'] ?? one['task_state'],
      one['field'],
    ]);
    expect(seen).to.deep.equal([
      [413, 'too_large', undefined],
      [200, 'COMPLETED', undefined],
      [400, 'malformed', 'payload'],
      [400, 'malformed', 'wait_ms'],
      [400, 'malformed', 'op'],
      [400, 'malformed', undefined],
      [400, 'malformed', 'op'],
      [400, 'malformed', '__proto__x'],
      [400, 'malformed', 'payload_base64'],
      [413, 'too_large', undefined],
    ]);
    const records = json.answers.map((one: { record: number }) => one.record);
    expect(records[0]).to.be.lessThan(records[9]);
    expect(stage.coordinator.asked.map(({ request }) => request.op)).to.deep.equal([
      'submit',
      'complete',
      'submit',
    ]);
  });

  it('refuses leases whose answers would be too large to hold, and nothing else', async () => {
    stage.coordinator.decide = () => rejected('unknown_task', 'Asked.');
    const report = { op: 'complete', task_id: 'T1', lease_id: 'L2' };
    const leases = Array.from({ length: 70 }, () => ({ op: 'lease', worker_id: 'w', max: 1_000 }));
    const requests = [...leases, report];
    const { json } = await send(stage.port, 'POST', '/v1/batch', { requests });
    const fields = json.answers.map((one: { field?: string }) => one.field);
    expect(fields.indexOf('max')).to.equal(63);
    expect(fields.slice(63)).to.deep.equal([...Array(7).fill('max'), undefined]);
    expect(json.answers[63]).to.include({ http_status: 400, reason: 'malformed' });
    expect(json.answers[70]).to.include({ http_status: 404, reason: 'unknown_task' });
  });

  it('asks for no more heavy answers than there is room for, and for the rest later', async () => {
    const opened: number[] = [];
    stage.coordinator.decide = (request, ticket) => {
      if (request.op !== 'lease') return committed(request, ticket);
      opened.push(ticket);
      return undefined;
    };
    const before = stage.coordinator.asked.length;
    const asked = (): string[] =>
      stage.coordinator.asked.slice(before).map(({ request }) => request.op);
    const report = { op: 'complete', task_id: 'T1', lease_id: 'L2' };
    const leases = Array.from({ length: 20 }, () => ({ op: 'lease', worker_id: 'w', max: 250 }));
    const sent = send(stage.port, 'POST', '/v1/batch', { requests: [...leases, report] });
    while (opened.length < 15) await new Promise((resolve) => setImmediate(resolve));
    // The mailbox and the ingress have their turns; nothing else is asked meanwhile.
    for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(asked()).to.deep.equal(Array(15).fill('lease'));
    const answer = (): void => {
      for (const ticket of opened.splice(0)) {
        stage.coordinator.answer(ticket, rejected('unknown_task', 'Asked.'));
      }
    };
    answer();
    while (opened.length < 5) await new Promise((resolve) => setImmediate(resolve));
    answer();
    const { json } = await sent;
    expect(json.answers).to.have.length(21);
    expect(asked()).to.deep.equal([...Array(20).fill('lease'), 'complete']);
  });

  it('refuses a lease when the answers that are there leave no room for its own', () => {
    const asked: string[] = [];
    const body = Buffer.alloc(900_000, 'x');
    const gate = {
      ask: (request: Request, asker: Asker) => {
        asked.push(request.op);
        asker.answered(new Answer(200, 0, request.op === 'lease' ? body : Buffer.from('{}')));
      },
    } as unknown as Gate;
    const lease = { op: 'lease', worker_id: 'w' };
    const report = { op: 'complete', task_id: 'T1', lease_id: 'L2' };
    let answers = '';
    const limits = { payloadMaxBytes: 50_000, batchMaxBytes: 50_000 };
    const done = (all: Buffer): void => void (answers = all.toString());
    askBatch(gate, [lease, lease, report], limits, done, new BatchBytes(1_000_000));
    expect(asked).to.deep.equal(['lease', 'complete']);
    expect(answers).to.match(/"http_status":400,.*"reason":"malformed".*"field":"max"/);
  });

  it('takes none and a thousand, not more', async () => {
    stage.coordinator.decide = committed;
    const beats = (count: number) =>
      Array.from({ length: count }, () => ({ op: 'heartbeat', task_id: 'T1', lease_id: 'L2' }));
    const batch = (requests: unknown[]) => send(stage.port, 'POST', '/v1/batch', { requests });
    expect((await batch([])).text).to.equal('{"answers":[]}\n');
    const many = await batch(beats(1_000));
    expect(many.json.answers).to.have.length(1_000);
    const over = await batch(beats(1_001));
    expect(over.json).to.include({ reason: 'malformed', field: 'requests' });
  });
});
