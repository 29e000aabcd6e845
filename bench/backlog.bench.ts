// What a growing backlog does to the cost of a lifecycle: the same 16 connections at 1 k, 10 k,
// 100 k and 1 M waiting tasks (10 M with --large). The sizes cannot take turns, so between them the
// same work is done on an empty server, and each size is told as a ratio to its own neighbour. What
// ticks and sweeps cost is the processor time of a server that is asked for nothing.

import { closedLoop, pause, type Work } from './driver.ts';
import { fill } from './fill.ts';
import { atMost, type Bench, percentile, type Row, ratios, rowOf } from './harness.ts';
import { PAYLOAD } from './records.ts';
import { cpuMs, memoryOf, type Server, startServer } from './server.ts';
import { type Calls, lifecycle, SocketLink } from './socket-link.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const CONNECTIONS = 16;
/** Until what the load left behind, garbage and compiled code, is dealt with. */
const SETTLES_MS = 500;
const IDLE_MS = 2_000;
const OPERATIONS = ['submit', 'lease', 'complete'] as const;
type Operation = (typeof OPERATIONS)[number];
type Taken = Record<Operation, number[]>;

interface Measured {
  readonly server: Server;
  readonly works: readonly Work[];
  /** How long each request took, in µs, since it was last emptied. */
  readonly takenUs: Taken;
}

/** A connection that notes how long each of its requests takes. */
class TimedLink implements Calls {
  private readonly link: SocketLink;
  private readonly takenUs: Taken;

  constructor(link: SocketLink, takenUs: Taken) {
    this.link = link;
    this.takenUs = takenUs;
  }

  async call(method: string, params: string): Promise<string> {
    const began = performance.now();
    const answer = await this.link.call(method, params);
    this.takenUs[method as Operation].push((performance.now() - began) * 1_000);
    return answer;
  }
}

async function start(): Promise<Measured> {
  const server = await startServer();
  const links = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => SocketLink.to(server.socketPort)),
  );
  const takenUs: Taken = { submit: [], lease: [], complete: [] };
  const works = links.map((socket, client) => {
    const link = new TimedLink(socket, takenUs);
    return () => lifecycle(link, `worker-${client}`, PAYLOAD);
  });
  return { server, works, takenUs };
}

/** @returns the server's processor time for one lifecycle, and how long each request took. */
async function cost({ server, works, takenUs }: Measured, seconds: number) {
  for (const operation of OPERATIONS) takenUs[operation].length = 0;
  const cpu = cpuMs(server.pid);
  let done = 0;
  const counted = works.map((work) => async () => {
    await work();
    done += 1;
  });
  await closedLoop(counted, seconds);
  const figures: Record<string, number> = {};
  figures['busy'] = ((cpuMs(server.pid) - cpu) * 1_000) / done;
  for (const operation of OPERATIONS) {
    for (const p of [50, 99]) figures[`${operation} p${p}`] = percentile(takenUs[operation], p);
  }
  await pause(SETTLES_MS);
  const idle = cpuMs(server.pid);
  await pause(IDLE_MS);
  figures['idle'] = ((cpuMs(server.pid) - idle) * 1e6) / IDLE_MS;
  return figures;
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
      const [beside, alone]: [Cost[], Cost[]] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        say(`${size} waiting tasks, round ${round + 1} of ${rounds}`);
        alone.push(await cost(empty, seconds));
        beside.push(await cost(filled, seconds));
      }
      rows.push(...rowsOf(size, beside, alone));
      const memory = memoryOf(filled.server.pid).anonymous / 1e6;
      rows.push(rowOf(`${named(size)}: private memory`, 'MB', [memory]));
    }
    await empty.server.stop();
    await filled.server.stop();
    return rows;
  },
};

const named = (size: number): string => `${size.toLocaleString('en').replaceAll(',', ' ')} waiting`;

function rowsOf(size: number, beside: readonly Cost[], alone: readonly Cost[]): Row[] {
  const of = (what: string): number[] => beside.map((one) => one[what] as number);
  const others = (what: string): number[] => alone.map((one) => one[what] as number);
  const ratio = (what: string): number[] => ratios(of(what), others(what));
  const name = named(size);
  const busy = ratio('busy');
  return [
    rowOf(`${name}: server's processor time`, 'µs/task', of('busy')),
    rowOf(`${name}: processor time ÷ empty server's`, 'ratio', busy, { goal: atMost(busy, 1.3) }),
    rowOf(`${name}: processor time when idle`, 'µs/s', of('idle')),
    ...OPERATIONS.flatMap((operation) => [
      rowOf(`${name}: ${operation}: p50`, 'µs', of(`${operation} p50`)),
      rowOf(`${name}: ${operation}: p50 ÷ empty server's`, 'ratio', ratio(`${operation} p50`)),
      rowOf(`${name}: ${operation}: p99`, 'µs', of(`${operation} p99`)),
      rowOf(`${name}: ${operation}: p99 ÷ empty server's`, 'ratio', ratio(`${operation} p99`)),
    ]),
  ];
}
