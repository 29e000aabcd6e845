// Owns the command `npm run bench:peers`: leasehold, its peers and the limits of the driver, driven
// by the same loops on the same machine in the same rounds. What a system promises with its answer
// stands beside its figure, and its flushes are counted while it works: a promise that is not kept
// fails the command.

import { parseArgs } from 'node:util';
import { pause } from '../../dist/bench/driver.js';
import { rowOf } from '../../dist/bench/harness.js';
import { describeMachine, sayMachine } from '../../dist/bench/machine.js';
import { progressOn } from '../../dist/bench/progress.js';
import { print, save } from '../../dist/bench/report.js';
import { beanstalkds } from './beanstalkd.mjs';
import { countFlushes } from './flushes.mjs';
import { goalRows, printGoals } from './goals.mjs';
import { leaseholdHttp, leaseholdSocket } from './leasehold.mjs';
import { limits } from './limits.mjs';
import { installMissing } from './packages.mjs';
import { graphileWorker, pgBoss } from './postgres.mjs';
import { redises } from './redis.mjs';
import { beside, measure, open, warmUp } from './shapes.mjs';

const SYSTEMS = [
  leaseholdSocket,
  leaseholdHttp,
  ...limits,
  ...beanstalkds,
  ...redises,
  pgBoss,
  graphileWorker,
];
/** Steps of each kind while flushes are counted, one after the other. */
const STEPS = 40;
const STOP_MS = 10_000;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '0.5' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const chosen = SYSTEMS.filter(({ name }) =>
  values.only.split(',').some((part) => name.toLowerCase().includes(part.toLowerCase())),
);
if (values.help || chosen.length === 0 || !(rounds >= 1) || !(seconds > 0)) {
  console.error(
    'usage: npm run bench:peers -- [--rounds 5] [--seconds 0.5] [--only PART-OF-NAME,…]\n' +
      `systems: ${SYSTEMS.map(({ name }) => name).join('; ')}`,
  );
  process.exit(2);
}

/** @returns flushes for each step of one client, and whether they are what was promised. */
async function checkFlushes(opened) {
  const { pid } = opened.server;
  const { flushed } = opened.system;
  return beside(opened, 1, async ([client]) => {
    const counts = {};
    let handles = Array(STEPS).fill(undefined);
    for (const step of Object.keys(flushed)) {
      const next = [];
      const steps = async () => {
        for (const handle of handles) next.push(await client[step](handle));
      };
      const count = await countFlushes(pid, steps);
      handles = next;
      if (count === undefined) return undefined;
      counts[step] = count / STEPS;
    }
    return counts;
  });
}

const told = (counts) =>
  counts === undefined
    ? 'flushes not counted: the process cannot be watched'
    : `flushes seen: ${Object.entries(counts)
        .map(([step, count]) => `${step} ${count.toFixed(1)}`)
        .join(', ')}`;

const broken = ({ flushed }, counts) =>
  Object.keys(counts ?? {}).filter((step) => flushed[step] && counts[step] < 0.95);

function rowsOf(taken, notes) {
  const rows = [];
  for (const [name, results] of Object.entries(taken)) {
    const [system, shape] = name.split('|');
    const note = notes.get(system);
    const of = (key) => results.map((one) => one[key]);
    const has = (key) => results[0][key] !== undefined;
    const unit = shape.startsWith('submit') ? 'requests/s' : 'tasks/s';
    if (has('perSecond')) rows.push(rowOf(`${shape}: ${system}`, unit, of('perSecond'), { note }));
    if (has('submit'))
      rows.push(rowOf(`${shape}: ${system}: submit`, unit, of('submit'), { note }));
    if (has('work')) rows.push(rowOf(`${shape}: ${system}: lease and complete`, unit, of('work')));
    if (shape === '1 × 1' || shape === 'arrivals') {
      rows.push(rowOf(`${shape}: ${system}: p50`, 'µs', of('p50Us')));
    }
    if (shape === 'arrivals') rows.push(rowOf(`${shape}: ${system}: p99`, 'µs', of('p99Us')));
  }
  // Each shape together: a row is to be read beside its neighbours.
  return rows.sort((a, b) => a.measure.split(':')[0].localeCompare(b.measure.split(':')[0]));
}

installMissing(
  [
    ['beanstalkd', 'beanstalkd'],
    ['redis-server', 'redis'],
    ['redis-server', 'bullmq'],
    ['postgresql', 'pg-boss'],
    ['postgresql', 'graphile'],
    ['strace', ''],
  ]
    .filter(([, part]) => chosen.some(({ name }) => name.toLowerCase().includes(part)))
    .map(([name]) => name),
);
const machine = describeMachine();
console.log(sayMachine(machine));
const progress = progressOn();
const all = [];
let failed = false;
try {
  for (const system of chosen) {
    progress.say(`starting ${system.name}`);
    all.push(await open(system));
  }
  for (const opened of all) {
    progress.say(`warming up ${opened.system.name}`);
    await warmUp(opened);
  }
  const taken = await measure(all, { rounds, seconds, say: progress.say });
  const notes = new Map();
  for (const opened of all) {
    progress.say(`counting the flushes of ${opened.system.name}`);
    const counts = await checkFlushes(opened);
    for (const step of broken(opened.system, counts)) {
      failed = true;
      console.error(`${opened.system.name}: ${step} is answered before its flush`);
    }
    notes.set(opened.system.name, `${opened.system.promise}; ${told(counts)}`);
  }
  progress.done();
  const rows = rowsOf(taken, notes);
  const write = (text) => process.stdout.write(text);
  print(
    rows.map(({ note, ...row }) => row),
    write,
  );
  printGoals(taken, write);
  for (const [name, note] of notes) console.log(`${name}: ${note}`);
  console.log(`written to ${save('peers', [...rows, ...goalRows(taken)], machine)}`);
} finally {
  progress.done();
  for (const { clients, server } of all) {
    const closed = Promise.all(clients.map((client) => client.close())).then(() => server.stop());
    // What hangs is killed by its pid when this process ends.
    await Promise.race([closed.catch(() => {}), pause(STOP_MS)]);
  }
}
process.exit(failed ? 1 : 0);
