// Owns the time of an open loop: says how many requests are due, at the moment at which the next
// one is. It sends nothing itself.

import { parentPort, workerData } from 'node:worker_threads';

const { perSecond, total } = workerData as { perSecond: number; total: number };
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const now = (): number => performance.timeOrigin + performance.now();

/** On the clock that all threads share. */
const at = now();
let through = 0;
while (through < total) {
  const waitMs = at + (through / perSecond) * 1_000 - now();
  if (waitMs > 0) Atomics.wait(sleeper, 0, 0, waitMs);
  const due = Math.floor(((now() - at) / 1_000) * perSecond) + 1;
  if (due <= through) continue;
  through = Math.min(total, due);
  parentPort?.postMessage({ at, through });
}
