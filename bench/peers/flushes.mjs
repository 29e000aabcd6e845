// Owns the counting of flushes: how often a server made the device write while a number of steps
// was done one after the other. It watches system calls from outside (strace) and believes nobody.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../../dist/bench/machine.js';
import { family } from './processes.mjs';

const CALLS = 'fsync,fdatasync,msync,sync_file_range,write,writev,pwrite64,pwritev,pwritev2';
const FLUSHES = /\b(?:fsync|fdatasync|msync|sync_file_range)\(/;
const WRITES = /\b(?:write|writev|pwrite64|pwritev|pwritev2)\((\d+),/;
const O_DSYNC = 0o10000;

/** @returns flushes during `work`, or undefined when the process cannot be watched. */
export async function countFlushes(pid, work) {
  const directory = scratch('strace');
  const file = join(directory, 'calls');
  const pids = family(pid);
  const flushing = new Set(pids.flatMap(flushingFiles));
  const attach = pids.flatMap((one) => ['-p', String(one)]);
  const tracer = spawn('strace', ['-f', '-qq', '-e', `trace=${CALLS}`, '-o', file, ...attach], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(tracer, 'exit');
  if (!(await attached(pid, tracer))) return undefined;
  await work();
  tracer.kill('SIGINT');
  await ended;
  const lines = readFileSync(file, 'utf8').split('\n');
  rmSync(directory, { recursive: true });
  return lines.filter((line) => {
    if (line.includes('resumed>')) return false; // The end of a call that was counted already.
    if (FLUSHES.test(line)) return true;
    const written = WRITES.exec(line)?.[1];
    return written !== undefined && flushing.has(Number(written));
  }).length;
}

/** Descriptors whose every write is a flush (O_DSYNC, O_SYNC). */
function flushingFiles(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`)
      .map(Number)
      .filter((descriptor) => {
        const info = readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8');
        return (Number.parseInt(/^flags:\s+(\d+)/m.exec(info)?.[1] ?? '0', 8) & O_DSYNC) !== 0;
      });
  } catch {
    return [];
  }
}

async function attached(pid, tracer) {
  for (let tries = 0; tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (tracer.exitCode !== null) return false;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (!/^TracerPid:\s+0$/m.test(status)) {
      // Its threads and children follow within the same moment.
      await new Promise((resolve) => setTimeout(resolve, 300));
      return true;
    }
  }
  return false;
}
