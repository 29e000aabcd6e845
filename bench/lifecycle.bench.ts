// submit → lease → complete over the socket of the real server, three durable records a task: one
// request at a time on 1, 16 and 64 connections, pipelined on 16, and at half of its own rate with
// open arrivals. Beside it in the same rounds: bare LMDB commits. What is asked of these figures is
// asked beside its peers (peers/goals.mjs).

import { rmSync } from 'node:fs';
import { BareLmdb } from './bare-lmdb.ts';
import { closedLoop, type Driven, openLoop, type Work } from './driver.ts';
import { type Bench, interleaved, percentile, type Row, ratios, rowOf } from './harness.ts';
import { scratch } from './machine.ts';
import { PAYLOAD } from './records.ts';
import { cpuMs, type Server, startServer, writtenBytes } from './server.ts';
import { expectIn, lifecycle, SocketLink } from './socket-link.ts';

const CLIENTS = [1, 16, 64] as const;
const PIPELINED = { connections: 16, inFlight: 64 };
const RECORDS_A_TASK = 3;

type BareTaken = Awaited<ReturnType<BareLmdb['take']>>;

interface Taken extends Driven {
  /** Of the server's process, and of its device. */
  readonly cpuUs: number;
  readonly bytes: number;
}

async function driven(
  server: Server,
  works: readonly Work[],
  seconds: number,
  inFlight = 1,
): Promise<Taken> {
  const [cpu, bytes] = [cpuMs(server.pid), writtenBytes(server.pid)];
  let done = 0;
  const counted = works.map((work) => async () => {
    await work();
    done += 1;
  });
  const taken = await closedLoop(counted, seconds, inFlight);
  return {
    ...taken,
    cpuUs: ((cpuMs(server.pid) - cpu) * 1_000) / done,
    bytes: (writtenBytes(server.pid) - bytes) / done,
  };
}

/** Lone submits from many connections. @returns p50 and p99 from when each was due, in µs. */
async function openSubmits(links: readonly SocketLink[], perSecond: number, seconds: number) {
  const works = links.map((link) => async () => {
    expectIn(await link.call('submit', `{"payload":"${PAYLOAD}"}`), '"state":"WAITING"');
  });
  const { takenUs } = await openLoop(works, perSecond, seconds);
  return { p50Us: percentile(takenUs, 50), p99Us: percentile(takenUs, 99) };
}

function rows(name: string, taken: readonly Taken[]): Row[] {
  const of = (what: keyof Taken): number[] => taken.map((one) => one[what]);
  return [
    rowOf(name, 'tasks/s', of('perSecond')),
    rowOf(`${name}: p50`, 'µs', of('p50Us')),
    rowOf(`${name}: p99`, 'µs', of('p99Us')),
    rowOf(`${name}: server's processor time`, 'µs/task', of('cpuUs')),
    rowOf(`${name}: written to the device`, 'bytes/task', of('bytes')),
  ];
}

export const bench: Bench = {
  about: 'submit → lease → complete over the socket, durable at each answer, 100-byte payloads',
  async run({ rounds, seconds, say }) {
    const directory = scratch('lifecycle');
    const lmdb = new BareLmdb(directory);
    const server = await startServer();
    const links = await Promise.all(
      Array.from({ length: 64 }, () => SocketLink.to(server.socketPort)),
    );
    const works = links.map((link, client) => () => lifecycle(link, `worker-${client}`, PAYLOAD));
    const lone: BareTaken[] = [];
    const grouped: BareTaken[] = [];
    const open: { p50Us: number; p99Us: number }[] = [];
    const { connections, inFlight } = PIPELINED;
    const cases: Record<string, () => Promise<Taken>> = {};
    for (const count of CLIENTS) {
      cases[`${count}`] = async () => {
        const taken = await driven(server, works.slice(0, count), seconds);
        if (count !== 64) return taken;
        say('open arrivals');
        const perSecond = (taken.perSecond * RECORDS_A_TASK) / 2;
        open.push(await openSubmits(links, perSecond, seconds));
        return taken;
      };
    }
    cases['pipelined'] = async () => {
      lone.push(await lmdb.take(1, seconds / 2));
      grouped.push(await lmdb.take(256, seconds / 2));
      return driven(server, works.slice(0, connections), seconds, inFlight);
    };
    const taken = await interleaved<string, Taken>({ rounds, say }, cases);
    for (const link of links) link.close();
    await server.stop();
    await lmdb.close();
    rmSync(directory, { recursive: true });
    const rate = (name: string): number[] => (taken[name] ?? []).map((one) => one.perSecond);
    const perTask = (bare: readonly BareTaken[]): number[] =>
      bare.map(({ perSecond }) => perSecond / RECORDS_A_TASK);
    const one = ratios(rate('1'), perTask(lone));
    const deep = ratios(rate('pipelined'), perTask(grouped));
    const commitUs = lone.map((bare) => bare.commitUs);
    const p99Us = open.map((each) => each.p99Us);
    const tail = ratios(p99Us, commitUs);
    const at = "submits at half of 64 × 1's rate, from when due";
    return [
      ...CLIENTS.flatMap((count) => rows(`${count} × 1`, taken[`${count}`] ?? [])),
      ...rows(`${connections} × ${inFlight}`, taken['pipelined'] ?? []),
      rowOf('bare LMDB, groups of 1: p50', 'µs', commitUs),
      rowOf(
        'bare LMDB, groups of 256',
        'records/s',
        grouped.map(({ perSecond }) => perSecond),
      ),
      rowOf('1 × 1 ÷ (bare LMDB of 1 ÷ 3)', 'ratio', one),
      rowOf(`${connections} × ${inFlight} ÷ (bare LMDB of 256 ÷ 3)`, 'ratio', deep),
      rowOf(
        `${at}: p50`,
        'µs',
        open.map(({ p50Us }) => p50Us),
      ),
      rowOf(`${at}: p99`, 'µs', p99Us),
      rowOf(`${at}: p99 ÷ p50 of a bare commit`, 'ratio', tail),
    ];
  },
};
