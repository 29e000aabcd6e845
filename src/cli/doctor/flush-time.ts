// Owns measuring how long the file system of a directory takes to flush a write. The file that is
// written has no name where the system allows that, so nothing is left however the process ends.

import fs from 'node:fs';
import path from 'node:path';
import { monotonicMs } from '../../client/local-clock.ts';

const ROUNDS = 20;
const BYTES = 4_096;
/** Linux: a file in a directory without a name there. */
const O_TMPFILE = 0o20_000_000 | fs.constants.O_DIRECTORY;

export interface FlushTimes {
  readonly medianMs: number;
  readonly mostMs: number;
  readonly rounds: number;
}

/** @throws NodeJS.ErrnoException when nothing may be written there, or the device is full */
export function flushTimes(directory: string): FlushTimes {
  const { file, remove } = openUnnamed(directory);
  try {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = monotonicMs();
      fs.writeSync(file, Buffer.alloc(BYTES, round), 0, BYTES, round * BYTES);
      fs.fdatasyncSync(file);
      times.push(monotonicMs() - began);
    }
    times.sort((a, b) => a - b);
    const medianMs = times[ROUNDS >> 1] as number;
    return { medianMs, mostMs: times.at(-1) as number, rounds: ROUNDS };
  } finally {
    fs.closeSync(file);
    remove();
  }
}

function openUnnamed(directory: string): { file: number; remove: () => void } {
  if (process.platform === 'linux') {
    try {
      const file = fs.openSync(directory, O_TMPFILE | fs.constants.O_RDWR, 0o600);
      return { file, remove: () => {} };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Some file systems have no such files; a directory that may not be written is another thing.
      if (code !== 'EOPNOTSUPP' && code !== 'ENOTSUP' && code !== 'EISDIR') throw error;
    }
  }
  const name = path.join(directory, `.doctor-${process.pid}`);
  const file = fs.openSync(name, 'wx', 0o600);
  try {
    fs.unlinkSync(name);
    return { file, remove: () => {} };
  } catch {
    return { file, remove: () => fs.rmSync(name, { force: true }) };
  }
}
