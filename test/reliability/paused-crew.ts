// Owns workers that are processes of their own, the resource that they write to under their fencing
// tokens, and standing still: a process is stopped for a while and goes on. It judges nothing.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HttpLink } from '../support/links.ts';
import { cleanEnv, type Place } from '../support/server.ts';
import { until } from '../support/waiting.ts';
import type { Asked } from './traffic.ts';

const WORKER = fileURLToPath(new URL('./naive-worker.js', import.meta.url));
const TASKS_AT_ONCE = 8;
const LEAVE_MS = 30_000;

/** What a worker tells its parent. */
export type Told =
  | { readonly kind: 'leased' | 'write'; readonly held: Held }
  | { readonly kind: 'asked'; readonly asked: Asked };

export interface Held {
  readonly taskId: string;
  /** The lease's number: the larger is the later. */
  readonly token: number;
}

/** From one moment to another, in ms of the clock that all processes share. */
export interface Still {
  readonly from: number;
  readonly to: number;
}

/** In ms; all processes of a machine share it, and it goes on while one is stopped. */
export const sharedMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Stops a process until something has happened. @returns when it certainly stood still. */
export async function standsStill(pid: number, during: () => Promise<unknown>): Promise<Still> {
  process.kill(pid, 'SIGSTOP');
  try {
    const state = (): string =>
      fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '';
    await until('it is stopped', () => state().startsWith('T'));
    const from = sharedMs();
    await during();
    return { from, to: sharedMs() };
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

export class Crew {
  readonly history: Asked[] = [];
  /** By task, the token of the newest write that a resource with fencing took. */
  readonly fenced = new Map<string, number>();
  /** The same of a resource that takes every write. */
  readonly unfenced = new Map<string, number>();
  /** By lease, its report and the answer. */
  readonly reports = new Map<unknown, Asked>();
  readonly #done = new Set<unknown>();
  readonly #children: ChildProcess[];
  readonly #link: HttpLink;
  readonly #submitting: Promise<void>;
  #leased: ((pid: number, held: Held) => void)[] = [];
  #unfinished = 0;
  #leaving = false;

  constructor(place: Place, workers: number) {
    this.#link = new HttpLink(place.httpPort);
    this.#children = Array.from({ length: workers }, (_, i) => {
      const where = i % 2 === 0 ? ['http', `${place.httpPort}`] : ['socket', `${place.socketPort}`];
      const child = fork(WORKER, [...where, `w${i}`], { env: cleanEnv() });
      child.on('message', (told) => this.#take(child, told as Told));
      return child;
    });
    this.#submitting = this.#submit();
  }

  /** Whoever is granted a lease next, and what. */
  nextLease(): Promise<{ pid: number; held: Held }> {
    return new Promise((resolve) => {
      this.#leased.push((pid, held) => resolve({ pid, held }));
    });
  }

  /** Resolves when another lease for the same task is granted. */
  async takenOver({ taskId, token }: Held): Promise<void> {
    for (;;) {
      const { held } = await this.nextLease();
      if (held.taskId === taskId && held.token > token) return;
    }
  }

  /** Resolves when some report of the task is COMMITTED. */
  async done(taskId: string): Promise<void> {
    while (!this.#done.has(taskId) && !this.#leaving) await pause(5);
  }

  /** Resolves when the report under this lease is answered. */
  async reported({ token }: Held): Promise<void> {
    while (!this.reports.has(`L${token}`) && !this.#leaving) await pause(5);
  }

  /** Nothing new is submitted; the workers end when all is done. */
  async leave(): Promise<void> {
    this.#leaving = true;
    await this.#submitting;
    const ended = this.#children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      if (child.connected) child.send('leave');
      await Promise.race([exit, pause(LEAVE_MS, undefined, { ref: false })]);
    });
    await Promise.all(ended);
    this.close();
  }

  close(): void {
    this.#leaving = true;
    for (const child of this.#children) child.kill('SIGKILL');
    this.#link.close();
  }

  async #submit(): Promise<void> {
    for (let i = 0; !this.#leaving; i += 1) {
      const params = { payload: 'p', request_id: `task ${i}` };
      const called = sharedMs();
      const answer = await this.#link.call('submit', params).catch(() => undefined);
      if (answer === undefined) return;
      this.history.push({ op: 'submit', params, called, returned: sharedMs(), answer });
      this.#unfinished += 1;
      while (this.#unfinished >= TASKS_AT_ONCE && !this.#leaving) await pause(5);
    }
  }

  #take(child: ChildProcess, told: Told): void {
    if (told.kind === 'asked') {
      this.history.push(told.asked);
      const { op, params } = told.asked;
      if (op === 'complete') this.reports.set(params['lease_id'], told.asked);
      if (told.asked.answer?.['outcome'] === 'COMMITTED') {
        this.#done.add(params['task_id']);
        this.#unfinished -= 1;
      }
      return;
    }
    const { taskId, token } = told.held;
    if (told.kind === 'leased') {
      const waiting = this.#leased;
      this.#leased = [];
      for (const resolve of waiting) resolve(child.pid as number, told.held);
      return;
    }
    this.unfenced.set(taskId, token);
    if (token > (this.fenced.get(taskId) ?? 0)) this.fenced.set(taskId, token);
    child.send('written');
  }
}
