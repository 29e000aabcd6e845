// Owns a steady, mixed load for hours: submits at a fixed rate whether or not answers come, workers
// that complete, fail, heartbeat, report late or vanish, kills and redrives; half over HTTP, half
// over the socket. When the workers, on a busy machine, do not keep up, the submits wait for them:
// else what piles up would be taken for a growth of the server. It counts what it was told, and how
// long each answer took.

import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../simulator/random.ts';
import { HttpLink, type Link, type Op, SocketLink } from '../support/links.ts';
import type { Fields, Place } from '../support/server.ts';

export interface LoadOptions {
  readonly seed: number;
  /** Tasks a second. */
  readonly rate: number;
  readonly payloadBytes: number;
  readonly leaseMs: number;
  /** After this a submit with the same request id makes a new task. */
  readonly retentionMs: number;
}

const WORKERS = 8;
const QUEUES = ['red', 'green', 'blue'];
const IDLE_MS = 25;
const WORK_MS_MAX = 50;
/** A worker asks for so many tasks. */
const AT_ONCE = 4;
/** Submits since a worker last got fewer tasks than it asked for: then they are behind. */
const BEHIND = 50;
/** What a worker does with a lease, by weight. */
const DEEDS = {
  complete: 80,
  heartbeat: 5,
  fail: 7,
  permanent: 2,
  released: 1,
  vanish: 3,
  late: 2,
};
const KILLED = 0.01;
const REDRIVEN = 0.3;
const TIMED: readonly Op[] = ['submit', 'lease', 'complete'];

export class Load {
  readonly told = new Map<string, number>();
  readonly #options: LoadOptions;
  readonly #dice: Random;
  readonly #links: Link[];
  readonly #took = new Map<Op, number[]>(TIMED.map((op) => [op, []]));
  readonly #pending = new Set<Promise<void>>();
  #running = true;
  #made = 0;
  /** Submits since a worker found fewer tasks than it asked for. */
  #sinceShort = 0;
  /** The first thing that went wrong with a call. */
  #failure: Error | undefined;

  constructor(place: Place, options: LoadOptions) {
    this.#options = options;
    this.#dice = new Random(options.seed, 'load');
    this.#links = Array.from({ length: WORKERS }, (_, i) =>
      i % 2 === 0 ? new SocketLink(place.socketPort) : new HttpLink(place.httpPort),
    );
  }

  start(): void {
    this.#track(this.#submits());
    for (let worker = 0; worker < WORKERS; worker += 1) this.#track(this.#works(worker));
  }

  /** Nothing more begins, all that did is over. @throws Error when a call had no answer. */
  async stop(): Promise<void> {
    this.#running = false;
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    for (const link of this.#links) link.close();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when so many more tasks were submitted, or a call went wrong. */
  async goesOn(tasks: number): Promise<void> {
    const target = this.#made + tasks;
    while (this.#made < target && this.#running && this.#failure === undefined) await pause(5);
  }

  /** @returns the times in ms of the calls since the last look. */
  takeTimes(op: Op): number[] {
    return this.#took.get(op)?.splice(0) ?? [];
  }

  count = (name: string): number => this.told.get(name) ?? 0;

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: Error) => {
        this.#failure ??= error;
      })
      .finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }

  async #call(link: Link, op: Op, params: Fields, timed = true): Promise<Fields> {
    const began = performance.now();
    const answer = await link.call(op, params);
    if (timed) this.#took.get(op)?.push(performance.now() - began);
    const { outcome, error, rpc_error: broken } = answer;
    if (broken !== undefined) throw new Error(`${op}: ${JSON.stringify(broken)}`);
    const word = String(outcome ?? error ?? 'OK');
    this.told.set(`${op} ${word}`, this.count(`${op} ${word}`) + 1);
    return answer;
  }

  async #submits(): Promise<void> {
    const { rate } = this.#options;
    let dueAt = performance.now();
    while (this.#running && this.#failure === undefined) {
      const now = performance.now();
      if (this.#sinceShort >= BEHIND) dueAt = now;
      for (; dueAt < now; dueAt += 1_000 / rate) {
        this.#track(this.#submit(this.#made, this.#links[this.#made % WORKERS] as Link));
        this.#made += 1;
        this.#sinceShort += 1;
      }
      await pause(5);
    }
  }

  async #submit(number: number, link: Link): Promise<void> {
    const dice = this.#dice;
    const queue = dice.pick(QUEUES);
    const request = dice.chance(0.5) ? { request_id: `r${number}` } : {};
    const delay = dice.chance(0.1) ? { delay_ms: dice.between(10, 1_000) } : {};
    const payload = String(number).padEnd(this.#options.payloadBytes, '.');
    const params = { payload, queue, ...request, ...delay };
    const answer = await this.#call(link, 'submit', params);
    // A client whose answer was lost asks again, and is told of the same task.
    if ('request_id' in request && dice.chance(0.05)) await this.#again(link, params, answer);
    if (dice.chance(KILLED)) {
      await this.#call(link, 'kill', { task_id: answer['task_id'], reason: 'not wanted' });
    }
  }

  async #again(link: Link, params: Fields, { task_id: first }: Fields): Promise<void> {
    const began = performance.now();
    const { task_id: second } = await this.#call(link, 'submit', params);
    const isForgotten = performance.now() - began > this.#options.retentionMs / 2;
    if (second !== first && isForgotten) return; // The machine stood still: it is a new task.
    if (second !== first) throw new Error(`${params['request_id']} is ${first}, then ${second}`);
    this.told.set('again', this.count('again') + 1);
  }

  async #works(worker: number): Promise<void> {
    const link = this.#links[worker] as Link;
    // One of each kind lets its requests be parked; how long that takes says nothing.
    const parks = worker < 2;
    const wanted = { worker_id: `w${worker}`, queues: QUEUES, max: AT_ONCE };
    while (this.#running && this.#failure === undefined) {
      const params = parks ? { ...wanted, wait_ms: 200 } : wanted;
      const { leases = [] } = await this.#call(link, 'lease', params, !parks);
      const held = leases as Fields[];
      if (held.length < AT_ONCE) this.#sinceShort = 0;
      if (held.length === 0 && !parks) await pause(IDLE_MS);
      await Promise.all(held.map((lease) => this.#workOn(link, lease)));
    }
  }

  async #workOn(link: Link, { task_id, lease_id }: Fields): Promise<void> {
    const named = { task_id, lease_id };
    const deed = this.#dice.weighted(DEEDS);
    await pause(this.#dice.below(WORK_MS_MAX));
    if (deed === 'vanish') return;
    if (deed === 'late') {
      this.#track(this.#late(link, named));
      return;
    }
    if (deed === 'heartbeat') {
      await this.#call(link, 'heartbeat', named);
      await pause(this.#dice.below(WORK_MS_MAX));
    }
    if (deed === 'complete' || deed === 'heartbeat') {
      await this.#call(link, 'complete', { ...named, result: 'done' });
      return;
    }
    const kind = deed === 'fail' ? 'error' : deed;
    const answer = await this.#call(link, 'fail', { ...named, reason: 'it did not work', kind });
    if (answer['task_state'] === 'FAILED' && this.#dice.chance(REDRIVEN)) {
      await this.#call(link, 'redrive', { task_id });
    }
  }

  async #late(link: Link, named: Fields): Promise<void> {
    await pause(this.#options.leaseMs * 1.2);
    await this.#call(link, 'complete', named, false);
  }
}
