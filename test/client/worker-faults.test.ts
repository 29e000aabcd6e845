// Workers while things break: a process that stands still, a coordinator that is killed, a network
// that cuts connections. What the workers believe must be what the log says.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Client } from '../../src/index.ts';
import { httpProxy } from '../../src/rehearse/http-proxy.ts';
import { lineProxy } from '../../src/rehearse/line-proxy.ts';
import type { Listening } from '../../src/rehearse/listening.ts';
import { Points } from '../../src/rehearse/points.ts';
import { Traffic } from '../../src/rehearse/traffic.ts';
import { inTurn, sized } from '../support/tier.ts';
import { ended } from '../support/waiting.ts';
import { type LogLine, sharedServer } from './real-server.ts';
import { event, type Noted, startWorker, stopWorkers } from './worker-support.ts';

const ANSWERS = ['grant', 'heartbeat answer', 'report answer', 'other answer'] as const;
const CHILD = fileURLToPath(new URL('./handlers/child-worker.js', import.meta.url));
/** `npm run soak -- workers` asks for more. */
const TASKS = Number(process.env['LEASEHOLD_SOAK_TASKS'] ?? sized(1_200, 150));

describe('workers under faults', () => {
  const server = sharedServer('--lease-duration-ms', '1000', '--backoff-ms', '0');
  let client: Client;
  before(() => {
    client = new Client({ url: server.tcp });
  });
  afterEach(stopWorkers);
  after(() => client.close());

  const submitMany = async (queue: string, count: number): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) {
      const one = { op: 'submit' as const, payload: 'x', queue };
      const size = Math.min(500, count - ids.length);
      const submitted = await client.batch(Array.from({ length: size }, () => one));
      ids.push(...submitted.map((each) => (each as { taskId: string }).taskId));
    }
    return ids;
  };
  const ofTasks = async (ids: readonly string[]): Promise<LogLine[]> => {
    const wanted = new Set(ids);
    return (await server.log()).filter(({ task_id: id }) => id !== undefined && wanted.has(id));
  };

  describe('a worker that is stopped beyond its lease and goes on', () => {
    const children: ChildProcess[] = [];
    afterEach(() => {
      for (const child of children.splice(0)) child.kill('SIGKILL');
    });

    for (const how of inTurn(['waits', 'blocks'] as const)) {
      it(`reports nothing when its handler ${how}; the other's result stands`, async () => {
        const queue = `stopped-${how}`;
        const [taskId] = (await submitMany(queue, 1)) as [string];
        const args = [CHILD, server.tcp, queue, how];
        const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        children.push(child);
        const told: { event: string; code?: string }[] = [];
        const lines = createInterface({ input: child.stdout });
        const saw = (name: string): Promise<void> =>
          new Promise((resolve) => {
            if (told.some((each) => each.event === name)) resolve();
            lines.on('line', () => told.some((each) => each.event === name) && resolve());
          });
        lines.on('line', (line) => told.push(JSON.parse(line)));
        await saw('began');
        child.kill('SIGSTOP');
        const other = startWorker({
          url: server.tcp,
          queues: [queue],
          handler: () => 'from the other',
        });
        await event(other.worker, 'completed');
        child.kill('SIGCONT');
        child.stdin.write('.');
        await saw('lost');
        await saw('ends');
        child.kill('SIGTERM');
        await new Promise((resolve) => child.once('close', resolve));
        expect(told.filter((each) => each.event === 'sent')).to.deep.equal([]);
        if (how === 'waits') expect(told.at(-1)).to.include({ event: 'ends', code: 'lease_lost' });
        const types = (await ofTasks([taskId])).map(({ type }) => type);
        expect(types.filter((type) => type !== 'LeaseExtended')).to.deep.equal([
          'TaskCreated',
          'LeaseGranted',
          'LeaseExpired',
          'LeaseGranted',
          'TaskCompleted',
        ]);
        expect(String((await client.task(taskId)).result)).to.equal('from the other');
      });
    }
  });

  it(`kill -9 of the coordinator under 4 workers and ${TASKS} tasks: all done`, async function () {
    this.timeout(180_000 + 60 * TASKS);
    const ids = await submitMany('crash', TASKS);
    const runs = new Map<string, number>();
    const workers = [server.http, server.tcp, server.unix, server.tcp].map((url) =>
      startWorker({
        url,
        queues: ['crash'],
        concurrency: 8,
        handler: async (task) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          runs.set(task.taskId, (runs.get(task.taskId) ?? 0) + 1);
        },
      }),
    );
    for (const part of [0.3, 0.6]) {
      while (runs.size < TASKS * part) await new Promise((resolve) => setTimeout(resolve, 20));
      await server.crashAndRestart();
    }
    for (const taskId of ids) {
      const { state } = await client.task(taskId, { waitMs: 20_000 });
      expect(state).to.equal('COMPLETED');
    }
    await stopWorkers();
    const noted = workers.flatMap((each) => each.noted);
    expect(noted.filter(({ name }) => name === 'failed' || name === 'rejected')).to.deep.equal([]);
    const records = await ofTasks(ids);
    const expired = new Set(
      records.filter(({ type }) => type === 'LeaseExpired').map(({ task_id }) => task_id),
    );
    for (const [taskId, times] of runs) {
      if (times > 1) expect(expired.has(taskId), `${taskId} ran ${times} times`).to.equal(true);
    }
    expect(records.filter(({ type }) => type === 'TaskCompleted')).to.have.length(TASKS);
    agree(noted, records);
  });

  for (const kind of inTurn(['http', 'tcp'] as const)) {
    describe(`behind a proxy that cuts 5 % of the connections over ${kind}`, () => {
      let proxy: Listening;
      let traffic: Traffic;
      let url: string;
      const cuts = (): number =>
        traffic.exchanges.filter(({ answerFate }) => answerFate === 'lose').length;
      beforeEach(async () => {
        const toPort = kind === 'http' ? Number(new URL(server.http).port) : server.socketPort;
        const dice = seeded(kind === 'http' ? 17 : 18);
        traffic = new Traffic();
        // After such a cut nobody can know without asking whether the request took effect.
        const points = new Points();
        for (const point of ANSWERS) points.always(point, 'lose', () => dice() < 0.05);
        const open = kind === 'http' ? httpProxy : lineProxy;
        proxy = await open({ worker: 1, toPort, points, traffic });
        url = `${kind}://127.0.0.1:${proxy.port}`;
      });
      afterEach(() => proxy.close());

      it('every submit makes one task', async () => {
        const queue = `cut-submit-${kind}`;
        const cut = new Client({ url, backoffMs: 5, retries: 20 });
        const answers = [];
        for (let i = 0; i < 150; i += 1) answers.push(await cut.submit({ payload: `${i}`, queue }));
        cut.close();
        expect(cuts()).to.be.greaterThan(0);
        const ids = new Set(answers.map(({ taskId }) => taskId));
        expect(ids.size).to.equal(150);
        const created = (await server.log()).filter((record) => record['queue'] === queue);
        expect(created).to.have.length(150);
      });

      it('what workers believe is what the log says', async () => {
        const queue = `cut-work-${kind}`;
        const ids = await submitMany(queue, 150);
        const handler = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));
        const options = { url, queues: [queue], handler, concurrency: 4, backoffMs: 5 };
        const workers = [startWorker(options), startWorker(options)];
        for (const taskId of ids) {
          expect((await ended(client, taskId)).state).to.equal('COMPLETED');
        }
        await Promise.all(workers.map(({ worker }) => worker.stop()));
        expect(cuts()).to.be.greaterThan(0);
        const noted = workers.flatMap((each) => each.noted);
        expect(noted.filter(({ name }) => name === 'rejected')).to.deep.equal([]);
        agree(noted, await ofTasks(ids));
      });
    });
  }
});

/** A repeatable dice: the same seed cuts the same answers. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Every outcome that a worker was told is a record of its very lease. */
function agree(noted: readonly Noted[], records: readonly LogLine[]): void {
  const bySeq = new Map(records.map((record) => [record.seq, record]));
  const types = { completed: 'TaskCompleted', failed: 'TaskFailed', released: 'TaskFailed' };
  let compared = 0;
  for (const { name, event: told } of noted) {
    if (!('task' in told) || !('outcome' in told) || told.outcome === undefined) continue;
    const { outcome, task } = told;
    const record = bySeq.get(outcome.record as number);
    const type = types[name as keyof typeof types] ?? 'TaskCancelled';
    expect(record, `${name} ${task.leaseId}`).to.include({ type, lease_id: task.leaseId });
    compared += 1;
  }
  expect(compared).to.be.greaterThan(100);
}
