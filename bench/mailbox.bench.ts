// The mailbox by itself: how many requests a second go to the coordinator's thread and back, what a
// lone one waits, and what a refusal costs. Order, loss and doubling are checked while measuring.
// Beside it, one object a message through the same kind of port: what the batches are for.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createMailbox } from '../src/mailbox/mailbox.ts';
import { Producer } from '../src/mailbox/producer.ts';
import {
  atLeast,
  atMost,
  type Bench,
  interleaved,
  percentile,
  type Row,
  rowOf,
  samples,
} from './harness.ts';
import type { ProducerResult, ThreadTask } from './mailbox-threads.ts';

const MESSAGE_BYTES = 150;
const WINDOW = 8_192;
const PER_RUN = 1_000_000;
const LONE = 20_000;
const OBJECTS = 50_000;

const sibling = (stem: string) =>
  new URL(`./${stem}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

interface Shape {
  readonly producers: number;
  readonly each: number;
  readonly window: number;
}

/**
 * Runs producers against one consumer, each in its thread; throws when anything is out of
 * order.
 */
async function roundTrips({ producers, each, window }: Shape): Promise<ProducerResult[]> {
  const mailbox = createMailbox({ maxRequests: 65_536, maxBytes: 2 ** 26 });
  const order = new SharedArrayBuffer(producers * each);
  const connections = [...Array(producers).keys()].map((id) => mailbox.connect(`p${id}`));
  const start = (task: ThreadTask, ports: readonly { port: object }[]) =>
    new Worker(sibling('mailbox-threads'), {
      workerData: task,
      transferList: ports.map(({ port }) => port) as never[],
    });
  const ends = connections.map(({ consumer }) => consumer);
  const consumer = start({ role: 'consumer', ends }, ends);
  const workers = connections.map(({ producer: end }, id) => {
    const messageBytes = MESSAGE_BYTES;
    return start({ role: 'producer', end, id, count: each, window, messageBytes, order }, [end]);
  });
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  for (const worker of workers) worker.postMessage('go');
  const results = await Promise.all(
    workers.map(async (worker) => ((await once(worker, 'message')) as [ProducerResult])[0]),
  );
  await Promise.all([...workers, consumer].map((worker) => worker.terminate()));
  checkOrder(results, new Uint8Array(order), each);
  return results;
}

function checkOrder(results: readonly ProducerResult[], order: Uint8Array, each: number): void {
  const faults = results.flatMap((result) => result.faults);
  const counts = new Map<number, number>();
  for (const producer of order) counts.set(producer, (counts.get(producer) ?? 0) + 1);
  for (const [id] of results.entries()) {
    if (counts.get(id + 1) !== each) faults.push(`producer ${id}: ${counts.get(id + 1)} numbers`);
  }
  if (faults.length > 0) throw new Error(`the mailbox is broken: ${faults.slice(0, 5).join('; ')}`);
}

async function perSecond(producers: number): Promise<number> {
  const each = Math.floor(PER_RUN / producers);
  const results = await roundTrips({ producers, each, window: WINDOW });
  const startedMs = Math.min(...results.map((result) => result.startedMs));
  const endedMs = Math.max(...results.map((result) => result.endedMs));
  return ((producers * each) / (endedMs - startedMs)) * 1_000;
}

/** Fills a mailbox that nobody drains, and offers on. */
function refusalUs(): number {
  const mailbox = createMailbox({ maxRequests: 1_024, maxBytes: 2 ** 20 });
  const { producer: end } = mailbox.connect('refused');
  const producer = new Producer<number>(end, { onReply: () => {}, onDeath: () => {} });
  const message = new Uint8Array(MESSAGE_BYTES);
  let ticket = 0;
  while (producer.offer(ticket, 'request', message, ticket)) ticket += 1;
  const offers = 1_000_000;
  const started = performance.now();
  for (let offer = 0; offer < offers; offer++) producer.offer(ticket, 'request', message, ticket);
  const tookMs = performance.now() - started;
  if (mailbox.refused !== offers + 1) throw new Error(`${mailbox.refused} offers were refused`);
  producer.close();
  return (tookMs * 1_000) / offers;
}

/** The same round trip with one object a message and a window of the same size. */
async function objectsPerSecond(): Promise<number> {
  const source = `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (message) => parentPort.postMessage({ ticket: message.ticket }));`;
  const worker = new Worker(source, { eval: true });
  const payload = 'x'.repeat(MESSAGE_BYTES - 20);
  let [sent, answered] = [0, 0];
  const send = () => {
    while (sent < OBJECTS && sent - answered < WINDOW)
      worker.postMessage({ op: 'submit', ticket: sent++, payload });
  };
  await once(worker, 'online');
  const started = performance.now();
  await new Promise<void>((resolve) => {
    worker.on('message', () => {
      answered += 1;
      if (answered === OBJECTS) resolve();
      else if (sent - answered < WINDOW / 2) send();
    });
    send();
  });
  const tookMs = performance.now() - started;
  await worker.terminate();
  return (OBJECTS / tookMs) * 1_000;
}

async function lonePercentiles(rounds: number): Promise<Row[]> {
  const byPercent = new Map<number, number[]>([50, 99, 99.9].map((percent) => [percent, []]));
  for (let round = 0; round < rounds; round++) {
    const [result] = await roundTrips({ producers: 1, each: LONE, window: 1 });
    // The first ones meet code that is not compiled yet.
    const warm = result?.roundTripsUs.slice(LONE / 10) ?? [];
    for (const [percent, values] of byPercent) values.push(percentile(warm, percent));
  }
  return [...byPercent].map(([percent, values]) => {
    const taken = samples(values);
    const goal = { text: '≤ 60', kept: taken.median <= 60 };
    const row = { measure: `lone message, there and back, p${percent}`, unit: 'µs', ...taken };
    return percent === 50 ? { ...row, goal } : row;
  });
}

export const bench: Bench = {
  about: `requests of ${MESSAGE_BYTES} bytes to another thread and back, ${WINDOW} open at once`,
  async run({ rounds, say }) {
    const { refusal, objects, ...through } = await interleaved(
      { rounds, say },
      {
        '1': () => perSecond(1),
        '2': () => perSecond(2),
        '4': () => perSecond(4),
        objects: objectsPerSecond,
        refusal: refusalUs,
      },
    );
    return [
      ...Object.entries(through).map(([producers, taken]) =>
        rowOf(`round trips, ${producers} producer${producers === '1' ? '' : 's'}`, '/s', taken, {
          goal: atLeast(taken, 1_000_000, '≥ 1 000 000'),
        }),
      ),
      rowOf('for comparison: an object a message', '/s', objects),
      ...(await lonePercentiles(rounds)),
      rowOf('refusal when full', 'µs', refusal, { goal: atMost(refusal, 1) }),
    ];
  },
};
