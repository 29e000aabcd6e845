// Owns one long run: a server, a load, a look at it every second, a reader that counts again, and
// the questions at its end. It gives what it saw; what of it is wrong the caller decides.

import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { samplesOf, valueOf } from '../metrics/exposition.ts';
import type { Fields, Place, Server } from '../support/server.ts';
import { tellsMemory } from './live-memory.ts';
import { copyProgram, executableOf, type Patch } from './patched.ts';
import { Figures } from './soak-figures.ts';
import type { Series } from './soak-judge.ts';
import { Load } from './soak-load.ts';
import { Recount } from './soak-recount.ts';
import { tellsDigests } from './states.ts';
import { verify } from './verified.ts';

export interface SoakOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly rate: number;
  readonly payloadBytes: number;
  readonly retentionMs: number;
  readonly leaseMs: number;
  /** How often each thread collects its garbage, to tell what is in use. */
  readonly collectMs: number;
  readonly faults?: readonly Patch[];
  /** Every so often, for whoever watches. */
  say?(text: string): void;
}

export interface Soaked {
  readonly series: readonly Series[];
  /** Counters that do not agree, in sentences. */
  readonly wrong: readonly string[];
  readonly told: ReadonlyMap<string, number>;
  readonly records: number;
}

const SAMPLE_MS = 1_000;
/** Far more often than history is forgotten: what was removed cannot be counted. */
const FOLLOW_MS = 100;
const PAGE = 1_000;

export async function soak(place: Place, options: SoakOptions): Promise<Soaked> {
  const digests = path.join(place.dir, 'digests');
  const memory = path.join(place.dir, 'memory');
  const tells = [...tellsDigests(digests), ...tellsMemory(memory, options.collectMs)];
  const patches = [...tells, ...(options.faults ?? [])];
  const server = await serve(place, executableOf(copyProgram(`${place.dir}/it`, patches)), options);
  const load = new Load(place, options);
  const figures = new Figures(server, place.dataDir, memory);
  const recount = new Recount();
  const following = new Following(server, recount);
  load.start();
  for (let second = 1; second <= options.seconds; second += 1) {
    // On a busy machine the load waits for its workers: a second in which little was done shows
    // little growth, so it lasts until half of its tasks were submitted.
    await Promise.all([pause(SAMPLE_MS), load.goesOn(options.rate / 2)]);
    await figures.sample(load);
    if (second % 60 === 0) options.say?.(`${second} of ${options.seconds} s`);
  }
  await load.stop();
  await following.stop();
  const metrics = await metricsAgree(server, recount);
  const wrong = [...recount.wrong, ...metrics, ...clientsAgree(load, recount)];
  expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
  const found = await verify(place.dataDir);
  const lines = fs.readFileSync(digests, 'utf8').trim().split('\n');
  expect(lines.at(-1), 'live state and offline replay').to.equal(
    `${found.last_sequence} ${found.digest}`,
  );
  return { series: figures.series(), wrong, told: load.told, records: recount.lastSeq };
}

function serve(place: Place, executable: string, options: SoakOptions): Promise<Server> {
  const { retentionMs, leaseMs } = options;
  const knobs = {
    'lease-duration-ms': leaseMs,
    'retention-ms': retentionMs,
    'retention-failed-ms': retentionMs,
    'backoff-ms': 200,
    'max-retries': 2,
    'poison-threshold': 3,
    'segment-bytes': 2 ** 20,
    'log-level': 'warn',
  };
  const args = Object.entries(knobs).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  return place.serve({ args, executable }).ready();
}

/** Reads the log as it grows, whatever else takes its time. */
class Following {
  readonly #over: Promise<void>;
  #isStopped = false;

  constructor(server: Server, recount: Recount) {
    this.#over = this.#follow(server, recount);
    // Who stops it learns of what went wrong.
    this.#over.catch(() => {});
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#over;
  }

  async #follow(server: Server, recount: Recount): Promise<void> {
    for (; !this.#isStopped; await pause(FOLLOW_MS)) await follow(server, recount);
  }
}

/** Reads what is new in the log. */
async function follow(server: Server, recount: Recount): Promise<void> {
  for (let taken = PAGE; taken === PAGE; ) {
    const from = recount.lastSeq + 1;
    const response = await fetch(`${server.url}/v1/log?from=${from}&limit=${PAGE}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`/v1/log: ${response.status} ${text}`);
    const lines = text.split('\n').filter((line) => line !== '');
    for (const line of lines) recount.take(JSON.parse(line) as Fields);
    taken = lines.length;
  }
}

/** The server goes on by itself, so the two are compared at a moment at which neither moves. */
async function metricsAgree(server: Server, recount: Recount): Promise<string[]> {
  let wrong: string[] = [];
  for (let tries = 0; tries < 20; tries += 1) {
    await follow(server, recount);
    const samples = samplesOf(await (await fetch(`${server.url}/metrics`)).text());
    wrong = [...recount.metrics()].flatMap(([name, expected]) => {
      const [family = '', state] = name.split(' ');
      const seen = valueOf(samples, family, state === undefined ? {} : { state });
      return seen === expected ? [] : [`${name} is ${seen}, the records say ${expected}`];
    });
    if (valueOf(samples, 'leasehold_log_last_sequence') === recount.lastSeq) return wrong;
    await pause(50);
  }
  return ['the log did not come to rest', ...wrong];
}

/** What clients were told of happened as often as the log says. */
function clientsAgree(load: Load, recount: Recount): string[] {
  const said: readonly (readonly [string, number, number])[] = [
    [
      'submits and redrives',
      load.count('submit OK') + load.count('redrive OK') - load.count('again'),
      recount.count('TaskCreated'),
    ],
    ['completions', load.count('complete COMMITTED'), recount.count('TaskCompleted')],
    ['failures', load.count('fail COMMITTED'), recount.count('TaskFailed')],
    [
      'late reports',
      load.count('complete CANCELLED') + load.count('fail CANCELLED'),
      recount.count('TaskCancelled'),
    ],
  ];
  return said.flatMap(([what, clients, log]) =>
    clients === log ? [] : [`${what}: clients were told ${clients}, the log has ${log}`],
  );
}
