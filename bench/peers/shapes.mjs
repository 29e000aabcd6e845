// Owns what is measured of each system: tasks through their whole life at several numbers of
// clients, batches, lone submits, and submits that arrive at a fixed rate. All systems are driven
// by the same loops; what a system cannot do is left out.

import { closedLoop, openLoop, pause } from '../../dist/bench/driver.js';
import { interleaved, percentile } from '../../dist/bench/harness.js';

export const CLIENTS = [1, 16, 64];
export const PAYLOAD = 'x'.repeat(100);
const MOST = Math.max(...CLIENTS);
const PIPELINED = { connections: 16, inFlight: 64 };
const BATCH = 500;
const BATCHES = 20;
/** Longer than the compiler of a fresh process takes to see what is hot. */
const WARM_UP_SECONDS = 1;
const WARM_UP_BATCHES = 2;
const REQUESTS_A_TASK = 3;
/** The system whose rate says how many requests arrive, for all of them. */
const PACE_OF = 'leasehold, socket';
const TUNED = {
  preset: { worker: { localQueue: { size: BATCH }, completeJobBatchDelay: 0 } },
};
const TUNED_CONCURRENCY = 24;

/** One system with all of its clients connected to it. */
export async function open(system) {
  const server = await system.start();
  const clients = [];
  for (let index = 0; index < MOST; index += 1) {
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
export async function beside({ system, server, clients }, concurrency, measure, tuned) {
  if (system.together === undefined) return measure(clients);
  const together = await system.together(server, concurrency, tuned);
  const connected = clients.map((_, index) => system.client(server, index, PAYLOAD, together));
  try {
    return await measure(connected, together);
  } finally {
    await together.stop();
  }
}

function lifecycles(opened, seconds, connections, inFlight = 1) {
  return beside(opened, connections * inFlight, (clients) => {
    const works = clients.slice(0, connections).map((client) => () => lifecycle(client));
    return closedLoop(works, seconds, inFlight);
  });
}

const submits = ({ clients }, seconds) =>
  closedLoop(
    clients.map((client) => () => client.submit()),
    seconds,
  );

/** @returns p50 and p99 of submits from when each was due, whatever became of those before it. */
async function arrivals({ clients }, perSecond, seconds) {
  const works = clients.map((client) => () => client.submit());
  const { takenUs } = await openLoop(works, perSecond, seconds);
  return { p50Us: percentile(takenUs, 50), p99Us: percentile(takenUs, 99) };
}

/** @returns tasks a second: how fast they get in, and how fast they are worked off. */
async function batches(opened, count) {
  const [client] = opened.clients;
  const began = performance.now();
  for (let batch = 0; batch < count; batch += 1) await client.submitBatch(BATCH);
  const rate = (tookMs) => ((count * BATCH) / tookMs) * 1_000;
  const submit = rate(performance.now() - began);
  if (opened.system.together !== undefined) {
    return { submit, work: rate(await workedOff(opened, count * BATCH)) };
  }
  if (client.workBatch === undefined) return { submit };
  const submitted = performance.now();
  for (let batch = 0; batch < count; batch += 1) await client.workBatch(BATCH);
  return { submit, work: rate(performance.now() - submitted) };
}

/** @returns milliseconds from the moment at which the workers, ready to work, first fetched. */
const workedOff = (opened, tasks) =>
  beside(
    opened,
    TUNED_CONCURRENCY,
    async (_, together) => {
      while (together.worked() < tasks) await pause(2);
      return performance.now() - (await together.began());
    },
    TUNED,
  );

const hasBatches = ({ clients }) => clients[0].submitBatch !== undefined;

/** A fresh process is measured only when its code is compiled and its files have grown. */
export async function warmUp(opened) {
  const { only, submits: alone } = opened.system;
  if (!only) await lifecycles(opened, WARM_UP_SECONDS, MOST);
  if (alone) await submits(opened, WARM_UP_SECONDS / 2);
  if (hasBatches(opened)) await batches(opened, WARM_UP_BATCHES);
}

/** @returns the results of all rounds by `SYSTEM|SHAPE`. */
export function measure(all, { rounds, seconds, say }) {
  const cases = {};
  let perSecond;
  for (const opened of all) {
    const { name, only, pipelines, submits: alone } = opened.system;
    for (const count of only ? [] : CLIENTS) {
      cases[`${name}|${count} × 1`] = async () => {
        const taken = await lifecycles(opened, seconds, count);
        if (name === PACE_OF && count === MOST) {
          perSecond = (taken.perSecond * REQUESTS_A_TASK) / 2;
        }
        return taken;
      };
    }
    if (pipelines) {
      const { connections, inFlight } = PIPELINED;
      cases[`${name}|${connections} × ${inFlight}`] = () =>
        lifecycles(opened, seconds, connections, inFlight);
    }
    if (alone) cases[`${name}|submit, ${MOST} × 1`] = () => submits(opened, seconds);
    if (hasBatches(opened)) {
      cases[`${name}|batches of ${BATCH}`] = () => batches(opened, BATCHES);
    }
  }
  if (all.some(({ system }) => system.name === PACE_OF)) {
    for (const opened of all.filter(({ system }) => system.open)) {
      cases[`${opened.system.name}|arrivals`] = () => arrivals(opened, perSecond, seconds);
    }
  }
  return interleaved({ rounds, say }, cases);
}
