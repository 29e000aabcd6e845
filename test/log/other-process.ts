// Run as a process of its own by the tests of the log: opens a log, or holds its write lock, says
// so on its standard output, and does what it is told until it is ended.
//
//   node other-process.js lock DIR        holds the directory's lock
//   node other-process.js append DIR N    starts, then appends N groups of three as fast as it can
//   node other-process.js hang DIR MS     keeps LMDB's own write lock of the first segment for MS
//   node other-process.js open DIR MS     opens and leaves the first segment, over and over, for MS
//   node other-process.js refuse DIR N    commits once to each of N environments whose device
//                                         refuses every write; says how it ended, and LMDB's words

import fs from 'node:fs';
import path from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { Environment } from '../../src/log/lmdb/env.ts';
import { readKey, writeKey } from '../../src/log/lmdb/page.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { breakDataFile } from './lmdb-faults.ts';
import { group, started } from './records.ts';

const [what = '', dataDir = '', count = '0'] = process.argv.slice(2);
const SIZES = [50, 3_000, 20_000, 200_000];
/** What calls leave on the stack in a process that has done more than this one. */
const POINTERS = Array.from({ length: 2_000 }, () => ({}));
const leaveOnStack = (...what: object[]): number => what.length;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  if (what === 'lock') await lock();
  else if (what === 'append') await append();
  else if (what === 'refuse') await refuse();
  else if (what === 'open') await openAgain();
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

async function refuse(): Promise<void> {
  for (let n = 0; n < Number(count); n += 1) {
    const directory = path.join(dataDir, String(n));
    fs.mkdirSync(directory);
    await Environment.create(directory, [[0, new Uint8Array(8)]]);
    const environment = new Environment(directory);
    const bytes = new Uint8Array(SIZES[n % 4] as number);
    const last = n % 5;
    for (let key = 1; key <= last; key += 1) environment.commit(key, key - 1, [[key, bytes]]);
    breakDataFile(directory);
    const told = hearErrors(environment);
    leaveOnStack(...POINTERS);
    say(environment.commit(last + 1, last, [[last + 1, bytes]]));
    say(/buffer sizes .*/.exec(told.join())?.[0] ?? 'no sizes');
    await environment.close(1_000);
  }
}

/** @returns the words of what LMDB throws, which nobody else hears. */
function hearErrors(environment: Environment): string[] {
  const { db } = environment as unknown as { db: RootDatabase };
  const told: string[] = [];
  const transactionSync = db.transactionSync.bind(db);
  db.transactionSync = <T>(act: () => T): T => {
    try {
      return transactionSync(act);
    } catch (error) {
      told.push((error as Error).message);
      throw error;
    }
  };
  return told;
}

function openFirst(): RootDatabase {
  return open({
    path: path.join(dataDir, 'log', '00000001-0'),
    noSubdir: false,
    overlappingSync: false,
    encoding: 'binary',
    keyEncoder: { writeKey, readKey },
  });
}

async function openAgain(): Promise<void> {
  say('opening');
  const until = performance.now() + Number(count);
  while (performance.now() < until) await openFirst().close();
}

function hang(): void {
  openFirst().transactionSync(() => {
    say('holding');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(count));
  });
  process.exit(0);
}
