// Owns the command `npm run bench:pairs -- --before DIR`: the built program of another checkout and
// this one's, in turns, round by round, under the same loads. What a change brought is the ratio of
// a pair; figures of different runs are never compared.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { closedLoop, type Work } from './driver.ts';
import { interleaved, print, type Row, ratios, rowOf, save } from './harness.ts';
import { HttpLink, lifecycle as overHttp } from './http-link.ts';
import { describeMachine, sayMachine } from './machine.ts';
import { progressOn } from './progress.ts';
import { PAYLOAD } from './records.ts';
import { cpuMs, type Server, startServer } from './server.ts';
import { lifecycle, SocketLink } from './socket-link.ts';

interface Shape {
  readonly name: string;
  readonly clients: number;
  readonly inFlight: number;
  readonly http?: boolean;
}

const SHAPES: readonly Shape[] = [
  { name: '1 × 1', clients: 1, inFlight: 1 },
  { name: '16 × 1', clients: 16, inFlight: 1 },
  { name: '64 × 1', clients: 64, inFlight: 1 },
  { name: '16 × 64', clients: 16, inFlight: 64 },
  { name: 'HTTP, 64 × 1', clients: 64, inFlight: 1, http: true },
];
const SIDES = ['before', 'after'] as const;
const CLIENTS = 64;
const WARM_UP_SECONDS = 1;

interface Side {
  readonly server: Server;
  readonly socket: readonly Work[];
  readonly http: readonly Work[];
}

interface Taken {
  readonly perSecond: number;
  readonly p99Us: number;
  /** Of the server's process. */
  readonly cpuUs: number;
}

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '0.6' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const before = resolve(values.before ?? '', 'dist/src/cli/main.js');
if (values.before === undefined || !existsSync(before) || !(rounds >= 1) || !(seconds > 0)) {
  console.error('usage: npm run bench:pairs -- --before DIR [--rounds 7] [--seconds 0.6]');
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
  return { server, socket, http };
}

async function take(side: Side, { clients, inFlight, http }: Shape): Promise<Taken> {
  let done = 0;
  const works = (http === true ? side.http : side.socket)
    .slice(0, clients)
    .map((work) => async () => {
      await work();
      done += 1;
    });
  const cpu = cpuMs(side.server.pid);
  const { perSecond, p99Us } = await closedLoop(works, seconds, inFlight);
  return { perSecond, p99Us, cpuUs: ((cpuMs(side.server.pid) - cpu) * 1_000) / done };
}

function rows(taken: Readonly<Record<string, readonly Taken[]>>): Row[] {
  return SHAPES.flatMap(({ name }) => {
    const [old = [], now = []] = SIDES.map((side) => taken[`${side}: ${name}`] ?? []);
    const pair = (of: (one: Taken) => number) => ratios(now.map(of), old.map(of));
    return [
      rowOf(
        `${name}: before`,
        'tasks/s',
        old.map((one) => one.perSecond),
      ),
      rowOf(
        `${name}: after`,
        'tasks/s',
        now.map((one) => one.perSecond),
      ),
      rowOf(
        `${name}: tasks a second`,
        'after ÷ before',
        pair((one) => one.perSecond),
      ),
      rowOf(
        `${name}: p99`,
        'after ÷ before',
        pair((one) => one.p99Us),
      ),
      rowOf(
        `${name}: processor time a task`,
        'after ÷ before',
        pair((one) => one.cpuUs),
      ),
    ];
  });
}

const machine = describeMachine();
console.log(sayMachine(machine));
const progress = progressOn();
const sides = { before: await open(before), after: await open() };
const cases: Record<string, () => Promise<Taken>> = {};
for (const side of SIDES) {
  progress.say(`warming up: ${side}`);
  await closedLoop(sides[side].socket, WARM_UP_SECONDS);
  await closedLoop(sides[side].http, WARM_UP_SECONDS);
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
