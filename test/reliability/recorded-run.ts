// Run as a process of its own, on a device that writes down what it does to the disk: a coordinator
// on an LMDB log of small segments lives through submits, leases, heartbeats, reports, expiries,
// forgetting and the removal of what was forgotten.
//
//   node recorded-run.js DATA-DIR SEED RECORDS
//
// Below DATA-DIR, beside the log, it keeps two files that a test reads out of the trace, in their
// true order: `history`, every record before it is appended, and `acknowledged`, the number up to
// which records are durable, whenever that grows.

import fs from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { encodeRecord } from '../../src/log/codec.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { Coordinator } from '../../src/loop/coordinator.ts';
import type { LogRecord } from '../../src/model/records.ts';
import type { Lease } from '../../src/model/response.ts';
import { Random } from '../simulator/random.ts';
import { digestText, KNOBS, leaseRequest } from '../support/world.ts';

const [dataDir = '', seed = '0', count = '0'] = process.argv.slice(2);
const START = 1_700_000_000_000;

const dice = new Random(Number(seed), 'recorded run');
const log = await openLmdbLog({ dataDir, segmentBytes: 48 * 1024, lock: false });
const acknowledged = fs.openSync(path.join(dataDir, 'acknowledged'), 'a');
const history = fs.openSync(path.join(dataDir, 'history'), 'a');
const remember = (records: readonly LogRecord[]): void => {
  for (const record of records) {
    const bytes = Buffer.from(encodeRecord(record)).toString('base64');
    fs.writeSync(history, `${record.seq} ${bytes}\n`);
  }
};
const { start, append } = { start: log.start.bind(log), append: log.append.bind(log) };
log.start = (record) => {
  remember([record]);
  return start(record);
};
log.append = (records) => {
  remember(records);
  return append(records);
};
const merge = log.merge.bind(log);
let merges = 0;
log.merge = async () => {
  const merged = await merge();
  if (merged !== undefined) merges += 1;
  return merged;
};
const leases: Lease[] = [];
const tasks: number[] = [];
let time = 0;
let ticket = 0;
const loop = new Coordinator({
  log,
  knobs: { ...KNOBS, leaseDurationMs: 500, retentionMs: 3_000, retentionFailedMs: 3_000 },
  digestText,
  acceptClock: true,
  clock: { wall: () => START + time, monotonic: () => time },
  events: {
    answer: (_, response) => {
      if (response.kind === 'leased') leases.push(...response.leases);
      if (response.kind === 'submitted') tasks.push(response.taskId);
    },
    durable: (last) => void fs.writeSync(acknowledged, `${last}\n`),
    mode: () => {},
    fatal: (error) => {
      throw error;
    },
  },
});

await loop.start();
while (loop.view.state.lastSeq < Number(count)) {
  for (let left = dice.between(1, 6); left > 0; left -= 1) act();
  await pass(dice.pick([0, 1, 20, 20, 200]), dice.chance(0.7));
}
// The oldest end, whatever they wait for; what is over is forgotten, and segments become few.
for (const taskId of tasks.filter((id) => id < loop.view.state.lastSeq / 3)) {
  ticket += 1;
  loop.take(ticket, { op: 'kill', taskId, reason: 'r' });
}
for (let left = 4; left > 0; left -= 1) {
  await pass(4_000, true);
  while (loop.view.isRemoving) await turn();
}
await loop.stop();
await log.close();
if (merges === 0) throw new Error('no segments became one: the run proves less than it says');

async function pass(ms: number, settles: boolean): Promise<void> {
  time += ms;
  loop.tick();
  loop.flush();
  if (settles) await loop.settled();
  await turn();
}

function act(): void {
  ticket += 1;
  const held = dice.below(Math.max(1, leases.length));
  const lease = leases[held];
  const what = dice.weighted({
    submit: 4,
    lease: 4,
    heartbeat: 1,
    complete: 4,
    fail: 1,
    kill: 0.2,
  });
  if (what === 'submit') {
    const payload = new Uint8Array(dice.pick([10, 100, 1_000, 8_000])).fill(ticket);
    loop.take(ticket, { op: 'submit', queue: dice.pick(['a', 'b']), payload, maxRetries: 1 });
  } else if (what === 'lease') {
    loop.take(ticket, leaseRequest({ queues: ['a', 'b'], max: dice.pick([1, 3]) }));
  } else if (lease !== undefined) {
    const { taskId, leaseId } = lease;
    if (what !== 'heartbeat') leases.splice(held, 1);
    if (what === 'fail')
      loop.take(ticket, { op: 'fail', taskId, leaseId, reason: 'r', kind: 'error' });
    else if (what === 'kill') loop.take(ticket, { op: 'kill', taskId, reason: 'r' });
    else loop.take(ticket, { op: what, taskId, leaseId });
  }
}
