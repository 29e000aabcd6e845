// Typed payloads: a schema of the user's judges them before they are sent and before they are
// worked on. The schema is made by hand here, of nothing but what the Standard Schema asks for.

import { expect } from 'chai';
import {
  Client,
  type LeaseholdError,
  type Schema,
  type SchemaResult,
  Worker,
} from '../../src/index.ts';
import { sharedServer } from './real-server.ts';
import { event, startWorker, stopWorkers } from './worker-support.ts';

interface Given {
  readonly to: { readonly address: string };
  readonly at: string;
}
interface Mail {
  readonly address: string;
  readonly at: Date;
}

function judge(value: unknown): SchemaResult<Mail> {
  const { to, at } = value as Partial<Given>;
  if (typeof to?.address !== 'string' || !to.address.includes('@')) {
    return { issues: [{ message: 'no address', path: ['to', { key: 'address' }] }] };
  }
  if (Number.isNaN(Date.parse(String(at)))) {
    return { issues: [{ message: 'no date', path: ['at'] }, { message: 'nor anything else' }] };
  }
  return { value: { address: to.address, at: new Date(String(at)) } };
}

const make = (validate: (value: unknown) => SchemaResult<Mail> | Promise<SchemaResult<Mail>>) => {
  const schema: Schema<Given, Mail> = { '~standard': { version: 1, vendor: 'hand', validate } };
  return schema;
};
const mail = make(judge);
/** As arktype makes them. */
const callable = Object.assign(
  () => 'called',
  make(async (value) => judge(value)),
);

const GOOD: Given = { to: { address: 'a@example.org' }, at: '2026-11-28T00:00:00Z' };

describe('a schema', () => {
  const server = sharedServer('--backoff-ms', '0');
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
  after(() => client.close());

  for (const [name, schema] of Object.entries({ 'an object': mail, 'a function': callable })) {
    it(`that is ${name} types what a handler gets`, async () => {
      const { taskId } = await client.submit({ queue, payload: GOOD });
      const worker = new Worker({
        url: server.tcp,
        queues: [queue],
        schema,
        handler: (task) => {
          // The compiler knows these members by the schema.
          const { address, at } = task.json();
          return `${address} ${at.getUTCFullYear()} ${task.text().length}`;
        },
      });
      await worker.run({ untilEmpty: true });
      const length = JSON.stringify(GOOD).length;
      const { result } = await client.task(taskId);
      expect(String(result)).to.equal(`a@example.org 2026 ${length}`);
    });
  }

  it('makes a payload that does not fit a permanent failure which names the field', async () => {
    const payloads = [{ to: { address: 'nobody' } }, { ...GOOD, at: 'soon' }, 'no JSON'];
    const tasks: string[] = [];
    for (const payload of payloads) tasks.push((await client.submit({ queue, payload })).taskId);
    let called = 0;
    const handler = (): void => void (called += 1);
    const options = { url: server.tcp, queues: [queue], quiet: true, schema: mail, handler };
    await new Worker(options).run({ untilEmpty: true });
    const reasons: string[] = [];
    for (const taskId of tasks) {
      const { state, attempt, lastFailureKind, lastFailureReason } = await client.task(taskId);
      expect({ state, attempt, lastFailureKind }).to.deep.equal({
        state: 'FAILED',
        attempt: 1,
        lastFailureKind: 'permanent',
      });
      reasons.push(String(lastFailureReason));
    }
    expect(reasons[0]).to.equal('the payload is not as it should be: to.address: no address');
    expect(reasons[1]).to.match(/: at: no date; nor anything else$/);
    expect(reasons[2]).to.match(/^the payload is no JSON: /);
    expect(called).to.equal(0);
  });

  it('that throws is a failure which another attempt may mend', async () => {
    const { taskId } = await client.submit({
      queue,
      payload: GOOD,
      retryPolicy: { maxRetries: 0 },
    });
    const schema = make(() => {
      throw new Error('the schema is broken');
    });
    const { worker } = startWorker({ url: server.tcp, queues: [queue], schema, handler: () => {} });
    await event(worker, 'failed');
    const { lastFailureKind, lastFailureReason } = await client.task(taskId);
    expect([lastFailureKind, lastFailureReason]).to.deep.equal(['error', 'the schema is broken']);
  });

  it('is asked before a payload is sent', async () => {
    const mails = client.queue(queue, { schema: mail });
    const { taskId, requestId } = await mails.submit({ payload: GOOD, requestId: 'mail-1' });
    expect(requestId).to.equal('mail-1');
    const task = await client.task(taskId);
    expect(task.queue).to.equal(queue);
    // What it makes of the payload is for who works on it.
    expect(task.json()).to.deep.equal(GOOD);

    const wrong = { to: { address: 'nobody' }, at: '' };
    const error = (await mails
      .submit({ payload: wrong })
      .catch((e: unknown) => e)) as LeaseholdError;
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
    expect(error.message).to.equal('payload: to.address: no address');
    expect((await client.tasks({ queue })).tasks).to.have.length(1);
    // @ts-expect-error -- The compiler refuses what the schema does not take.
    await mails.submit({ payload: { to: 'a' } }).catch(() => {});
  });

  it('may be left out of a queue', async () => {
    const { taskId } = await client.queue(queue).submit({ payload: 'x' });
    expect(await client.task(taskId)).to.include({ queue });
  });

  it('is refused when it is none, and beside a module', () => {
    const handler = new URL('file:///handler.mjs');
    const acts = [
      () => new Worker({ handler: () => {}, schema: {} as never }),
      () => client.queue(queue, { schema: judge as never }),
      () => new Worker({ handler, schema: mail }),
    ];
    for (const act of acts) {
      expect(act).to.throw('schema').and.include({ code: 'INVALID_OPTION' });
    }
  });

  it('says at most five of its issues', async () => {
    const issues = Array.from({ length: 7 }, (_, at) => ({ message: `wrong ${at}` }));
    const mails = client.queue(queue, { schema: make(() => ({ issues })) });
    const error = (await mails.submit({ payload: GOOD }).catch((e: unknown) => e)) as Error;
    expect(error.message).to.match(/^payload: wrong 0; .*; wrong 4; and 2 more$/);
  });
});
