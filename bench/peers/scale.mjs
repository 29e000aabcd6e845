// Owns the command `npm run bench:scale`: what a backlog of a million waiting tasks, or ten, costs
// leasehold, beanstalkd and Redis Streams: memory and log for each, and the time of a restart. The
// peers are filled with their lax settings, which change how often they flush, not what they keep.

import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pause } from '../../dist/bench/driver.js';
import { fill } from '../../dist/bench/fill.js';
import { interleaved, rowOf } from '../../dist/bench/harness.js';
import { describeMachine, sayMachine } from '../../dist/bench/machine.js';
import { progressOn } from '../../dist/bench/progress.js';
import { print, save } from '../../dist/bench/report.js';
import { memoryOf, startServer } from '../../dist/bench/server.js';
import { beanstalkds } from './beanstalkd.mjs';
import { installMissing } from './packages.mjs';
import { redises, streamWriter } from './redis.mjs';

/** Redis packs what repeats within a few kilobytes: these 100 bytes do not. */
const DICE = randomBytes(49_152).toString('base64url');
const payloadOf = (task) => DICE.slice((task * 97) % 65_000).slice(0, 100);

const IN_FLIGHT = 500;
const RESTART_MS = 600_000;

const named = (systems, name) => systems.find((system) => system.name === name);

/** Each: a start, perhaps on what an earlier one left; getting tasks in; how many are waiting. */
const SYSTEMS = {
  leasehold: {
    start: (directory) => startServer(directory === undefined ? {} : { directory }),
    fill: ({ socketPort }, tasks, say) =>
      fill(socketPort, tasks, (task) => `{"payload":"${payloadOf(task)}"}`, say),
    async waiting({ httpPort }) {
      const stats = await (await fetch(`http://127.0.0.1:${httpPort}/v1/stats`)).json();
      return stats.tasks.WAITING;
    },
  },
  beanstalkd: {
    start: (directory) => named(beanstalkds, 'beanstalkd -f 50').start(directory),
    async fill(server, tasks, say) {
      const client = await named(beanstalkds, 'beanstalkd -f 50').client(server, 0, '');
      await inGroups(tasks, say, (payloads) =>
        Promise.all(payloads.map((payload) => client.submit(payload))),
      );
      client.close();
    },
    async waiting({ port }) {
      const told = await ask(port, 'stats-tube default\r\n', /current-jobs-ready: (\d+)/);
      return Number(told[1]);
    },
  },
  'Redis Streams': {
    start: (directory) => named(redises, 'Redis Streams, everysec').start(directory),
    async fill(server, tasks, say) {
      const stream = await streamWriter(server);
      await inGroups(tasks, say, stream.add);
      // A log that is just being rewritten is there twice.
      while (await stream.isRewriting()) await pause(100);
      stream.close();
    },
    async waiting({ port }) {
      return Number((await ask(port, 'XLEN tasks\r\n', /^:(\d+)/))[1]);
    },
  },
};

async function inGroups(tasks, say, submit) {
  for (let done = 0; done < tasks; done += IN_FLIGHT) {
    const length = Math.min(IN_FLIGHT, tasks - done);
    await submit(Array.from({ length }, (_, at) => payloadOf(done + at)));
    say(done);
  }
}

/** @returns the match in what is answered; rejects when the connection ends or other text comes. */
function ask(port, line, expected) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(line));
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      text += data;
      const found = expected.exec(text);
      if (found === null && !text.startsWith('-')) return;
      socket.destroy();
      if (found === null) reject(new Error(text));
      else resolve(found);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed before the answer')));
  });
}

function bytesIn(directory) {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true })) {
    const found = statSync(join(directory, name));
    if (found.isFile()) bytes += found.size;
  }
  return bytes;
}

async function measure(name, tasks, say) {
  const system = SYSTEMS[name];
  const first = await system.start();
  const base = memoryOf(first.pid).anonymous;
  const began = performance.now();
  await system.fill(first, tasks, (done) => say(`${name}: ${done} of ${tasks}`));
  const perSecond = (tasks / (performance.now() - began)) * 1_000;
  await expectWaiting(system, first, tasks);
  const filled = memoryOf(first.pid).anonymous - base;
  await first.stop(true);
  const log = bytesIn(first.directory);
  say(`${name}: restart`);
  const restarting = performance.now();
  const second = await system.start(first.directory);
  await expectWaiting(system, second, tasks);
  const restartMs = performance.now() - restarting;
  const restarted = memoryOf(second.pid).anonymous - base;
  await second.stop();
  return {
    perSecond,
    filled: filled / tasks,
    restarted: restarted / tasks,
    log: log / tasks,
    restartMs,
  };
}

/** As soon as it can say so. */
async function expectWaiting(system, server, tasks) {
  const end = performance.now() + RESTART_MS;
  for (;;) {
    const waiting = await system.waiting(server).catch((error) => error);
    if (waiting === tasks) return;
    if (performance.now() > end) throw new Error(`waiting: ${waiting}, not ${tasks}`);
    await pause(20);
  }
}

const FIGURES = {
  filled: ['private memory just after taking them', 'bytes/task'],
  restarted: ['private memory after a restart', 'bytes/task'],
  log: ['log', 'bytes/task'],
  restartMs: ['restart, until it knows them all', 'ms'],
  perSecond: ['filling', 'tasks/s'],
};

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    tasks: { type: 'string', default: '1000000' },
    large: { type: 'boolean', default: false },
  },
});
const tasks = values.large ? 10_000_000 : Number(values.tasks);
const rounds = Number(values.rounds);
if (!(rounds >= 1) || !(tasks >= 1)) {
  console.error('usage: npm run bench:scale -- [--rounds 1] [--tasks 1000000 | --large]');
  process.exit(2);
}
installMissing(['beanstalkd', 'redis-server']);
const machine = describeMachine();
console.log(sayMachine(machine));
const progress = progressOn();
const cases = Object.keys(SYSTEMS).map((name) => [name, () => measure(name, tasks, progress.say)]);
const taken = await interleaved({ rounds, say: progress.say }, Object.fromEntries(cases));
progress.done();
const rows = Object.entries(FIGURES).flatMap(([key, [what, unit]]) =>
  Object.entries(taken).map(([name, results]) =>
    rowOf(
      `${what}: ${name}`,
      unit,
      results.map((one) => one[key]),
    ),
  ),
);
print(rows, (text) => process.stdout.write(text));
console.log(`written to ${save('scale', rows, machine)}`);
