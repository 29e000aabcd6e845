// What a program does through a proxy that speaks TLS, to be run with NODE_EXTRA_CA_CERTS: prints
// what came of each step, as one line of JSON.
//
// usage: node tls-client.js URL TOKEN POLL-MS

import { Client, LeaseholdError, Worker } from '../../src/index.ts';

const [url = '', token = '', pollMs = ''] = process.argv.slice(2);
/** A record that is held back in a buffer would not come at all. */
const FOLLOW_MS = 60_000;
/** Far less than the long poll, which waits for 20 s. */
const STOP_MS = 8_000;
const client = new Client({ url, token, retries: 0 });

/** @returns whether a record comes while it is followed, and not when a buffer is full */
async function follow(): Promise<boolean> {
  const authorization = `Bearer ${token}`;
  const asked = await fetch(`${url}/v1/log?follow=true&queue=followed`, {
    headers: { authorization },
  });
  const reader = asked.body?.getReader();
  const { taskId } = await client.submit({ queue: 'followed', payload: 'a' });
  const late = setTimeout(() => void reader?.cancel(), FOLLOW_MS);
  let text = '';
  while (!text.includes(`"${taskId}"`)) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done) return false;
    text += Buffer.from(value ?? []).toString();
  }
  clearTimeout(late);
  await reader?.cancel();
  return true;
}

async function work(): Promise<string> {
  const { taskId } = await client.submit({ queue: 'work', payload: 'a' });
  const worker = new Worker({ url, token, queues: ['work'], handler: () => 'done' });
  await worker.run({ untilEmpty: true });
  return String((await client.task(taskId)).result);
}

async function poll(waitMs: number): Promise<string> {
  const from = performance.now();
  try {
    const { empty } = await client.lease({ workerId: 'w', queues: ['none'], waitMs });
    return performance.now() - from >= waitMs ? String(empty?.reason) : 'too early';
  } catch (error) {
    return (error as LeaseholdError).code;
  }
}

async function batch(): Promise<number> {
  const payload = 'x'.repeat(1_000_000);
  const requests = Array.from(
    { length: 4 },
    () => ({ op: 'submit', queue: 'big', payload }) as const,
  );
  return (await client.batch(requests)).filter((answer) => 'taskId' in answer).length;
}

/** @returns whether a worker that waits for a task in a long poll stops soon */
async function stop(): Promise<boolean> {
  const worker = new Worker({ url, token, queues: ['none'], handler: () => 'done' });
  const running = worker.run();
  await new Promise<void>((resolve) => {
    worker.on('protocol', ({ op }) => {
      if (op === 'lease') resolve();
    });
  });
  const from = performance.now();
  await worker.stop();
  await running;
  return performance.now() - from < STOP_MS;
}

async function withoutToken(): Promise<string> {
  const stranger = new Client({ url, retries: 0 });
  const error = await stranger.stats().catch((thrown: unknown) => thrown as LeaseholdError);
  stranger.close();
  return error instanceof LeaseholdError ? error.code : 'answered';
}

try {
  const done = { batch: await batch(), work: await work(), follow: await follow() };
  const polls = { poll: await poll(Number(pollMs)), stop: await stop() };
  const more = { ...polls, stranger: await withoutToken() };
  console.log(JSON.stringify({ ...done, ...more }));
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).message }));
}
client.close();
