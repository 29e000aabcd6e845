// Owns the description of the machine that stands beside every figure: what it is, and what a flush
// of its device costs in the minute of the run. It judges nothing.

import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { percentile } from './harness.ts';

export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly processor: string;
  readonly processors: number;
  readonly memoryGiB: number;
  /** Type of the file system on which the run's files lie; a flush to tmpfs flushes nothing. */
  readonly fileSystem: string;
  /** Append of 4 KiB and fdatasync, in microseconds. */
  readonly flushUs: { readonly p50: number; readonly p99: number };
  readonly loadBefore: number;
}

const FLUSHES = 200;

export function describeMachine(): Machine {
  const processors = cpus();
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch} ${release()}`,
    processor: processors[0]?.model ?? 'unknown',
    processors: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    fileSystem: fileSystemOf(benchDir()),
    flushUs: flushes(),
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

/** Where the runs keep their files: on the device whose flushes are to be measured. */
export const benchDir = (): string => process.env['BENCH_DIR'] ?? tmpdir();

/** @returns a new directory; the caller removes it. */
export const scratch = (stem: string): string =>
  mkdtempSync(join(benchDir(), `leasehold-${stem}-`));

export function sayMachine(machine: Machine): string {
  const { node, platform, processor, processors, memoryGiB, fileSystem, flushUs } = machine;
  const flush = `append of 4 KiB + fdatasync p50 ${flushUs.p50} µs, p99 ${flushUs.p99} µs`;
  return (
    `node ${node}, ${platform}, ${processors} × ${processor}, ${memoryGiB} GiB, ` +
    `${fileSystem}; ${flush}; load ${machine.loadBefore}`
  );
}

function flushes(): { p50: number; p99: number } {
  const directory = scratch('flush');
  const file = openSync(join(directory, 'flush'), 'w');
  const block = Buffer.alloc(4_096, 1);
  const taken: number[] = [];
  for (let flush = 0; flush < FLUSHES; flush += 1) {
    const started = performance.now();
    writeSync(file, block);
    fdatasyncSync(file);
    taken.push((performance.now() - started) * 1_000);
  }
  closeSync(file);
  rmSync(directory, { recursive: true });
  return { p50: Math.round(percentile(taken, 50)), p99: Math.round(percentile(taken, 99)) };
}

/** The longest mount point that the path begins with. */
function fileSystemOf(path: string): string {
  let mounts: string;
  try {
    mounts = readFileSync('/proc/self/mounts', 'utf8');
  } catch {
    return 'unknown file system';
  }
  let best = ['', '', 'unknown file system'];
  for (const line of mounts.split('\n')) {
    const fields = line.split(' ');
    const at = fields[1] ?? '';
    const within = path === at || path.startsWith(at.endsWith('/') ? at : `${at}/`);
    if (within && at.length >= (best[1] ?? '').length) best = fields;
  }
  return best[2] ?? 'unknown file system';
}
