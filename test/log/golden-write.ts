// Writes a golden log, once for each released format, in a directory that must not exist:
//
//   npm run build && node dist/test/log/golden-write.js test/golden/log-2
//
// It plays a story that has every record type in it, in segments of which one was rewritten and one
// has skipped numbers. What it wrote is never written again: golden.test.ts reads it for ever.

import fs from 'node:fs';
import path from 'node:path';
import { stateDigest } from '../../src/core/digest.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { replay } from '../../src/loop/replay.ts';
import { type LogRecord, taskOf } from '../../src/model/records.ts';
import { formatRecord } from '../../src/protocol/record-json.ts';
import { digestText, World } from '../support/world.ts';

const payload = (bytes: number[]): Uint8Array => Uint8Array.from(bytes);

/** Records of every type, with and without their optional fields. */
async function story(): Promise<LogRecord[]> {
  const world = await World.started({ retentionMs: 50_000, retentionFailedMs: 0 });
  const submit = { payload: payload([0, 255, 128]), metadata: { trace: 'a1' }, delayMs: 10 };
  await world.submit({
    ...submit,
    requestId: 'order-17 ✓',
    contentHash: new Uint8Array(16).fill(7),
  });
  await world.submit({ queue: 'mail', backoffMs: 500, backoffFactor: 1.5, backoffMaxMs: 60_000 });
  await world.submit({ payload: new Uint8Array(9_000).fill(65), executionWindowMs: 25_000 });
  world.time += 20;
  const first = await world.lease();
  for (let beat = 0; beat < 3; beat += 1) {
    world.time += 3_000;
    await world.heartbeat(first);
  }
  world.time += 30_000;
  await world.tick();
  await world.complete(first); // Too late: TaskCancelled.
  const second = await world.lease({ workerId: 'w2' });
  world.time += 1_000;
  await world.heartbeat(second);
  await world.heartbeat(second);
  await world.ask({ op: 'complete', ...idsOf(second), result: payload([1, 2]) });
  const mail = await world.lease({ workerId: 'w3', queues: ['mail'] });
  await world.fail(mail);
  await world.restart({ skip: 5 });
  world.time += 1_000;
  await world.fail(await world.lease({ queues: ['mail'] }), { kind: 'permanent', reason: '' });
  await world.ask({ op: 'redrive', taskId: mail.taskId });
  await world.fail(await world.lease({ queues: ['mail'] }), { kind: 'released' });
  const held = await world.lease();
  await world.heartbeat(held);
  await world.ask({ op: 'kill', taskId: held.taskId, reason: 'killed' });
  for (let more = 0; more < 5; more += 1) {
    await world.submit({ queue: 'bulk' });
    await world.complete(await world.lease({ queues: ['bulk'] }));
  }
  world.time += 3_700_000; // Beyond the hour in which nothing is forgotten, and the retention.
  await world.tick();
  await world.submit({ queue: 'bulk' });
  if (world.broken().length > 0) throw new Error(world.broken()[0]);
  return world.records();
}

/** Each start alone, what lies between in two groups. */
function commits(records: readonly LogRecord[]): LogRecord[][] {
  const starts = records.flatMap(({ type }, i) => (type === 'CoordinatorStarted' ? [i] : []));
  return starts.flatMap((at, i) => {
    const rest = records.slice(at + 1, starts[i + 1]);
    const half = Math.ceil(rest.length * 0.7);
    return [records.slice(at, at + 1), rest.slice(0, half), rest.slice(half)];
  });
}

const idsOf = ({ taskId, leaseId }: { taskId: number; leaseId: number }) => ({ taskId, leaseId });

async function write(target: string): Promise<void> {
  const records = await story();
  const dataDir = path.join(target, 'data');
  const log = await openLmdbLog({ dataDir, segmentBytes: 1, lock: false });
  for (const commit of commits(records)) {
    const [first] = commit;
    const result = await (first?.type === 'CoordinatorStarted'
      ? log.start(first)
      : log.append(commit));
    if (result !== 'durable') throw new Error(`record ${first?.seq}: ${result}`);
  }
  // What HistoryForgotten names may be removed; here a part of it is.
  const [, segment] = log.sealed();
  const forgotten = records.find((record) => record.type === 'HistoryForgotten');
  if (segment === undefined || forgotten === undefined) throw new Error('nothing to remove');
  const over = records.flatMap((record) =>
    record.type === 'TaskCompleted' && record.seq <= forgotten.completedThrough
      ? [record.taskId]
      : [],
  );
  await log.rewrite(segment, (record) => !over.includes(taskOf(record)));
  const lines = [...log.read(1)].map((record) => `${formatRecord(record)}\n`);
  fs.writeFileSync(path.join(target, 'records.ndjson'), lines.join(''));
  fs.writeFileSync(path.join(target, 'dropped.json'), `${JSON.stringify(log.dropped.ranges)}\n`);
  const digest = stateDigest(replay(log, { digestText }).state);
  fs.writeFileSync(path.join(target, 'digest.txt'), `${digest}\n`);
  await log.close();
}

const target = process.argv[2];
if (target === undefined || fs.existsSync(target)) throw new Error('name a directory that is new');
fs.mkdirSync(target, { recursive: true });
await write(target);
