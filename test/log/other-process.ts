// Run as a process of its own by the tests of the log: opens a log, or holds its write lock, says
// so on its standard output, and does what it is told until it is ended.
//
//   node other-process.js lock DIR        holds the directory's lock
//   node other-process.js append DIR N    starts, then appends N groups of three as fast as it can
//   node other-process.js hang DIR MS     keeps LMDB's own write lock of the first segment for MS

import path from 'node:path';
import { open } from 'lmdb';
import { readKey, writeKey } from '../../src/log/lmdb/page.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { group, started } from './records.ts';

const [what = '', dataDir = '', count = '0'] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  if (what === 'lock') await lock();
  else if (what === 'append') await append();
  else hang();
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  say(`${code}: ${message}`);
}

async function lock(): Promise<void> {
  await openLmdbLog({ dataDir });
  say('holding');
  setInterval(() => {}, 60_000);
}

async function append(): Promise<void> {
  const log = await openLmdbLog({ dataDir, lock: false, segmentBytes: 64 * 1024 });
  say(await log.start(started(log.lastNumber + 1)));
  for (let left = Number(count); left > 0; left--) {
    const first = log.lastNumber + 1;
    const result = await log.append(group(first, first + 2));
    say(`${result} ${first + 2}`);
    if (result !== 'durable') return;
  }
}

function hang(): void {
  const db = open({
    path: path.join(dataDir, 'log', '00000001-0'),
    noSubdir: false,
    overlappingSync: false,
    encoding: 'binary',
    keyEncoder: { writeKey, readKey },
  });
  db.transactionSync(() => {
    say('holding');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(count));
  });
  process.exit(0);
}
