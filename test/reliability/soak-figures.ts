// Owns what is seen of a server once a second during a long run: its memory, its files, its metrics
// and the times of its answers. Each is a series with the tolerance by which it is judged.

import fs from 'node:fs';
import path from 'node:path';
import { percentile } from '../../bench/harness.ts';
import { memoryOf } from '../../bench/server.ts';
import { samplesOf, valueOf } from '../metrics/exposition.ts';
import type { Server } from '../support/server.ts';
import { liveMemory } from './live-memory.ts';
import type { Series, Tolerance } from './soak-judge.ts';
import type { Load } from './soak-load.ts';

const MB = 1e6;
/** A stretch of the log that is full but not rewritten yet: one more or less is no growth. */
const SEGMENT_MB = 1.1;

const FIGURES: Readonly<Record<string, readonly [unit: string, tolerance: Tolerance]>> = {
  'live memory': ['MB', { share: 0.02, plus: 3, by: 'median' }],
  'private memory': ['MB', { share: 0.02, plus: 6, by: 'median' }],
  'data directory': ['MB', { share: 0.1, plus: SEGMENT_MB, by: 'mean' }],
  'log: live': ['MB', { share: 0.1, plus: SEGMENT_MB, by: 'mean' }],
  'log: forgotten': ['MB', { share: 0.1, plus: SEGMENT_MB, by: 'mean' }],
  'remembered tasks': ['tasks', { share: 0.1, plus: 50, by: 'mean' }],
  'open tasks': ['tasks', { share: 0.1, plus: 50, by: 'mean' }],
  leases: ['leases', { share: 0.1, plus: 20, by: 'mean' }],
  'submit p50': ['ms', { share: 1, plus: 5, by: 'median' }],
  'submit p99': ['ms', { share: 1, plus: 20, by: 'median' }],
  'lease p50': ['ms', { share: 1, plus: 5, by: 'median' }],
  'lease p99': ['ms', { share: 1, plus: 20, by: 'median' }],
  'complete p50': ['ms', { share: 1, plus: 5, by: 'median' }],
  'complete p99': ['ms', { share: 1, plus: 20, by: 'median' }],
};

/** A process takes its memory in its first minutes; what it takes after that it does not need. */
const BEGUN_SECONDS = 300;
const WHILE_IT_BEGINS: Tolerance = { share: 0.1, plus: 16, by: 'median' };

/** @param seconds how long the run is. */
export function toleranceOf(name: string, seconds: number): Tolerance {
  if (name.endsWith('memory') && seconds < BEGUN_SECONDS) return WHILE_IT_BEGINS;
  return (FIGURES[name] as (typeof FIGURES)[string])[1];
}

export class Figures {
  readonly #values = new Map<string, number[]>(Object.keys(FIGURES).map((name) => [name, []]));
  readonly #server: Server;
  readonly #dataDir: string;
  readonly #memoryDir: string;

  /** @param memoryDir where its threads tell what they use. */
  constructor(server: Server, dataDir: string, memoryDir: string) {
    this.#server = server;
    this.#dataDir = dataDir;
    this.#memoryDir = memoryDir;
  }

  async sample(load: Load): Promise<void> {
    const response = await fetch(`${this.#server.url}/metrics`);
    const samples = samplesOf(await response.text());
    const of = (name: string, labels = {}): number => valueOf(samples, `leasehold_${name}`, labels);
    const open = of('tasks', { state: 'WAITING' }) + of('tasks', { state: 'LEASED' });
    this.#add('live memory', liveMemory(this.#memoryDir) / MB);
    this.#add('private memory', memoryOf(this.#server.pid as number).anonymous / MB);
    this.#add('data directory', bytesUnder(this.#dataDir) / MB);
    this.#add('log: live', of('log_bytes', { state: 'live' }) / MB);
    this.#add('log: forgotten', of('log_bytes', { state: 'forgotten' }) / MB);
    this.#add('remembered tasks', of('tasks'));
    this.#add('open tasks', open);
    this.#add('leases', of('leases_active'));
    for (const op of ['submit', 'lease', 'complete'] as const) {
      const times = load.takeTimes(op);
      const at = (percent: number): number =>
        times.length === 0 ? Number.NaN : percentile(times, percent);
      this.#add(`${op} p50`, at(50));
      this.#add(`${op} p99`, at(99));
    }
  }

  series(): Series[] {
    return Object.entries(FIGURES).map(([name, [unit]]) => {
      const values = this.#values.get(name) as number[];
      return { name, unit, values, tolerance: toleranceOf(name, values.length) };
    });
  }

  #add(name: string, value: number): void {
    (this.#values.get(name) as number[]).push(value);
  }
}

/** Sizes of all files; what is removed while it is being looked at counts nothing. */
function bytesUnder(directory: string): number {
  return namesIn(directory).reduce((sum, name) => {
    const inside = path.join(directory, name);
    const found = fs.statSync(inside, { throwIfNoEntry: false });
    return sum + (found?.isDirectory() ? bytesUnder(inside) : (found?.size ?? 0));
  }, 0);
}

function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
