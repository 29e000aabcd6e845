// How a Worker stops: nothing that was leased is lost, doubled, or left to run out.

import { expect } from 'chai';
import { Client, TaskAborted } from '../../src/index.ts';
import { sharedServer } from './real-server.ts';
import { event, startWorker, stopWorkers } from './worker-support.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Far longer than a busy machine keeps the thread of heartbeats waiting. */
const LEASE_MS = 6_000;

describe('worker stop', () => {
  const server = sharedServer('--lease-duration-ms', `${LEASE_MS}`, '--backoff-ms', '0');
  let client: Client;
  before(() => {
    client = new Client({ url: server.tcp });
  });
  afterEach(stopWorkers);
  after(() => client.close());

  const submitMany = async (queue: string, count: number): Promise<string[]> => {
    const one = { op: 'submit' as const, payload: 'x', queue };
    const submitted = await client.batch(Array.from({ length: count }, () => one));
    return submitted.map((each) => (each as { taskId: string }).taskId);
  };

  for (const kind of ['http', 'tcp'] as const) {
    it(`under load over ${kind} loses and doubles nothing`, async () => {
      const tasks = await submitMany(kind, 400);
      const ran = new Map<string, number>();
      const handler = async (task: { taskId: string }): Promise<void> => {
        await pause(2);
        ran.set(task.taskId, (ran.get(task.taskId) ?? 0) + 1);
      };
      // Several workers one after another, each stopped in the middle of its work.
      const events: string[] = [];
      for (let left = true; left; ) {
        const options = { url: server[kind], queues: [kind], handler, concurrency: 8 };
        const { worker, noted, names } = startWorker(options);
        const enough = Math.min(60, tasks.length - ran.size);
        let completed = 0;
        await new Promise<void>((resolve) => {
          worker.on('completed', () => {
            completed += 1;
            if (completed >= enough) resolve();
          });
        });
        await worker.stop();
        events.push(...names());
        left = ran.size < tasks.length;
        const leased = noted.filter(({ name }) => name === 'leased').length;
        const done = noted.filter(({ name }) => name === 'completed').length;
        expect(done, 'every task in hand was completed').to.equal(leased);
      }
      // A grant that was on its way when the worker stopped is given back without having run.
      expect(['leased', 'completed', 'released']).to.include.members([...new Set(events)]);
      expect([...ran.values()].every((times) => times === 1)).to.equal(true);
      for (const taskId of tasks) {
        const { state, expirations } = await client.task(taskId);
        expect({ state, expirations }).to.deep.equal({ state: 'COMPLETED', expirations: 0 });
      }
    });
  }

  it('lets handlers end within the grace, and keeps their leases meanwhile', async () => {
    const [taskId] = await submitMany('long', 1);
    const { worker } = startWorker({
      url: server.tcp,
      queues: ['long'],
      handler: () => pause(1.25 * LEASE_MS),
    });
    await event(worker, 'leased');
    await worker.stop({ graceMs: 60_000 });
    expect(await client.task(taskId as string)).to.include({ state: 'COMPLETED', attempt: 1 });
  });

  it('after the grace aborts them with shutdown, and releases what then throws', async () => {
    const [taskId] = await submitMany('throws', 1);
    let reason: unknown;
    const { worker, names } = startWorker({
      url: server.tcp,
      queues: ['throws'],
      handler: async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        reason = signal.reason;
        throw signal.reason;
      },
    });
    await event(worker, 'leased');
    await worker.stop({ graceMs: 50 });
    expect(reason).to.be.instanceOf(TaskAborted).and.to.include({ code: 'shutdown' });
    expect(names()).to.deep.equal(['leased', 'released']);
    const task = await client.task(taskId as string);
    expect(task).to.include({ state: 'WAITING', lastFailureKind: 'released', failures: 0 });
  });

  it('completes what returns all the same: its effects are there', async () => {
    const [taskId] = await submitMany('returns', 1);
    const { worker } = startWorker({
      url: server.tcp,
      queues: ['returns'],
      handler: async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return 'done';
      },
    });
    await event(worker, 'leased');
    await worker.stop({ graceMs: 50 });
    expect(await client.task(taskId as string)).to.include({ state: 'COMPLETED' });
  });

  it('reports nothing for a handler that does not end: its lease runs out', async () => {
    const [taskId] = await submitMany('deaf', 1);
    let finish: () => void = () => {};
    const { worker, noted, names } = startWorker({
      url: server.tcp,
      queues: ['deaf'],
      handler: () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    });
    await event(worker, 'leased');
    await worker.stop({ graceMs: 50, abortMs: 50 });
    const types = async (): Promise<string[]> =>
      (await server.log()).filter((one) => one.task_id === taskId).map(({ type }) => type);
    // Also on a machine on which it has run out by now: nothing was reported.
    expect(await types())
      .to.not.include('TaskFailed')
      .and.not.include('TaskCompleted');
    finish();
    const other = startWorker({ url: server.tcp, queues: ['deaf'], handler: () => 'by another' });
    await event(other.worker, 'completed');
    expect(await client.task(taskId as string)).to.include({ attempt: 2, expirations: 1 });
    expect(names()).to.deep.equal(['leased', 'lost']);
    expect(noted[1]?.event).to.include({ reason: 'handler_did_not_end' });
  });

  it('while it waits for work ends at once, and before run() too', async () => {
    const idle = startWorker({ url: server.http, queues: ['none'], handler: () => {} });
    await event(idle.worker, 'protocol');
    const before = performance.now();
    await idle.worker.stop();
    await idle.run;
    expect(performance.now() - before, 'long before the wait is over').to.be.below(15_000);
    const never = startWorker({ url: server.tcp, queues: ['none'], handler: () => {} });
    await never.worker.stop();
  });

  it('with untilEmpty ends by itself when nothing is left', async () => {
    const tasks = await submitMany('drain', 20);
    let ran = 0;
    const { Worker } = await import('../../src/index.ts');
    const worker = new Worker({
      url: server.tcp,
      queues: ['drain'],
      concurrency: 4,
      handler: () => {
        ran += 1;
      },
    });
    await worker.run({ untilEmpty: true });
    expect(ran).to.equal(tasks.length);
  });
});
