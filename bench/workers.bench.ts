// Many workers: 2 000 connections, each holding one lease and sending a heartbeat every second, all
// to be answered in time; and thousands of requests parked for work that does not come.

import { pause } from './driver.ts';
import { fill } from './fill.ts';
import { atMost, type Bench, percentile, rowOf } from './harness.ts';
import { PAYLOAD } from './records.ts';
import { cpuMs, type Server, startServer } from './server.ts';
import { expectIn, SocketLink } from './socket-link.ts';

const WORKERS = 2_000;
const EVERY_MS = 1_000;
const HEARTBEATS = 8;

/** @returns how long each heartbeat took, in ms; throws when a lease was lost. */
async function heartbeats(link: SocketLink, worker: number): Promise<number[]> {
  const leased = await link.call('lease', `{"worker_id":"w${worker}","queues":["work"]}`);
  const task = /"task_id":"(T\d+)"/.exec(leased)?.[1];
  const lease = /"lease_id":"(L\d+)"/.exec(leased)?.[1];
  if (lease === undefined) throw new Error(`no lease: ${leased.slice(0, 200)}`);
  const takenMs: number[] = [];
  await pause((worker / WORKERS) * EVERY_MS);
  for (let beat = 0; beat < HEARTBEATS; beat += 1) {
    const at = performance.now();
    const params = `{"task_id":"${task}","lease_id":"${lease}"}`;
    expectIn(await link.call('heartbeat', params), '"outcome":"OK"');
    const took = performance.now() - at;
    takenMs.push(took);
    await pause(Math.max(0, EVERY_MS - took));
  }
  return takenMs;
}

async function share(server: Server): Promise<number> {
  const [cpu, began] = [cpuMs(server.pid), performance.now()];
  await pause(3_000);
  return ((cpuMs(server.pid) - cpu) / (performance.now() - began)) * 100;
}

export const bench: Bench = {
  about: `${WORKERS} connections with one lease each, a heartbeat every ${EVERY_MS} ms`,
  async run({ say }) {
    // Short enough that a heartbeat that is a second late loses its lease.
    const server = await startServer({ knobs: ['--lease-duration-ms', '3000'] });
    const idle = await share(server);
    await fill(server.socketPort, WORKERS, () => `{"queue":"work","payload":"${PAYLOAD}"}`);
    say('connecting');
    const links: SocketLink[] = [];
    for (let i = 0; i < WORKERS; i += 1) links.push(await SocketLink.to(server.socketPort));
    say('heartbeats');
    const [cpu, began] = [cpuMs(server.pid), performance.now()];
    const taken = (await Promise.all(links.map(heartbeats))).flat();
    const tookMs = performance.now() - began;
    const busy = ((cpuMs(server.pid) - cpu) / tookMs) * 100;
    say('parked');
    for (const [index, link] of links.entries()) {
      link.send(
        'lease',
        `{"worker_id":"w${index}","queues":["q${index}"],"wait_ms":55000}`,
        () => {},
      );
    }
    await pause(500);
    const parked = await share(server);
    for (const link of links) link.close();
    await server.stop();
    const p99 = [percentile(taken, 99)];
    return [
      rowOf('heartbeats answered', 'requests', [taken.length]),
      rowOf('heartbeat: p50', 'ms', [percentile(taken, 50)]),
      rowOf('heartbeat: p99', 'ms', p99, { goal: atMost(p99, EVERY_MS) }),
      rowOf('heartbeat: longest', 'ms', [Math.max(...taken)]),
      rowOf("server's processor time, heartbeating", '% of one core', [busy]),
      rowOf(`server's processor time, ${WORKERS} parked in as many queues`, '% of one core', [
        parked,
      ]),
      rowOf("server's processor time, idle", '% of one core', [idle]),
    ];
  },
};
