// A hundred thousand leases that run out in one instant on a real server: how long until the last
// one is expired, and what other requests wait meanwhile. The instant is made by stopping the
// process (SIGSTOP) until all of them are over, or by ending it and starting another one then.

import { pause } from './driver.ts';
import { fill } from './fill.ts';
import { atMost, type Bench, interleaved, percentile, type Row, rowOf } from './harness.ts';
import { PAYLOAD } from './records.ts';
import { type Server, startServer } from './server.ts';
import { type Calls, lifecycle, SocketLink } from './socket-link.ts';

const LEASES = 100_000;
const LEASE_MS = 20_000;
const MAX = 500;
const OTHERS = 4;
const LONGEST_MS = 60_000;

interface Stats {
  readonly result: { readonly lease_expirations?: number };
}

async function expirations(link: SocketLink): Promise<number> {
  const stats = JSON.parse(await link.call('stats', '{}')) as Stats;
  const count = stats.result.lease_expirations;
  if (count === undefined) throw new Error('stats tells no expirations');
  return count;
}

async function leaseAll(link: SocketLink, say: (text: string) => void): Promise<number> {
  let last = 0;
  for (let leased = 0; leased < LEASES; ) {
    const params = `{"worker_id":"gone","queues":["held"],"max":${MAX}}`;
    const answer = await link.call('lease', params);
    const got = answer.split('"lease_id"').length - 1;
    if (got === 0) throw new Error(`${leased} leased, then: ${answer.slice(0, 200)}`);
    leased += got;
    last = performance.now();
    say(`${leased} of ${LEASES} leased`);
  }
  return last;
}

type How = 'paused' | 'down';
const KNOBS = ['--lease-duration-ms', String(LEASE_MS), '--backoff-ms', '0'];

/** A server on which all leases are over in the moment in which this resolves. */
async function allOver(how: How, say: (text: string) => void): Promise<Server> {
  const server = await startServer({ knobs: KNOBS });
  await fill(
    server.socketPort,
    LEASES,
    () => `{"queue":"held","payload":"${PAYLOAD}"}`,
    (done) => say(`${done} of ${LEASES} submitted`),
  );
  const link = await SocketLink.to(server.socketPort);
  const lastLeased = await leaseAll(link, say);
  if ((await expirations(link)) > 0) throw new Error('leasing took longer than a lease lasts');
  link.close();
  if (how === 'paused') process.kill(server.pid, 'SIGSTOP');
  else await server.stop(true);
  say('waiting until all leases are over');
  await pause(lastLeased + LEASE_MS + 100 - performance.now());
  if (how === 'down') return startServer({ knobs: KNOBS, directory: server.directory });
  process.kill(server.pid, 'SIGCONT');
  return server;
}

async function once(how: How, say: (text: string) => void) {
  const server = await allOver(how, say);
  const began = performance.now();
  const link = await SocketLink.to(server.socketPort);
  const others = await Promise.all(
    Array.from({ length: OTHERS }, () => SocketLink.to(server.socketPort)),
  );
  const takenMs: number[] = [];
  const run = { over: false };
  const beside = others.map(async (other, client) => {
    const timed: Calls = {
      async call(method, params) {
        const at = performance.now();
        const answer = await other.call(method, params);
        takenMs.push(performance.now() - at);
        return answer;
      },
    };
    while (!run.over) await lifecycle(timed, `worker-${client}`, PAYLOAD);
  });
  while ((await expirations(link)) < LEASES) {
    if (performance.now() - began > LONGEST_MS) throw new Error('not all leases expired');
    await pause(5);
  }
  const allMs = performance.now() - began;
  run.over = true;
  await Promise.all(beside);
  for (const other of [...others, link]) other.close();
  await server.stop();
  const { readyMs } = server;
  return { allMs, p99Ms: percentile(takenMs, 99), requests: takenMs.length, readyMs };
}

type Taken = readonly Awaited<ReturnType<typeof once>>[];

function rowsPaused(taken: Taken): Row[] {
  const all = taken.map(({ allMs }) => allMs);
  const p99 = taken.map(({ p99Ms }) => p99Ms);
  const requests = taken.map((one) => one.requests);
  return [
    rowOf('until all are expired', 'ms', all, { goal: atMost(all, 2_000) }),
    rowOf('other requests meanwhile: p99', 'ms', p99, { goal: atMost(p99, 100) }),
    rowOf('other requests meanwhile', 'requests', requests),
  ];
}

/** Most are expired before it is ready, so hardly a request meets them. */
function rowsDown(taken: Taken): Row[] {
  const all = taken.map(({ allMs }) => allMs);
  const readyMs = taken.map((one) => one.readyMs);
  return [
    rowOf('over before a start: from spawn to ready', 'ms', readyMs),
    rowOf('over before a start: from ready until all are expired', 'ms', all, {
      goal: atMost(all, 2_000),
    }),
  ];
}

export const bench: Bench = {
  about: `${LEASES} leases over in one instant, ${OTHERS} connections working meanwhile`,
  async run({ rounds, say }) {
    // Each round takes half a minute: three tell as much as five.
    const options = { rounds: Math.min(rounds, 3), say };
    const taken = await interleaved(options, {
      paused: () => once('paused', say),
      down: () => once('down', say),
    });
    return [...rowsPaused(taken.paused), ...rowsDown(taken.down)];
  },
};
