// What users do to a worker: throw anything, listen badly, give it no handler, stop it from within.
// Its process lives, every task is reported or given back, and nobody's mistake goes unseen.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { Client, type Handler, LeaseholdError, Worker } from '../../src/index.ts';
import { sharedServer } from './real-server.ts';
import { event, startWorker, stopWorkers } from './worker-support.ts';

describe('a worker that is used badly', () => {
  const server = sharedServer('--lease-duration-ms', '2000', '--backoff-ms', '0');
  const dir = mkdtempSync(join(tmpdir(), 'leasehold-harm-'));
  let client: Client;
  let queue: string;
  let number = 0;
  before(() => {
    client = new Client({ url: server.tcp });
  });
  beforeEach(() => {
    number += 1;
    queue = `q${number}`;
  });
  afterEach(stopWorkers);
  after(() => {
    client.close();
    rmSync(dir, { recursive: true });
  });

  const submit = async (payload: unknown): Promise<string> => {
    const retryPolicy = { maxRetries: 0 };
    return (await client.submit({ payload, queue, retryPolicy })).taskId;
  };
  const start = (handler: Handler) =>
    startWorker({ url: server.tcp, queues: [queue], concurrency: 4, backoffMs: 2, handler });

  it('fails the one task whose handler throws what has no text, and no other', async () => {
    const [odd, good] = [await submit('odd'), await submit('good')];
    const { worker } = start((task) => {
      if (task.text() === 'odd') throw Object.create(null);
      return 'done';
    });
    const failed = event(worker, 'failed');
    expect((await client.task(good, { waitMs: 10_000 })).state).to.equal('COMPLETED');
    expect((await failed).failure).to.include({ kind: 'error' });
    expect((await client.task(odd)).lastFailureReason)
      .to.be.a('string')
      .and.not.equal('');
  });

  const MODULES: [what: string, text: string | undefined, says: RegExp][] = [
    ['is not there', undefined, /cannot be loaded: .*gone/],
    ['is no JavaScript', 'export default functio () {}', /cannot be loaded: Unexpected/],
    ['throws when it is loaded', 'throw Object.create(null)', /cannot be loaded/],
    ['has no default export', 'export const handle = () => 1;', /no default export/],
    ['exports a class', 'export default class {}', /default export: it is a class/],
    ['ends its thread when it is loaded', 'process.exit(3)', /its thread ended/],
  ];
  for (const [what, text, says] of MODULES) {
    it(`leases nothing for a module that ${what}`, async () => {
      const taskId = await submit('x');
      const file = join(dir, text === undefined ? 'gone.mjs' : `${queue}.mjs`);
      if (text !== undefined) writeFileSync(file, text);
      const handler = pathToFileURL(file);
      const worker = new Worker({ url: server.tcp, queues: [queue], handler });
      const error = await worker.run().catch((thrown: LeaseholdError) => thrown);
      expect(error).to.include({ code: 'INVALID_OPTION' });
      expect((error as LeaseholdError).message).to.match(says);
      expect(await client.task(taskId)).to.include({ state: 'WAITING', attempt: 0, records: 1 });
    });
  }

  it('gives back what cannot be started on this machine, and asks again later', async () => {
    const taskId = await submit('x');
    let times = 0;
    const { worker, noted, names } = start(() => {
      times += 1;
      if (times < 3) throw new LeaseholdError('WRONG_MACHINE', 'no shell');
      return 'done';
    });
    await new Promise((resolve) => worker.once('completed', resolve));
    expect(names().filter((name) => name !== 'leased')).to.deep.equal([
      ...['error', 'released', 'error', 'released', 'completed'],
    ]);
    expect(noted.find(({ name }) => name === 'error')?.event).to.include({ code: 'WRONG_MACHINE' });
    expect(await client.task(taskId)).to.include({ state: 'COMPLETED', failures: 0 });
  });

  it('until empty gives up on a machine that does not get better', async () => {
    const taskId = await submit('x');
    const handler = (): never => {
      throw Object.assign(new Error('no shell'), { code: 'WRONG_MACHINE' });
    };
    const worker = new Worker({ url: server.tcp, queues: [queue], backoffMs: 2, handler });
    worker.on('error', () => {});
    const error = await worker.run({ untilEmpty: true }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'WRONG_MACHINE', message: 'no shell' });
    expect(await client.task(taskId)).to.include({ state: 'WAITING', failures: 0 });
  });

  it('tells of listeners that throw, and does the task all the same', async () => {
    const taskId = await submit('x');
    const worker = new Worker({ url: server.tcp, queues: [queue], handler: () => 'done' });
    const errors: LeaseholdError[] = [];
    const heard: string[] = [];
    worker.on('error', (error) => errors.push(error));
    worker.on('leased', () => {
      throw new Error('leased');
    });
    worker.on('leased', () => heard.push('leased'));
    // As in a program in JavaScript: an async listener.
    const rejects: () => unknown = () => Promise.reject(new Error('completed'));
    worker.on('completed', rejects);
    worker.once('protocol', () => {
      throw new Error('protocol');
    });
    await worker.run({ untilEmpty: true });
    expect(await client.task(taskId)).to.include({ state: 'COMPLETED', attempt: 1 });
    expect(heard).to.deep.equal(['leased']);
    expect(errors.map(({ code }) => code)).to.deep.equal(['LISTENER', 'LISTENER', 'LISTENER']);
    for (const [at, said] of ['protocol', 'leased', 'completed'].entries()) {
      expect(errors[at]?.message).to.contain(said);
    }
  });

  it('does not ask a listener for errors about its own error', async () => {
    const worker = new Worker({ url: server.tcp, queues: [queue], handler: () => {} });
    const warned = new Promise((resolve) => process.once('warning', resolve));
    worker.on('error', () => {
      throw new Error('twice');
    });
    worker.emit('error', new LeaseholdError('UNREACHABLE', 'once'));
    expect(String(await warned)).to.contain('twice');
  });

  it('completes the task whose handler awaits the stop of its own worker', async () => {
    const [own, other] = [await submit('own'), await submit('other')];
    let begin: () => void = () => {};
    const began = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const worker = new Worker({
      url: server.tcp,
      queues: [queue],
      concurrency: 2,
      handler: async (task) => {
        if (task.text() === 'other') begin();
        await began;
        if (task.text() === 'own') await worker.stop({ graceMs: Infinity });
        return 'done';
      },
    });
    const completed: string[] = [];
    worker.on('completed', ({ task }) => completed.push(task.taskId));
    await worker.run();
    expect(completed).to.have.members([own, other]);
    expect((await client.task(own)).state).to.equal('COMPLETED');
  });

  it('ends the wait of such a handler with the grace', async () => {
    const taskId = await submit('own');
    const worker = new Worker({
      url: server.tcp,
      queues: [queue],
      handler: async (_, { signal }) => {
        await worker.stop({ graceMs: 0 });
        signal.throwIfAborted();
      },
    });
    const released = event(worker, 'released');
    await worker.run();
    expect((await released).task.taskId).to.equal(taskId);
    expect(await client.task(taskId)).to.include({ state: 'WAITING', failures: 0 });
  });

  it('ends at once when it was stopped before it ran', async () => {
    const taskId = await submit('x');
    const worker = new Worker({ url: server.tcp, queues: [queue], handler: () => {} });
    await worker.stop();
    await worker.run();
    expect(await client.task(taskId)).to.include({ state: 'WAITING', attempt: 0 });
  });

  it('makes a payload that is no JSON a permanent failure', async () => {
    const retryPolicy = { maxRetries: 5 };
    const { taskId } = await client.submit({ payload: '{"a":', queue, retryPolicy });
    const { worker } = start((task) => task.json());
    await event(worker, 'failed');
    const task = await client.task(taskId);
    expect(task).to.include({ state: 'FAILED', attempt: 1, lastFailureKind: 'permanent' });
    expect(task.lastFailureReason).to.match(/^the payload is no JSON: /);
    expect(() => task.json()).to.throw('no JSON');
    expect(task.text()).to.equal('{"a":');
    expect(Object.keys(task)).to.not.include('json');
  });

  it('makes a result that cannot be stored a permanent failure', async () => {
    const taskId = await submit('x');
    const { worker } = start(() => new Map([['a', 1]]));
    await event(worker, 'failed');
    const { lastFailureKind, lastFailureReason } = await client.task(taskId);
    expect(lastFailureKind).to.equal('permanent');
    expect(lastFailureReason).to.contain('Map');
  });

  describe('whose failures nobody listens for', () => {
    const said: string[] = [];
    const { stderr } = process;
    const real = stderr.write;
    beforeEach(() => {
      said.length = 0;
      stderr.write = ((line: string, done?: () => void): boolean => {
        said.push(line);
        done?.();
        return true;
      }) as typeof real;
    });
    afterEach(() => {
      stderr.write = real;
    });

    it('tells each of them in one line on the standard error', async () => {
      const taskId = await submit('x');
      const handler = (): never => {
        throw new Error('first\n\u001b[31msecond');
      };
      await new Worker({ url: server.tcp, queues: [queue], handler }).run({ untilEmpty: true });
      expect(said).to.have.length(1);
      expect(said[0]).to.match(
        RegExp(`^leasehold: ${taskId} L\\d+ failed, the task is FAILED: first \\[31msecond\n$`),
      );
    });

    it('tells a lost lease and a rejected report', async () => {
      const [lost, rejected] = [await submit('lost'), await submit('rejected')];
      const handler: Handler = async (task, { signal }) => {
        if (task.text() === 'rejected') return void (await client.complete(task, 'by hand'));
        await client.kill(lost);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      };
      const options = { url: server.tcp, queues: [queue], concurrency: 2, handler };
      await new Worker(options).run({ untilEmpty: true });
      expect(said.filter((line) => line.includes(`${lost} `)).join()).to.match(/ lost: task_dead/);
      expect(said.filter((line) => line.includes(`${rejected} `)).join()).to.contain('REJECTED');
      expect(said).to.have.length(2);
    });

    it('tells nothing when it is quiet, or somebody listens', async () => {
      await submit('x');
      const handler = (): never => {
        throw new Error('x');
      };
      const options = { url: server.tcp, queues: [queue], handler };
      await new Worker({ ...options, quiet: true }).run({ untilEmpty: true });
      await submit('y');
      const worker = new Worker(options).on('failed', () => {});
      await worker.run({ untilEmpty: true });
      expect(said).to.deep.equal([]);
    });
  });
});
