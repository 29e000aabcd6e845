// How fast a log becomes a state again: reading and decoding alone, with every record checked and
// applied, and the whole start of a server that has a million waiting tasks.

import { rmSync } from 'node:fs';
import { openLmdbLog } from '../src/log/lmdb-log.ts';
import { replay } from '../src/loop/replay.ts';
import { atLeast, atMost, type Bench, interleaved, rowOf } from './harness.ts';
import { scratch } from './machine.ts';
import { digestText, writeTasks } from './records.ts';
import { startServer } from './server.ts';

const TASKS = 333_000;
const WAITING = 1_000_000;
/** What Redis Streams needed for as many entries on such a machine. */
const REDIS_MS = 2_100;

interface Taken {
  /** Records a second of processor time of this thread's process, and by the clock. */
  readonly perCpuSecond: number;
  readonly perSecond: number;
}

async function timed(directory: string, read: 'decode' | 'replay'): Promise<Taken> {
  const log = await openLmdbLog({ dataDir: directory });
  const cpu = process.cpuUsage();
  const began = performance.now();
  let records = 0;
  if (read === 'replay') records = replay(log, { digestText }).records;
  else for (const record of log.read(1)) records += record.seq > 0 ? 1 : 0;
  const tookMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  const expected = log.lastNumber;
  await log.close();
  if (records !== expected) throw new Error(`${records} of ${expected} records were read`);
  return {
    perCpuSecond: (records / (user + system)) * 1e6,
    perSecond: (records / tookMs) * 1_000,
  };
}

async function written(tasks: number, finished: boolean): Promise<string> {
  const directory = scratch('replay');
  const log = await openLmdbLog({ dataDir: directory });
  await writeTasks(log, tasks, { finished });
  await log.close();
  return directory;
}

export const bench: Bench = {
  about: `${TASKS} finished tasks (three records each), and a start with ${WAITING} waiting ones`,
  async run({ rounds, say }) {
    say('writing the logs');
    const finished = await written(TASKS, true);
    const waiting = await written(WAITING, false);
    const starts: number[] = [];
    const taken = await interleaved<string, Taken>(
      { rounds, say },
      {
        decode: () => timed(finished, 'decode'),
        replay: () => timed(finished, 'replay'),
        start: async () => {
          const server = await startServer({ directory: waiting });
          await server.stop(true);
          if (server.replayRecords < WAITING) throw new Error(`${server.replayRecords} replayed`);
          starts.push(server.readyMs);
          const perSecond = (server.replayRecords / server.replayMs) * 1_000;
          return { perSecond, perCpuSecond: perSecond };
        },
      },
    );
    for (const directory of [finished, waiting]) rmSync(directory, { recursive: true });
    const by = (name: string, what: keyof Taken): number[] =>
      (taken[name] ?? []).map((one) => one[what]);
    const replayed = by('replay', 'perCpuSecond');
    return [
      rowOf('read, verify, decode', 'records/s of processor', by('decode', 'perCpuSecond')),
      rowOf('read, verify, decode, check, apply', 'records/s of processor', replayed, {
        goal: atLeast(replayed, 500_000, '≥ 500 000'),
      }),
      rowOf('the same by the clock', 'records/s', by('replay', 'perSecond')),
      rowOf('at the start of a server, by the clock', 'records/s', by('start', 'perSecond')),
      rowOf(`server with ${WAITING} waiting tasks, spawn to ready`, 'ms', starts, {
        goal: atMost(starts, REDIS_MS),
      }),
    ];
  },
};
