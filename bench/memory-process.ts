// Owns the process whose memory is measured: it replays a log as a start does, collects its garbage
// and tells what it has left. Run with --expose-gc.

import { openLmdbLog } from '../src/log/lmdb-log.ts';
import { replay } from '../src/loop/replay.ts';
import { digestText } from './records.ts';
import { memoryOf } from './server.ts';

const log = await openLmdbLog({ dataDir: process.argv[2] as string });
const { state } = replay(log, { digestText });
for (let pass = 0; pass < 3; pass += 1) (globalThis as unknown as { gc(): void }).gc();
console.log(JSON.stringify({ ...memoryOf(process.pid), tasks: state.tasks.size }));
await log.close();
