// Owns the command `npm run bench:peers`: leasehold and its peers, driven by the same driver on the
// same machine in the same rounds. What a system promises with its answer stands beside its figure,
// and its flushes are counted while it works: a promise that is not kept fails the command.

import { parseArgs } from 'node:util';
import { closedLoop, pause } from '../../dist/bench/driver.js';
import { interleaved, print, rowOf, save } from '../../dist/bench/harness.js';
import { describeMachine, sayMachine } from '../../dist/bench/machine.js';
import { progressOn } from '../../dist/bench/progress.js';
import { beanstalkds } from './beanstalkd.mjs';
import { countFlushes } from './flushes.mjs';
import { goalRows } from './goals.mjs';
import { leaseholdHttp, leaseholdSocket } from './leasehold.mjs';
import { installMissing } from './packages.mjs';
import { graphileWorker, pgBoss } from './postgres.mjs';
import { redises } from './redis.mjs';

const SYSTEMS = [
  leaseholdSocket,
  leaseholdHttp,
  ...beanstalkds,
  ...redises,
  pgBoss,
  graphileWorker,
];
const CLIENTS = [1, 16, 64];
const PIPELINED = { connections: 16, inFlight: 64 };
const BATCH = 500;
const BATCHES = 4;
const PAYLOAD = 'x'.repeat(100);
/** Steps of each kind while flushes are counted, one after the other. */
const STEPS = 40;
const STOP_MS = 10_000;
const TUNED = {
  preset: { worker: { localQueue: { size: BATCH }, completeJobBatchDelay: 0 } },
};
const TUNED_CONCURRENCY = 24;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
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
    'usage: npm run bench:peers -- [--rounds 5] [--seconds 1] [--only PART-OF-NAME,…]\n' +
      `systems: ${SYSTEMS.map(({ name }) => name).join('; ')}`,
  );
  process.exit(2);
}

/** One system with 64 clients connected to it. */
async function open(system) {
  const server = await system.start();
  const clients = [];
  for (let index = 0; index < Math.max(...CLIENTS); index += 1) {
    clients.push(await system.client(server, index, PAYLOAD));
  }
  return { system, server, clients };
}

async function lifecycle(client) {
  if (client.work !== undefined) return client.work(await client.submit());
  await client.submit();
  await client.complete(await client.lease());
}

/** Where the workers take by themselves, they run for as long as the measurement does. */
async function beside({ system, server, clients }, concurrency, measure, tuned) {
  if (system.together === undefined) return measure(clients);
  const together = await system.together(server, concurrency, tuned);
  const connected = clients.map((_, index) => system.client(server, index, PAYLOAD, together));
  try {
    return await measure(connected, together);
  } finally {
    await together.stop();
  }
}

function lifecycles(opened, connections, inFlight = 1) {
  return beside(opened, connections * inFlight, (clients) => {
    const works = clients.slice(0, connections).map((client) => () => lifecycle(client));
    return closedLoop(works, seconds, inFlight);
  });
}

/** @returns tasks a second: how fast they get in, and how fast they are worked off. */
async function batches(opened) {
  const [client] = opened.clients;
  const began = performance.now();
  for (let batch = 0; batch < BATCHES; batch += 1) await client.submitBatch(BATCH);
  const submitted = performance.now();
  const rate = (from, to) => ((BATCHES * BATCH) / (to - from)) * 1_000;
  if (opened.system.together !== undefined) await workedOff(opened);
  else if (client.workBatch === undefined) return { submit: rate(began, submitted) };
  else for (let batch = 0; batch < BATCHES; batch += 1) await client.workBatch(BATCH);
  return { submit: rate(began, submitted), work: rate(submitted, performance.now()) };
}

const workedOff = (opened) =>
  beside(
    opened,
    TUNED_CONCURRENCY,
    async (_, together) => {
      while (together.worked() < BATCHES * BATCH) {
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
    TUNED,
  );

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

async function measure(all, say) {
  const cases = {};
  for (const opened of all) {
    const { name, pipelines } = opened.system;
    for (const count of CLIENTS) cases[`${name}|${count} × 1`] = () => lifecycles(opened, count);
    if (pipelines) {
      const { connections, inFlight } = PIPELINED;
      cases[`${name}|${connections} × ${inFlight}`] = () =>
        lifecycles(opened, connections, inFlight);
    }
    if (opened.clients[0].submitBatch !== undefined) {
      cases[`${name}|batches of ${BATCH}`] = () => batches(opened);
    }
  }
  return interleaved({ rounds, say }, cases);
}

function rowsOf(taken, notes) {
  const rows = [];
  for (const [name, results] of Object.entries(taken)) {
    const [system, shape] = name.split('|');
    const note = notes.get(system);
    const of = (key) => results.map((one) => one[key]);
    if (results[0].submit === undefined) {
      rows.push(rowOf(`${shape}: ${system}`, 'tasks/s', of('perSecond'), { note }));
      if (shape.startsWith('1 ')) rows.push(rowOf(`${shape}: ${system}: p50`, 'µs', of('p50Us')));
      continue;
    }
    rows.push(rowOf(`${shape}: ${system}: submit`, 'tasks/s', of('submit'), { note }));
    if (results[0].work !== undefined) {
      rows.push(rowOf(`${shape}: ${system}: lease and complete`, 'tasks/s', of('work')));
    }
  }
  // Each shape together: a row is to be read beside its neighbours.
  return rows.sort((a, b) => a.measure.split(':')[0].localeCompare(b.measure.split(':')[0]));
}

installMissing(['beanstalkd', 'redis-server', 'postgresql', 'strace']);
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
  const taken = await measure(all, progress.say);
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
  const rows = [...rowsOf(taken, notes), ...goalRows(taken)];
  print(
    rows.map(({ note, ...row }) => row),
    (text) => process.stdout.write(text),
  );
  for (const [name, note] of notes) console.log(`${name}: ${note}`);
  console.log(`written to ${save('peers', rows, machine)}`);
} finally {
  progress.done();
  for (const { clients, server } of all) {
    const closed = Promise.all(clients.map((client) => client.close())).then(() => server.stop());
    // What hangs is killed by its pid when this process ends.
    await Promise.race([closed.catch(() => {}), pause(STOP_MS)]);
  }
}
process.exit(failed ? 1 : 0);
