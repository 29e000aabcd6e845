// Five tests of a worker, with a coordinator in the test's own process. They are written for
// node:test; under mocha and jest leave the import of it out, under vitest import from 'vitest'.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { startCoordinator } from 'leasehold/testing';

let coordinator;
let sent;

/** What is tested: it sends a mail, unless it has lost its lease. */
async function send(task, { stillMine }) {
  const { to } = task.json();
  if (to === undefined) throw new Error('nobody to send it to');
  if (!(await stillMine())) throw new Error('the lease is not confirmed');
  sent.push(to);
}

beforeEach(async () => {
  sent = [];
  coordinator = await startCoordinator({ maxRetries: 2, backoffMs: 5_000, poisonThreshold: 3 });
});
afterEach(() => coordinator.stop());

it('does a task whose first worker died', async () => {
  const client = coordinator.client();
  await client.submit({ queue: 'mail', payload: { to: 'ada@example.org' } });
  await client.lease({ workerId: 'dies', queues: ['mail'] });
  await coordinator.clock.advance('31s'); // No heartbeat came in 30 s: the lease runs out.
  const { ended, task } = await coordinator.runNext(send, { queue: 'mail' });
  assert.equal(ended, 'completed');
  assert.equal(task.attempt, 2);
  assert.deepEqual(sent, ['ada@example.org']);
});

it('sends nothing after it has lost its lease', async () => {
  const slow = async (task, context) => {
    await coordinator.expire(task); // While it works, its lease runs out.
    await send(task, context);
  };
  const { ended, task } = await coordinator.runOnce(slow, { to: 'ada@example.org' });
  assert.equal(ended, 'lost');
  assert.equal(task.state, 'WAITING');
  assert.deepEqual(sent, []);
});

it('has one effect when two attempts overlap, because the store compares tokens', async () => {
  const store = { token: 0, writes: [] };
  const write = (task, value) => {
    if (task.fencingToken < store.token) return;
    store.token = task.fencingToken;
    store.writes.push(value);
  };
  const first = async (task) => {
    await coordinator.expire(task);
    await coordinator.runNext(async (again) => write(again, 'second'), { queue: 'mail' });
    write(task, 'first'); // Too late: the store knows a greater token.
  };
  const { ended } = await coordinator.runOnce(first, {}, { queue: 'mail' });
  assert.equal(ended, 'lost');
  assert.deepEqual(store.writes, ['second']);
});

it('gives up after two retries', async () => {
  let ran = await coordinator.runOnce(send, { subject: 'hello' }, { queue: 'mail' });
  for (let retry = 1; retry <= 2; retry += 1) {
    assert.equal(ran.ended, 'failed');
    assert.match(ran.reason, /nobody to send it to/);
    assert.equal(ran.task.state, 'WAITING');
    await coordinator.clock.advance('5s'); // The backoff is over.
    ran = await coordinator.runNext(send, { queue: 'mail' });
  }
  assert.equal(ran.task.state, 'FAILED');
});

it('is not given a task on which three workers died', async () => {
  const client = coordinator.client();
  const { taskId } = await client.submit({ queue: 'mail', payload: 'too much for anybody' });
  for (let died = 0; died < 3; died += 1) {
    const { leases } = await client.lease({ workerId: `w${died}`, queues: ['mail'] });
    await coordinator.expire(leases[0]);
  }
  const { leases } = await client.lease({ workerId: 'w3', queues: ['mail'] });
  assert.equal(leases.length, 0);
  assert.equal((await client.task(taskId)).state, 'DEAD');
});
