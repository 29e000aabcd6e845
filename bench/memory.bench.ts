// Private memory (RssAnon) of a task, beyond what a server has anyway: the difference between two
// logs of different lengths, each replayed by a process of its own and its garbage collected. Also
// of a live server that has just taken as many tasks.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openLmdbLog } from '../src/log/lmdb-log.ts';
import { fill } from './fill.ts';
import { atMost, type Bench, type Row, rowOf } from './harness.ts';
import { scratch } from './machine.ts';
import { PAYLOAD, writeTasks } from './records.ts';
import { memoryOf, startServer } from './server.ts';

const FIRST = 100_000;

type Kind = 'waiting' | 'finished' | 'finished, with request ids';
const GOALS: Record<Kind, number> = {
  waiting: 80,
  finished: 60,
  'finished, with request ids': 90,
};

interface Memory {
  readonly anonymous: number;
  readonly resident: number;
}

async function replayed(kind: Kind, tasks: number): Promise<Memory> {
  const directory = scratch('memory');
  const log = await openLmdbLog({ dataDir: directory });
  const requestIds = kind === 'finished, with request ids';
  await writeTasks(log, tasks, { finished: kind !== 'waiting', requestIds });
  await log.close();
  const file = fileURLToPath(new URL('./memory-process.js', import.meta.url));
  const told = execFileSync(process.execPath, ['--expose-gc', file, directory]).toString();
  rmSync(directory, { recursive: true });
  return JSON.parse(told) as Memory;
}

async function live(tasks: number, say: (text: string) => void): Promise<number> {
  const server = await startServer();
  const params = `{"payload":"${PAYLOAD}"}`;
  await fill(server.socketPort, FIRST, () => params);
  const before = memoryOf(server.pid).anonymous;
  await fill(
    server.socketPort,
    tasks,
    () => params,
    (done) => say(`live: ${done} of ${tasks}`),
  );
  const after = memoryOf(server.pid).anonymous;
  await server.stop();
  return (after - before) / tasks;
}

export const bench: Bench = {
  about: 'private bytes a task, by the difference of two logs; 100-byte payloads',
  async run({ large, say }) {
    const rows: Row[] = [];
    for (const tasks of large ? [1_000_000, 10_000_000] : [1_000_000]) {
      const shown = tasks.toLocaleString('en').replaceAll(',', ' ');
      for (const kind of Object.keys(GOALS) as Kind[]) {
        say(`${shown} ${kind}`);
        const small = await replayed(kind, FIRST);
        const big = await replayed(kind, FIRST + tasks);
        const each = [(big.anonymous - small.anonymous) / tasks];
        rows.push(
          rowOf(`${shown} ${kind}`, 'bytes/task', each, { goal: atMost(each, GOALS[kind]) }),
          rowOf(`${shown} ${kind}: mapped beside it`, 'MB', [(big.resident - big.anonymous) / 1e6]),
        );
      }
      const each = [await live(tasks, say)];
      rows.push(rowOf(`${shown} waiting, server just after taking them`, 'bytes/task', each));
    }
    return rows;
  },
};
