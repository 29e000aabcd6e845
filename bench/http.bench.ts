// The same over HTTP: one request at a time with keep-alive, and in batches of 500. Beside it in
// the same rounds: a bare fastify route with the same fields that answers from memory.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { closedLoop, type Work } from './driver.ts';
import { atLeast, type Bench, interleaved, ratios, rowOf } from './harness.ts';
import { HttpLink, leaseAndCompleteBatch, lifecycle, submitBatch } from './http-link.ts';
import { PAYLOAD } from './records.ts';
import { cpuMs, type Server, startServer } from './server.ts';

const BATCH = 500;
const CLIENTS = 64;

/** @returns the bare route's process and port; it ends with `disconnect`. */
async function startBareRoute(): Promise<{ child: ChildProcess; port: number }> {
  const file = fileURLToPath(new URL('./bare-route.js', import.meta.url));
  const child = fork(file, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { child, port: Number(line.toString()) };
}

async function submit(link: HttpLink): Promise<void> {
  const { status } = await link.post('/v1/tasks', `{"payload":"${PAYLOAD}"}`);
  if (status !== 201) throw new Error(`submit: ${status}`);
}

async function perSecond(works: readonly Work[], seconds: number, each = 1): Promise<number> {
  return (await closedLoop(works, seconds)).perSecond * each;
}

/** How fast a batch of submits is answered, and how fast 500 are leased and completed. */
async function batches(server: Server, seconds: number) {
  const link = await HttpLink.to(server.httpPort);
  const takenMs = { submit: 0, work: 0 };
  let count = 0;
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) {
    const began = performance.now();
    await submitBatch(link, BATCH, PAYLOAD);
    const submitted = performance.now();
    await leaseAndCompleteBatch(link, 'worker-1', BATCH);
    takenMs.submit += submitted - began;
    takenMs.work += performance.now() - submitted;
    count += BATCH;
  }
  link.close();
  return { submit: (count / takenMs.submit) * 1_000, work: (count / takenMs.work) * 1_000 };
}

async function connect(port: number): Promise<HttpLink[]> {
  return Promise.all(Array.from({ length: CLIENTS }, () => HttpLink.to(port)));
}

export const bench: Bench = {
  about: 'over HTTP, durable at each answer, 100-byte payloads',
  async run({ rounds, seconds, say }) {
    const server = await startServer();
    const bare = await startBareRoute();
    const links = await connect(server.httpPort);
    const bareLinks = await connect(bare.port);
    const works = links.map((link, client) => () => lifecycle(link, `worker-${client}`, PAYLOAD));
    const work: number[] = [];
    const cpuUs: number[] = [];
    const taken = await interleaved<string>(
      { rounds, say },
      {
        '1': () => perSecond(works.slice(0, 1), seconds),
        '16': () => perSecond(works.slice(0, 16), seconds),
        '64': () => perSecond(works, seconds),
        submit: async () => {
          const [cpu, began] = [cpuMs(server.pid), performance.now()];
          const rate = await perSecond(
            links.map((link) => () => submit(link)),
            seconds,
          );
          const requests = (rate * (performance.now() - began)) / 1_000;
          cpuUs.push(((cpuMs(server.pid) - cpu) * 1_000) / requests);
          return rate;
        },
        bare: () =>
          perSecond(
            bareLinks.map((link) => () => submit(link)),
            seconds,
          ),
        batch: async () => {
          const rates = await batches(server, seconds);
          work.push(rates.work);
          return rates.submit;
        },
      },
    );
    for (const link of [...links, ...bareLinks]) link.close();
    bare.child.disconnect();
    await server.stop();
    const of = (name: string): number[] => taken[name] ?? [];
    const toBare = ratios(of('submit'), of('bare'));
    return [
      rowOf('lifecycle, 1 connection', 'tasks/s', of('1')),
      rowOf('lifecycle, 16 connections', 'tasks/s', of('16')),
      rowOf('lifecycle, 64 connections', 'tasks/s', of('64')),
      rowOf('submit, 64 connections', 'requests/s', of('submit')),
      rowOf("submit, 64 connections: server's processor time", 'µs/request', cpuUs),
      rowOf('bare fastify route, 64 connections', 'requests/s', of('bare')),
      rowOf('submit ÷ bare route', 'ratio', toBare, { goal: atLeast(toBare, 0.9) }),
      rowOf(`batch of ${BATCH}: submit`, 'tasks/s', of('batch')),
      rowOf(`batch of ${BATCH}: lease and complete`, 'tasks/s', work),
    ];
  },
};
