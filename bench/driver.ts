// Owns the two ways of driving a system: closed loops (each client begins anew when it has its
// answer) and an open loop at a fixed rate, whose waiting counts from the moment at which a request
// was due, so that a stall is charged to every request that it held up (coordinated omission).
// leasehold and its peers are driven by this same file.

import { Worker } from 'node:worker_threads';
import { percentile } from './harness.ts';

const ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** One unit of work on one connection, whatever that is for the system at hand. */
export type Work = () => Promise<void>;

export interface Driven {
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

const WARM_UP = 0.25;
const NOTHING_DONE_MS = 30_000;

/**
 * Every client does its work again and again.
 * @param inFlight how many times at once on each connection.
 */
export async function closedLoop(
  clients: readonly Work[],
  seconds: number,
  inFlight = 1,
): Promise<Driven> {
  const takenUs: number[] = [];
  let counting = false;
  const run = { over: false };
  const loop = async (work: Work): Promise<void> => {
    while (!run.over) {
      const began = performance.now();
      await work();
      if (counting && !run.over) takenUs.push((performance.now() - began) * 1_000);
    }
  };
  const loops = clients.flatMap((work) => Array.from({ length: inFlight }, () => loop(work)));
  await pause(seconds * WARM_UP * 1_000);
  counting = true;
  const began = performance.now();
  await Promise.race([pause(seconds * 1_000), Promise.all(loops)]);
  // On a device that stalls, one unit may take longer than the time given.
  while (takenUs.length === 0 && performance.now() - began < NOTHING_DONE_MS) await pause(10);
  const tookMs = performance.now() - began;
  run.over = true;
  await Promise.all(loops);
  if (takenUs.length === 0) throw new Error('not one unit of work was done in the time given');
  const p50Us = percentile(takenUs, 50);
  return { perSecond: (takenUs.length / tookMs) * 1_000, p50Us, p99Us: percentile(takenUs, 99) };
}

export interface OpenLoop {
  /** In microseconds, from the moment at which each was due. */
  readonly takenUs: readonly number[];
  readonly sent: number;
}

/**
 * Begins work at a fixed rate, in turn on the clients, whether earlier work is done or not. A
 * thread of its own keeps the time: the timers of a busy event loop are late by more than is
 * measured here.
 */
export async function openLoop(
  clients: readonly Work[],
  perSecond: number,
  seconds: number,
): Promise<OpenLoop> {
  const total = Math.max(1, Math.floor(perSecond * seconds));
  const takenUs = new Float64Array(total);
  const pacer = new Worker(new URL(`./pacer${ENDING}`, import.meta.url), {
    workerData: { perSecond, total },
  });
  let sent = 0;
  let done = 0;
  await new Promise<void>((resolve, reject) => {
    // Nothing is kept for a request but its place in the figures: what the driver's own garbage
    // collector holds up would be charged to the system.
    const timed = async (work: Work, dueAt: number): Promise<void> => {
      await work();
      takenUs[done] = (performance.now() - dueAt) * 1_000;
      done += 1;
      if (done === total) resolve();
    };
    pacer.on('message', (due: { readonly at: number; readonly through: number }) => {
      for (; sent < due.through; sent += 1) {
        const work = clients[sent % clients.length] as Work;
        const dueAt = due.at + (sent / perSecond) * 1_000 - performance.timeOrigin;
        timed(work, dueAt).catch(reject);
      }
    });
    pacer.on('error', reject);
  });
  return { takenUs: [...takenUs], sent };
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
