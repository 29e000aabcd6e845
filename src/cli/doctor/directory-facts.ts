// Owns reading and measuring a data directory for `doctor`. The log is only read, also beside the
// server that writes it; what is written to measure the device has gone when this returns.

import fs from 'node:fs';
import path from 'node:path';
import { clock } from '../../../actors/shared/clock.ts';
import { type DirectoryReader, openLmdbReader } from '../../log/lmdb-reader.ts';
import { isLocked } from '../../log/lock.ts';
import { type DroppedSet, LogCorrupt } from '../../log/log.ts';
import { errnoText } from '../../model/errno-text.ts';
import { formatTaskId } from '../../model/ids.ts';
import { type LogRecord, taskOf } from '../../model/records.ts';
import { KNOBS } from '../../settings/knob-table.ts';
import { operatingError } from '../offline.ts';
import { flushTimes } from './flush-time.ts';
import type { DirectoryFacts, LogFacts } from './judge-directory.ts';

/** Records that are read, back from the newest. */
const LOOKED_AT = 10_000;
/** As statfs tells them on Linux. */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: 'nfs',
  0x0102_1994: 'tmpfs',
  0x794c_7630: 'overlay',
};

/** @throws NodeJS.ErrnoException when there is no such directory, or it may not be looked at */
export async function directoryFacts(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<DirectoryFacts> {
  const { bavail, blocks, bsize, type } = fs.statfsSync(directory);
  return {
    isServed: await isLocked(directory),
    flush: orWhy(() => flushTimes(directory)),
    fileSystem: process.platform === 'linux' ? FILE_SYSTEMS[type] : undefined,
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    maxFiles: maxFiles(),
    log: await logFacts(directory, env),
  };
}

function orWhy<T>(act: () => T): T | string {
  try {
    return act();
  } catch (error) {
    return errnoText(error);
  }
}

/** What this shell allows; a server under systemd has a limit of its own. */
function maxFiles(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const found = /^Max open files\s+(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'));
  return found === null ? undefined : Number(found[1]);
}

async function logFacts(directory: string, env: NodeJS.ProcessEnv): Promise<LogFacts | string> {
  try {
    const log = await openLmdbReader(directory);
    try {
      return ofLog(log, directory, env);
    } finally {
      await log.close();
    }
  } catch (error) {
    if (error instanceof LogCorrupt) return `LOG_CORRUPT: ${error.message}`;
    const told = operatingError(error);
    if (told === undefined) throw error;
    return told;
  }
}

function ofLog(log: DirectoryReader, directory: string, env: NodeJS.ProcessEnv): LogFacts {
  const { lastNumber } = log;
  const ranges = log.dropped.ranges;
  const records = ranges.reduce((left, [from, to]) => left - (to - from + 1), lastNumber);
  const from = startOfNewest(lastNumber, ranges);
  const inARow = new Map<number, number>();
  let looked = 0;
  let newest: LogRecord | undefined;
  for (const record of log.read(from, lastNumber)) {
    looked += 1;
    newest = record;
    countExpiries(inARow, record);
  }
  const [worst] = [...inARow].toSorted(([, a], [, b]) => b - a);
  return {
    records,
    looked,
    bytes: bytesIn(path.join(directory, 'log')),
    wasShortened: log.removedAt > 0,
    newestAheadMs: newest === undefined ? undefined : newest.at - clock.wall(),
    expiries: worst && { taskId: formatTaskId(worst[0]), count: worst[1] },
    poisonThreshold: Number(env['LEASEHOLD_POISON_THRESHOLD'] ?? KNOBS.poisonThreshold.default),
  };
}

/** The number from which on the newest records stand: numbers may be absent between them. */
function startOfNewest(lastNumber: number, ranges: DroppedSet['ranges']): number {
  let left = LOOKED_AT;
  let before = lastNumber + 1;
  for (const [first, last] of ranges.toReversed()) {
    const there = before - 1 - last;
    if (there >= left) break;
    left -= there;
    before = first;
  }
  return Math.max(1, before - left);
}

/** An accepted report, or the end of the task, begins the count anew. */
function countExpiries(inARow: Map<number, number>, record: LogRecord): void {
  const taskId = taskOf(record);
  if (taskId === undefined) return;
  switch (record.type) {
    case 'LeaseExpired':
      inARow.set(taskId, (inARow.get(taskId) ?? 0) + 1);
      break;
    case 'TaskFailed':
    case 'TaskCompleted':
    case 'TaskDead':
      inARow.delete(taskId);
      break;
    default:
  }
}

function bytesIn(directory: string): number {
  let bytes = 0;
  for (const name of fs.readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    // Segments are replaced while a server runs.
    const file = fs.lstatSync(path.join(directory, name), { throwIfNoEntry: false });
    if (file?.isFile()) bytes += file.blocks * 512;
  }
  return bytes;
}
