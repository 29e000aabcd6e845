// A Worker against the real coordinator: what it reports, and what it cannot.

import { expect } from 'chai';
import { Client, type Handler, PermanentFailure, TaskAborted } from '../../src/index.ts';
import { ended as untilEnded } from '../support/waiting.ts';
import { orWithLongerLeases } from './longer-leases.ts';
import { type RealServer, sharedServer } from './real-server.ts';
import { block, event, startWorker, stopWorkers } from './worker-support.ts';

const LEASE_MS = 2_000;
/**
 * A worker has a tenth of the window for its report. When a busy machine keeps it from reporting in
 * time, the coordinator ends the window, and a longer one is played.
 */
const WINDOWS_MS = [800, 4_000, 10_000];

describe('worker', () => {
  const shared = sharedServer('--lease-duration-ms', `${LEASE_MS}`, '--backoff-ms', '0');
  let server = shared;
  let client: Client;
  let queue: string;
  let number = 0;
  function use(other: RealServer): void {
    server = other;
    client?.close();
    client = new Client({ url: server.tcp });
  }
  const keeps = (play: (leaseMs: number) => Promise<void>) => () =>
    orWithLongerLeases({ server: shared, leaseMs: LEASE_MS, use }, play);
  before(() => use(shared));
  beforeEach(() => {
    number += 1;
    queue = `q${number}`;
  });
  afterEach(stopWorkers);
  after(() => client.close());

  const submit = async (payload: unknown, more: object = {}): Promise<string> =>
    (await client.submit({ payload, queue, ...more })).taskId;
  const start = (handler: Handler | URL, more: object = {}) =>
    startWorker({ url: server.tcp, queues: [queue], handler, ...more });
  const ended = (taskId: string) => untilEnded(client, taskId);

  for (const kind of ['http', 'tcp', 'unix'] as const) {
    it(`completes over ${kind} with what the handler returns`, async () => {
      const taskId = await submit({ a: 3, b: 4 });
      const { names } = start(
        (task, context) => {
          const { a, b } = task.json<{ a: number; b: number }>();
          const { fencingToken, attempt, previous } = context;
          return { sum: a + b, attempt, previous, isToken: task.leaseId === `L${fencingToken}` };
        },
        { url: server[kind] },
      );
      const task = await ended(taskId);
      expect(task.state).to.equal('COMPLETED');
      expect(JSON.parse(String(task.result))).to.deep.equal({ sum: 7, attempt: 1, isToken: true });
      await stopWorkers();
      expect(names()).to.deep.equal(['leased', 'completed']);
    });
  }

  it('fails with the reason of what is thrown, and permanently where that is said', async () => {
    const error = await submit('error', { retryPolicy: { maxRetries: 0 } });
    const permanent = await submit('permanent', { retryPolicy: { maxRetries: 9 } });
    start((task) => {
      if (task.text() === 'permanent') throw new PermanentFailure('never');
      throw new Error(`${'é'.repeat(3_000)} and so on`);
    });
    const [first, second] = [await ended(error), await ended(permanent)];
    expect(first).to.include({ state: 'FAILED', lastFailureKind: 'error' });
    expect(first.lastFailureReason).to.equal('é'.repeat(2_048));
    expect(second).to.include({ state: 'FAILED', attempt: 1, lastFailureReason: 'never' });
  });

  it('shows the attempt before to the one that follows it', async () => {
    const taskId = await submit('x', { retryPolicy: { maxRetries: 1, backoffMs: 0 } });
    start((_, { attempt, previous }) => {
      if (attempt === 1) throw new Error('once');
      return previous;
    });
    const { result } = await ended(taskId);
    expect(JSON.parse(String(result))).to.include({ attempt: 1, ended: 'failed', reason: 'once' });
  });

  const blocked = keeps(async (leaseMs) => {
    const blockMs = 5 * leaseMs;
    const inline = await submit({ blockMs });
    const threaded = (await client.submit({ payload: { blockMs }, queue: `${queue}-t` })).taskId;
    const url = new URL('./handlers/block.js', import.meta.url);
    const other = start(url, { queues: [`${queue}-t`], threads: 1 });
    await event(other.worker, 'leased');
    const { noted } = start((task) => {
      block(blockMs);
      return { attempt: task.attempt };
    });
    const tasks = [await ended(inline), await ended(threaded)];
    for (const task of tasks) expect(task).to.include({ state: 'COMPLETED', attempt: 1 });
    expect(JSON.parse(String(tasks[1]?.result)).threadId).to.be.greaterThan(0);
    expect(noted.filter(({ name }) => name === 'lost')).to.deep.equal([]);
  });
  it('keeps a lease 5 times its length while handlers block, inline and threaded', blocked);

  const several = keeps(async (leaseMs) => {
    const tasks = await Promise.all([1, 2, 3].map((n) => submit(n)));
    start(() => block(leaseMs), { concurrency: 3 });
    for (const taskId of tasks) {
      expect(await ended(taskId)).to.include({ state: 'COMPLETED', attempt: 1 });
    }
  });
  it('keeps every lease of an answer while the first handler blocks', several);

  const byHandler = keeps(async (leaseMs) => {
    const kept = await submit('kept');
    const { worker, noted } = start(
      async (task, { heartbeat, signal }) => {
        for (let i = 0; i < 6 && task.text() === 'kept'; i += 1) {
          await new Promise((resolve) => setTimeout(resolve, leaseMs / 3));
          if (!(await heartbeat())) throw new Error('it was mine');
        }
        if (task.text() === 'kept') return;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw signal.reason;
      },
      { heartbeat: 'handler' },
    );
    expect(await ended(kept)).to.include({ state: 'COMPLETED', attempt: 1 });
    await submit('hangs');
    const { reason } = await event(worker, 'lost');
    expect(reason).to.equal('lease_time_over');
    expect(noted.filter(({ name }) => name === 'failed')).to.deep.equal([]);
  });
  it("with heartbeat: 'handler' keeps it only as long as the handler says so", byHandler);

  for (const how of ['waits', 'blocks'] as const) {
    it(`reports the end of the execution window itself, when the handler ${how}`, async () => {
      for (const executionWindowMs of WINDOWS_MS) {
        const taskId = await submit(how, { executionWindowMs, retryPolicy: { maxRetries: 0 } });
        let code: string | undefined;
        const { noted, worker } = start(async (task, { signal }) => {
          if (task.text() === 'blocks') block(2 * executionWindowMs);
          // After the block the abort is still on its way through the event loop.
          if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done));
          if (signal.reason instanceof TaskAborted) code = signal.reason.code;
          return 'too late';
        });
        const over = event(worker, 'failed');
        const task = await ended(taskId);
        if (task.expirations > 0 && executionWindowMs !== WINDOWS_MS.at(-1)) {
          await stopWorkers();
          continue;
        }
        expect(task).to.include({
          state: 'FAILED',
          lastFailureReason: 'execution window reached',
          expirations: 0,
        });
        await over;
        await stopWorkers();
        expect(code).to.equal('deadline');
        expect(noted.map(({ name }) => name)).to.deep.equal(['leased', 'failed']);
        return;
      }
    });
  }

  it('aborts with lease_lost when a heartbeat is rejected, and reports nothing', async () => {
    const taskId = await submit('x');
    let tell: (seen: object) => void;
    const told = new Promise<object>((resolve) => {
      tell = resolve;
    });
    const { worker, names } = start(async (_, { signal, stillMine }) => {
      const before = await stillMine();
      await client.kill(taskId, 'poison');
      const after = await stillMine();
      tell({ before, after, reason: signal.reason });
      return 'it went on all the same';
    });
    await event(worker, 'lost');
    const seen = await told;
    await stopWorkers();
    expect(seen).to.deep.include({ before: true, after: false });
    const { reason } = seen as { reason: TaskAborted };
    expect(reason).to.be.instanceOf(TaskAborted).and.to.include({ code: 'lease_lost' });
    expect(reason.reason).to.be.oneOf(['task_dead', 'task_terminal']);
    expect(names()).to.deep.equal(['leased', 'lost']);
    expect((await client.task(taskId)).state).to.equal('DEAD');
  });

  it('gives threaded handlers all of their context', async () => {
    const url = new URL('./handlers/context.js', import.meta.url);
    const mine = await submit('mine');
    const permanent = await submit('permanent', { retryPolicy: { maxRetries: 9 } });
    const error = await submit('error', { retryPolicy: { maxRetries: 0 } });
    const { worker } = start(url, { threads: 2 });
    expect(JSON.parse(String((await ended(mine)).result))).to.include({ isMine: true });
    const failures = [await ended(permanent), await ended(error)];
    expect(failures.map((task) => task.lastFailureReason)).to.deep.equal([
      'no attempt can help',
      'what a reason',
    ]);
    // A lease that a busy machine let run out would be a further attempt, and no failure.
    expect(failures[0]?.failures).to.equal(1);
    const waits = await submit('wait');
    await event(worker, 'leased');
    const released = event(worker, 'released');
    await worker.stop({ graceMs: 0 });
    expect((await released).task.taskId).to.equal(waits);
    expect(await client.task(waits)).to.include({ state: 'WAITING', lastFailureKind: 'released' });
  });

  it('takes leases for free slots only', async () => {
    const tasks = await Promise.all(Array.from({ length: 12 }, (_, n) => submit(n)));
    let [now, most] = [0, 0];
    const { worker } = start(
      async () => {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setTimeout(resolve, 20));
        now -= 1;
      },
      { concurrency: 3 },
    );
    await event(worker, 'leased');
    for (const taskId of tasks) await ended(taskId);
    expect(most).to.equal(3);
  });

  it('makes a result that is too large a permanent failure, and never cuts it', async () => {
    const sizes = [1_100_000, 9_000_000];
    const tasks = await Promise.all(sizes.map((size) => submit(size)));
    start((task) => 'x'.repeat(Number(task.text())));
    for (const [index, taskId] of tasks.entries()) {
      const task = await ended(taskId);
      expect(task).to.include({ state: 'FAILED', attempt: 1, lastFailureKind: 'permanent' });
      expect(task.lastFailureReason).to.contain(`${sizes[index]} bytes`);
    }
  });

  it('shows every request and answer, heartbeats too', async () => {
    const taskId = await submit('x');
    const { worker } = start(() => new Promise((resolve) => setTimeout(resolve, LEASE_MS / 2)));
    const seen = new Set<string>();
    worker.on('protocol', ({ direction, op, thread }) => seen.add(`${thread} ${direction} ${op}`));
    await ended(taskId);
    await stopWorkers();
    expect([...seen]).to.include.members([
      'main answer lease',
      'heartbeat request heartbeat',
      'heartbeat answer heartbeat',
      'main request complete',
      'main answer complete',
    ]);
  });

  it('surfaces a report that is REJECTED: somebody else reports under its lease', async () => {
    await submit('x');
    const { worker } = start(async (task) => {
      await client.complete(task, 'behind its back');
      return 'mine';
    });
    const { outcome } = await event(worker, 'rejected');
    expect(outcome).to.include({ reason: 'duplicate_report', firstOutcome: 'COMMITTED' });
  });

  it('ends when what it asks is refused, and says why', async () => {
    const { run } = start(() => {}, { queues: ['not a queue'] });
    const error = await run.then(
      () => expect.fail('it went on'),
      (refusal) => refusal,
    );
    expect(error).to.have.nested.property('refusal.reason', 'malformed');
  });
});
