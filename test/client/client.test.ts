// The client's promises, each on both transports: what it sends, what it makes of answers, what it
// sends again and what it never does.

import { expect } from 'chai';
import { Client, LeaseholdError, monotonicMs, RefusedError } from '../../src/index.ts';
import { ownPort } from '../support/own-port.ts';
import { until } from '../support/waiting.ts';
import { type Reply, type Script, type ScriptedServer, scriptedServer } from './scripted-server.ts';

const LEASE = {
  task_id: 'T4',
  lease_id: 'L7',
  fencing_token: 7,
  queue: 'mail',
  attempt: 2,
  max_retries: 3,
  previous: { attempt: 1, lease_id: 'L5', worker_id: 'w0', ended: 'expired', at: 5 },
  metadata: { a_key: 'kept_as_it_is' },
  payload: '{"to":"é"}',
  lease_expiry: 31_000,
  lease_ms: 10_000,
  waited_ms: 700,
  execution_deadline: 81_000,
  heartbeat_interval_ms: 3_333,
  created_at: 1,
};
const DUPLICATE = {
  outcome: 'REJECTED',
  reason: 'duplicate_report',
  first_outcome: 'COMMITTED',
  first_report: 'complete',
  first_record: 9,
  task_state: 'COMPLETED',
  record: null,
};
const COMMITTED = { outcome: 'COMMITTED', task_state: 'COMPLETED', record: 9 };
const ACCEPTED = { outcome: 'COMMITTED', taskState: 'COMPLETED', record: 9 };
const LOST = { outcome: 'CANCELLED', reason: 'lease_expired', record: 10 };
const ref = { taskId: 'T4', leaseId: 'L7' };

for (const kind of ['http', 'tcp'] as const) {
  describe(`client over ${kind}`, () => {
    let server: ScriptedServer;
    const clients: Client[] = [];
    const connect = (options: object = {}): Client => {
      const client = new Client({ url: server.url, backoffMs: 1, timeoutMs: 2_000, ...options });
      clients.push(client);
      return client;
    };
    const play = (script: Script): Client => {
      server.script = script;
      return connect();
    };
    const caught = (promise: Promise<unknown>): Promise<LeaseholdError> =>
      promise.then(
        () => expect.fail('it did not throw'),
        (error) => error,
      );

    beforeEach(async () => {
      server = await scriptedServer(kind, () => ({}));
    });
    afterEach(async () => {
      for (const client of clients.splice(0)) client.close();
      await server.close();
    });

    it('submits strings, bytes and objects, and makes a request id if none is given', async () => {
      const client = play(() => ({ task_id: 'T4', state: 'WAITING', queue: 'q', record: 4 }));
      const { taskId, requestId } = await client.submit({ payload: 'as it is' });
      await client.submit({ payload: { to: 'é' }, queue: 'mail', requestId: 'order-17' });
      await client.submit({ payload: Buffer.from([0xff, 0]), retryPolicy: { maxRetries: 0 } });
      const [text, object, bytes] = server.asked.map(({ params }) => params);
      expect(taskId).to.equal('T4');
      expect(text).to.deep.equal({ payload: 'as it is', request_id: requestId });
      expect(object).to.deep.equal({
        payload: '{"to":"é"}',
        queue: 'mail',
        request_id: 'order-17',
      });
      expect(bytes).to.deep.include({ payload_base64: '/wA=', retry_policy: { max_retries: 0 } });
      expect(bytes?.request_id).to.have.length.greaterThan(20).and.not.equal(requestId);
    });

    it('refuses what has no JSON text before anything is sent', async () => {
      const error = await caught(connect().submit({ payload: undefined }));
      expect(error).to.include({ code: 'INVALID_ARGUMENT' });
      expect(server.asked).to.deep.equal([]);
    });

    it('reads a lease: its ends count from when the request was sent', async () => {
      const client = play(() => ({ leases: [LEASE] }));
      const before = monotonicMs();
      const { leases } = await client.lease({ workerId: 'w1', queues: ['mail'], max: 3 });
      const after = monotonicMs();
      const lease = leases[0];
      expect(server.asked[0]?.params).to.deep.equal({ worker_id: 'w1', queues: ['mail'], max: 3 });
      expect(lease).to.include({ taskId: 'T4', leaseId: 'L7', fencingToken: 7, attempt: 2 });
      expect(lease?.metadata).to.deep.equal({ a_key: 'kept_as_it_is' });
      expect(lease?.previous).to.include({ leaseId: 'L5', workerId: 'w0', ended: 'expired' });
      expect(lease?.json()).to.deep.equal({ to: 'é' });
      expect(lease?.text()).to.equal('{"to":"é"}');
      expect(lease?.endsAtMs).to.be.within(before + 10_700, after + 10_700);
      expect(lease?.windowEndsAtMs).to.be.within(before + 60_700, after + 60_700);
    });

    it('says why there is no lease', async () => {
      const empty = { reason: 'not_yet_eligible', next_eligible_at: 99 };
      const answer = await play(() => ({ leases: [], empty })).lease({ workerId: 'w' });
      expect(answer).to.deep.equal({
        leases: [],
        empty: { reason: 'not_yet_eligible', nextEligibleAt: 99 },
      });
    });

    it('gives outcomes as values, CANCELLED and REJECTED among them', async () => {
      const client = play((op) => (op === 'complete' ? LOST : DUPLICATE));
      expect(await client.complete(ref, { sum: 3 })).to.include({
        outcome: 'CANCELLED',
        reason: 'lease_expired',
      });
      const failed = await client.fail(ref, { reason: 'no', kind: 'permanent' });
      expect(failed).to.include({ outcome: 'REJECTED', firstReport: 'complete', firstRecord: 9 });
      expect(server.asked.map(({ params }) => params)).to.deep.equal([
        { task_id: 'T4', lease_id: 'L7', result: '{"sum":3}' },
        { task_id: 'T4', lease_id: 'L7', reason: 'no', kind: 'permanent' },
      ]);
    });

    it('throws what leaves nothing to return, with the refusal', async () => {
      const client = play(() => ({ outcome: 'REJECTED', reason: 'request_id_conflict' }));
      const error = await caught(client.submit({ payload: 'x' }));
      expect(error).to.be.instanceOf(RefusedError);
      expect(error).to.have.nested.property('refusal.reason', 'request_id_conflict');
      expect(server.asked).to.have.length(1);
    });

    it('heartbeats: ok with its end, or rejected as a value', async () => {
      const ok = {
        outcome: 'OK',
        lease_expiry: 5,
        lease_ms: 900,
        execution_deadline: 9,
        record: 1,
      };
      const client = play((_, __, times) =>
        times === 1 ? ok : { outcome: 'REJECTED', reason: 'lease_expired' },
      );
      const sent = monotonicMs();
      const first = await client.heartbeat(ref);
      if (first.outcome !== 'OK') expect.fail();
      expect(first.endsAtMs).to.be.within(sent + 900, monotonicMs() + 900);
      expect(await client.heartbeat(ref)).to.include({ outcome: 'REJECTED' });
    });

    it('sends a report again after a cut: duplicate_report is the lost answer', async () => {
      const client = play((_, __, times) => (times === 1 ? 'cut' : DUPLICATE));
      expect(await client.complete(ref)).to.deep.equal({
        outcome: 'COMMITTED',
        taskState: 'COMPLETED',
        record: 9,
        resent: true,
      });
      expect(server.asked).to.have.length(2);
    });

    it('takes duplicate_report for an answer only when the same verb was sent before', async () => {
      const client = play((op, __, times) => (op === 'fail' && times === 1 ? 'cut' : DUPLICATE));
      expect(await client.fail(ref, { reason: 'no' })).to.include({ outcome: 'REJECTED' });
      expect(await client.complete(ref)).to.include({ outcome: 'REJECTED' });
    });

    it('repeats a submit under the same request id', async () => {
      const client = play((_, __, times) => (times < 3 ? 'cut' : { task_id: 'T4' }));
      await client.submit({ payload: 'x' });
      const ids = new Set(server.asked.map(({ params }) => params.request_id));
      expect(server.asked).to.have.length(3);
      expect(ids.size).to.equal(1);
    });

    it('never repeats a lease or a redrive that may have been written', async () => {
      const client = play(() => 'cut');
      const lease = await caught(client.lease({ workerId: 'w' }));
      const redrive = await caught(client.redrive('T4'));
      expect([lease.code, redrive.code]).to.deep.equal(['UNREACHABLE', 'UNREACHABLE']);
      expect(server.asked.map(({ op }) => op)).to.deep.equal(['lease', 'redrive']);
    });

    it('repeats a lease that surely was not written', async () => {
      await server.close();
      const port = await ownPort();
      let refused = 0;
      const onProtocol = ({ direction }: { direction: string }): void => {
        if (direction === 'answer') refused += 1;
      };
      const url = `${kind}://127.0.0.1:${port}`;
      const endless = { backoffMs: 20, retries: 100_000, backoffMaxMs: 20 };
      const asked = connect({ url, ...endless, onProtocol }).lease({ workerId: 'w' });
      await until('it was refused and tried again', () => refused >= 2);
      server = await scriptedServer(kind, () => ({ leases: [LEASE] }), port);
      expect((await asked).leases).to.have.length(1);
    });

    it('gives up after its retries, and says how often it was sent', async () => {
      server.script = () => 'cut';
      const error = await caught(connect({ retries: 2 }).complete(ref));
      expect(error).to.include({ code: 'REPORT_UNANSWERED' });
      expect(error.message).to.contain('sent 3 times');
      expect(server.asked).to.have.length(3);
    });

    it('asks again after UNAVAILABLE, also for a lease when nothing happened', async () => {
      const full = { outcome: 'UNAVAILABLE', reason: 'mailbox_full', record: null };
      const client = play((_, __, times) => (times === 1 ? full : { leases: [LEASE] }));
      expect((await client.lease({ workerId: 'w' })).leases).to.have.length(1);
      server.script = (op, __, times) => {
        if (op === 'fail') return times === 1 ? { ...full, reason: 'log_unavailable' } : DUPLICATE;
        return { ...full, reason: 'log_unavailable' };
      };
      const refused = await caught(client.redrive('T4'));
      expect(refused).to.have.nested.property('refusal.outcome', 'UNAVAILABLE');
      const report = await client.fail(ref, { reason: 'no' });
      expect(report, 'the first report was another verb').to.include({ outcome: 'REJECTED' });
    });

    it('takes no duplicate_report for an answer when nothing had happened before', async () => {
      const full = { outcome: 'UNAVAILABLE', reason: 'mailbox_full', record: null };
      const client = play((_, __, times) => (times === 1 ? full : DUPLICATE));
      expect(await client.complete(ref)).to.include({ outcome: 'REJECTED' });
      expect(server.asked).to.have.length(2);
    });

    it('repeats a batch only when all of it is UNAVAILABLE and no lease may be lost', async () => {
      const no = (reason: string) => ({ outcome: 'UNAVAILABLE', reason, record: null });
      let replies: Record<string, object[]> = {};
      const client = play((op) => replies[op]?.shift() as Reply);
      const calls = [
        { op: 'kill', taskId: 'T4' },
        { op: 'lease', workerId: 'w' },
      ] as const;
      const timesAsked = async (): Promise<number> => {
        server.asked.length = 0;
        await client.batch(calls);
        return server.asked.length;
      };
      replies = { kill: [no('mailbox_full')], lease: [{ leases: [LEASE] }] };
      expect(await timesAsked()).to.equal(2);
      replies = {
        kill: [no('mailbox_full'), COMMITTED],
        lease: [no('mailbox_full'), { leases: [LEASE] }],
      };
      expect(await timesAsked()).to.equal(4);
      replies = { kill: [no('mailbox_full'), COMMITTED], lease: [no('log_unavailable'), {}] };
      expect(await timesAsked()).to.equal(2);
    });

    it('ends the wait of a lease when its signal aborts, and loses no grant', async () => {
      let grant: (body: Record<string, unknown>) => void = () => {};
      const client = play(
        () =>
          new Promise((resolve) => {
            grant = resolve;
          }),
      );
      const controller = new AbortController();
      const asked = client.lease({ workerId: 'w', waitMs: 30_000 }, { signal: controller.signal });
      while (server.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      // The grant was on its way.
      grant({ leases: [LEASE] });
      expect((await asked).leases).to.have.length(1);
    });

    it('rejects with the reason when the wait was ended and no answer comes', async () => {
      const client = play(() => 'hang');
      const controller = new AbortController();
      const asked = client.lease({ workerId: 'w', waitMs: 30_000 }, { signal: controller.signal });
      while (server.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      controller.abort(new Error('enough'));
      expect((await caught(asked)).message).to.equal('enough');
    });

    it('aborts a request, and the connection serves the next one', async () => {
      const client = play((_, __, times) => (times === 1 ? 'hang' : COMMITTED));
      const controller = new AbortController();
      const first = client.complete(ref, 'x', { signal: controller.signal });
      while (server.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      controller.abort(new Error('stop'));
      expect((await caught(first)).message).to.equal('stop');
      expect(await client.complete(ref)).to.include(ACCEPTED);
    });

    it('gives up on silence, and sends the report again', async () => {
      server.script = (_, __, times) => (times === 1 ? 'hang' : COMMITTED);
      // Long enough for the second try on a busy machine.
      const client = connect({ timeoutMs: 700 });
      expect(await client.complete(ref)).to.include(ACCEPTED);
      expect(server.asked).to.have.length(2);
    });

    it('keeps one connection for many requests one after another', async () => {
      const client = play(() => COMMITTED);
      for (let i = 0; i < 20; i += 1) await client.complete(ref);
      expect(server.connections).to.equal(1);
    });

    it('sends a batch in one message, outcomes in its order', async () => {
      const client = play((op) => {
        if (op === 'submit') return { task_id: 'T1', state: 'WAITING', queue: 'q', record: 1 };
        if (op === 'lease') return { leases: [LEASE] };
        if (op === 'kill') return { outcome: 'REJECTED', reason: 'task_terminal', record: null };
        return COMMITTED;
      });
      const outcomes = await client.batch([
        { op: 'submit', payload: { a: 1 }, queue: 'q' },
        { op: 'lease', workerId: 'w' },
        { op: 'complete', ...ref, result: 'done' },
        { op: 'kill', taskId: 'T4' },
      ]);
      expect(outcomes[0]).to.include({ taskId: 'T1', record: 1 });
      expect(outcomes[1]).to.have.nested.property('leases[0].leaseId', 'L7');
      expect(outcomes[2]).to.include({ outcome: 'COMMITTED', taskState: 'COMPLETED' });
      expect(outcomes[3]).to.include({ outcome: 'REJECTED', reason: 'task_terminal' });
      expect(server.asked[2]?.params).to.deep.include({ result: 'done', task_id: 'T4' });
    });

    it('reads tasks, lists and stories', async () => {
      const lease = { lease_id: 'L7', worker_id: 'w', granted_at: 1 };
      const shown = { task_id: 'T4', state: 'LEASED', payload_base64: '/wA=', result: 'r', lease };
      const client = play((op) => {
        if (op === 'task') return shown;
        if (op === 'tasks') return { tasks: [{ task_id: 'T4' }], next: 'T4' };
        return { op };
      });
      const task = await client.task('T4');
      expect(task).to.deep.include({ taskId: 'T4', payload: Buffer.from([0xff, 0]) });
      expect(task.result?.toString()).to.equal('r');
      expect(task.lease).to.include({ leaseId: 'L7', workerId: 'w' });
      const page = await client.tasks({ state: 'LEASED', limit: 1 });
      expect(page).to.deep.equal({ tasks: [{ taskId: 'T4' }], next: 'T4' });
      expect(await client.explain('T4')).to.deep.equal({ op: 'explain' });
      expect(await client.stats()).to.deep.equal({ op: 'stats' });
      expect(await client.config()).to.deep.equal({ op: 'config' });
    });

    it('gives its token, and says UNAUTHORIZED without retrying', async () => {
      server.token = 'secret';
      server.script = () => COMMITTED;
      expect(await connect({ token: 'secret' }).complete(ref)).to.include(ACCEPTED);
      const error = await caught(connect({ token: 'wrong' }).complete(ref));
      expect(error).to.include({ code: 'UNAUTHORIZED' });
      expect(server.asked).to.have.length(1);
    });

    it('shows every request and every answer', async () => {
      server.script = (_, __, times) => (times === 1 ? 'cut' : COMMITTED);
      const seen: string[] = [];
      const client = connect({
        onProtocol: ({ direction, op, attempt }: Record<string, unknown>) =>
          seen.push(`${direction} ${op} ${attempt}`),
      });
      await client.complete(ref);
      expect(seen).to.deep.equal([
        'request complete 1',
        'answer complete 1',
        'request complete 2',
        'answer complete 2',
      ]);
    });

    it('rejects what is in flight when it is closed', async () => {
      const client = play(() => 'hang');
      const report = caught(client.complete(ref));
      while (server.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
      client.close();
      expect(await report).to.include({ code: 'CLOSED' });
    });
  });
}

describe('client', () => {
  it('refuses a URL of another kind', () => {
    expect(() => new Client({ url: 'ftp://x' })).to.throw(LeaseholdError, 'unix:/path');
    expect(() => new Client({ url: 'unix:' })).to.throw(LeaseholdError);
  });
});
