// Owns the command `npm run bench:pairs -- --before DIR`: the built program of another checkout and
// this one's, in turns, round by round, under the same loads. What a change brought is the ratio of
// a pair; figures of different runs are never compared. `--before .` compares a build with itself:
// what that shows is the error of the measurement.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { closedLoop, type Work } from './driver.ts';
import { interleaved, type Row, ratios, rowOf } from './harness.ts';
import { HttpLink, lifecycle as overHttp } from './http-link.ts';
import { describeMachine, sayMachine } from './machine.ts';
import { progressOn } from './progress.ts';
import { PAYLOAD } from './records.ts';
import { print, save } from './report.ts';
import { type Server, startServer, threadCpuUs } from './server.ts';
import { lifecycle, SocketLink } from './socket-link.ts';

interface Shape {
  readonly name: string;
  readonly clients: number;
  readonly inFlight: number;
  readonly ingress: Ingress;
}

const ALL: readonly Shape[] = [
  { name: '1 × 1', clients: 1, inFlight: 1, ingress: 'socket' },
  { name: '16 × 1', clients: 16, inFlight: 1, ingress: 'socket' },
  { name: '64 × 1', clients: 64, inFlight: 1, ingress: 'socket' },
  { name: '16 × 64', clients: 16, inFlight: 64, ingress: 'socket' },
  { name: 'HTTP, 64 × 1', clients: 64, inFlight: 1, ingress: 'http' },
];
const SIDES = ['before', 'after'] as const;
const CLIENTS = 64;
/** On each ingress: V8 compiles its functions anew until then, which is charged to the tasks. */
const WARM_UP_TASKS = 8_000;

type Ingress = 'socket' | 'http';
interface Side extends Readonly<Record<Ingress, readonly Work[]>> {
  readonly server: Server;
  /** Thread ids, known after the warm-up. */
  readonly threads: { coordinator: number; socket: number; http: number };
}

interface Taken {
  readonly perSecond: number;
  readonly p99Us: number;
  /** Processor time a task in µs: of the server's process, and of two of its threads. */
  readonly cpuUs: number;
  readonly ingressUs: number;
  readonly coordinatorUs: number;
}

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '0.6' },
    only: { type: 'string' },
  },
});
const wanted = values.only?.split(',');
const plain = (name: string): string => name.replaceAll(/[ ,]/g, '').replace('×', 'x');
const SHAPES = ALL.filter(({ name }) => wanted?.includes(plain(name)) ?? true);
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const before = resolve(values.before ?? '', 'dist/src/cli/main.js');
if (
  values.before === undefined ||
  !existsSync(before) ||
  !(rounds >= 1 && seconds > 0 && SHAPES.length > 0)
) {
  console.error('usage: npm run bench:pairs -- --before DIR [--rounds 7] [--seconds 0.6]');
  console.error('                             [--only 1x1,16x1,64x1,16x64,HTTP64x1]');
  console.error('DIR is another checkout of leasehold, built');
  process.exit(2);
}

async function open(program?: string): Promise<Side> {
  const server = await startServer(program === undefined ? {} : { program });
  const socket: Work[] = [];
  const http: Work[] = [];
  for (let client = 0; client < CLIENTS; client += 1) {
    const link = await SocketLink.to(server.socketPort);
    socket.push(() => lifecycle(link, `worker-${client}`, PAYLOAD));
    const httpLink = await HttpLink.to(server.httpPort);
    http.push(() => overHttp(httpLink, `worker-${client}`, PAYLOAD));
  }
  return { server, socket, http, threads: { coordinator: 0, socket: 0, http: 0 } };
}

/** Also finds the threads: the coordinator is busy over both ingresses, each of them over one. */
async function warmUp({ server, socket, http, threads }: Side): Promise<void> {
  const before = threadCpuUs(server.pid);
  await untilDone(socket, WARM_UP_TASKS);
  const between = threadCpuUs(server.pid);
  await untilDone(http, WARM_UP_TASKS);
  const after = threadCpuUs(server.pid);
  const busiest = (of: (thread: number) => number): number =>
    [...after.keys()].reduce((most, thread) => (of(thread) > of(most) ? thread : most));
  const bySocket = spent(before, between);
  const byHttp = spent(between, after);
  threads.coordinator = busiest((thread) => Math.min(bySocket(thread), byHttp(thread)));
  const other = (of: (thread: number) => number) => (thread: number) =>
    thread === threads.coordinator ? 0 : of(thread);
  threads.socket = busiest(other(bySocket));
  threads.http = busiest(other(byHttp));
}

async function untilDone(works: readonly Work[], count: number): Promise<void> {
  let left = count;
  const one = async (work: Work): Promise<void> => {
    for (; left > 0; left -= 1) await work();
  };
  await Promise.all(works.map(one));
}

type Spent = (thread: number) => number;
const spent =
  (before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): Spent =>
  (thread) =>
    (after.get(thread) ?? 0) - (before.get(thread) ?? 0);

async function take(side: Side, { clients, inFlight, ingress }: Shape): Promise<Taken> {
  let done = 0;
  const works = side[ingress].slice(0, clients).map((work) => async () => {
    await work();
    done += 1;
  });
  const { pid } = side.server;
  const before = threadCpuUs(pid);
  const { perSecond, p99Us } = await closedLoop(works, seconds, inFlight);
  const after = threadCpuUs(pid);
  const of = spent(before, after);
  const all = [...after.keys()].reduce((sum, thread) => sum + of(thread), 0);
  return {
    perSecond,
    p99Us,
    cpuUs: all / done,
    ingressUs: of(side.threads[ingress]) / done,
    coordinatorUs: of(side.threads.coordinator) / done,
  };
}

const FIGURES: readonly (readonly [keyof Taken, string])[] = [
  ['perSecond', 'tasks a second'],
  ['p99Us', 'p99'],
  ['cpuUs', 'processor time a task'],
  ['ingressUs', "processor time a task, the ingress's thread"],
  ['coordinatorUs', "processor time a task, the coordinator's thread"],
];

function rows(taken: Readonly<Record<string, readonly Taken[]>>): Row[] {
  return SHAPES.flatMap(({ name }) => {
    const [old = [], now = []] = SIDES.map((side) => taken[`${side}: ${name}`] ?? []);
    return FIGURES.flatMap(([figure, words]) => {
      const of = (all: readonly Taken[]): number[] => all.map((one) => one[figure]);
      const ratio = rowOf(`${name}: ${words}`, 'after ÷ before', ratios(of(now), of(old)));
      if (figure === 'p99Us') return [ratio];
      const unit = figure === 'perSecond' ? 'tasks/s' : 'µs';
      return [
        rowOf(`${name}: ${words}: before`, unit, of(old)),
        rowOf(`${name}: ${words}: after`, unit, of(now)),
        ratio,
      ];
    });
  });
}

const machine = describeMachine();
console.log(sayMachine(machine));
const progress = progressOn();
const sides = { before: await open(before), after: await open() };
const cases: Record<string, () => Promise<Taken>> = {};
for (const side of SIDES) {
  progress.say(`warming up: ${side}`);
  await warmUp(sides[side]);
}
for (const shape of SHAPES) {
  for (const side of SIDES) cases[`${side}: ${shape.name}`] = () => take(sides[side], shape);
}
const table = rows(await interleaved({ rounds, say: (text) => progress.say(text) }, cases));
progress.done();
print(table, (text) => process.stdout.write(text));
console.log(`written to ${save('pairs', table, machine)}`);
for (const side of SIDES) await sides[side].server.stop();
process.exit();
