// What a growing backlog does to the cost of a lifecycle: the same 16 connections at 1 k, 10 k,
// 100 k and 1 M waiting tasks (10 M with --large). The sizes cannot take turns, so between them the
// same work is done on an empty server, and each size is told as a ratio to its own neighbour.

import { closedLoop, type Work } from './driver.ts';
import { fill } from './fill.ts';
import { atMost, type Bench, type Row, ratios, rowOf } from './harness.ts';
import { PAYLOAD } from './records.ts';
import { cpuMs, memoryOf, type Server, startServer } from './server.ts';
import { lifecycle, SocketLink } from './socket-link.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const CONNECTIONS = 16;

interface Measured {
  readonly server: Server;
  readonly works: readonly Work[];
}

async function start(): Promise<Measured> {
  const server = await startServer();
  const links = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => SocketLink.to(server.socketPort)),
  );
  const works = links.map((link, client) => () => lifecycle(link, `worker-${client}`, PAYLOAD));
  return { server, works };
}

/** @returns the server's processor time for one lifecycle, and how long one takes. */
async function cost({ server, works }: Measured, seconds: number) {
  const cpu = cpuMs(server.pid);
  let done = 0;
  const counted = works.map((work) => async () => {
    await work();
    done += 1;
  });
  const { p50Us, p99Us } = await closedLoop(counted, seconds);
  return { cpuUs: ((cpuMs(server.pid) - cpu) * 1_000) / done, p50Us, p99Us };
}

type Cost = Awaited<ReturnType<typeof cost>>;

export const bench: Bench = {
  about: `${CONNECTIONS} connections beside a growing backlog, each size against an empty server`,
  async run({ rounds, seconds, large, say }) {
    const empty = await start();
    const filled = await start();
    const rows: Row[] = [];
    let tasks = 0;
    for (const size of large ? [...SIZES, 10_000_000] : SIZES) {
      const already = tasks;
      const progress = (done: number): void => say(`${already + done} of ${size} tasks`);
      const payload = `{"payload":"${PAYLOAD}"}`;
      await fill(filled.server.socketPort, size - tasks, () => payload, progress);
      tasks = size;
      const [with_, without]: [Cost[], Cost[]] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        say(`${size} waiting tasks, round ${round + 1} of ${rounds}`);
        without.push(await cost(empty, seconds));
        with_.push(await cost(filled, seconds));
      }
      const ratio = (what: keyof Cost): number[] =>
        ratios(
          with_.map((one) => one[what]),
          without.map((one) => one[what]),
        );
      const of = (what: keyof Cost): number[] => with_.map((one) => one[what]);
      const name = `${size.toLocaleString('en').replaceAll(',', ' ')} waiting`;
      const cpu = ratio('cpuUs');
      rows.push(
        rowOf(`${name}: server's processor time`, 'µs/task', of('cpuUs')),
        rowOf(`${name}: processor time ÷ empty server's`, 'ratio', cpu, {
          goal: atMost(cpu, 1.3),
        }),
        rowOf(`${name}: p50`, 'µs', of('p50Us')),
        rowOf(`${name}: p50 ÷ empty server's`, 'ratio', ratio('p50Us')),
        rowOf(`${name}: p99`, 'µs', of('p99Us')),
        rowOf(`${name}: private memory`, 'MB', [memoryOf(filled.server.pid).anonymous / 1e6]),
      );
    }
    await empty.server.stop();
    await filled.server.stop();
    return rows;
  },
};
