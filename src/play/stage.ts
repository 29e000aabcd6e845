// Owns the stage of a story: a real coordinator on a directory of its own, real worker processes,
// and the signals that are sent to them. At the end nothing of the stage is left.

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, Process, removeAtExit, ServerProcess } from './demo/processes.ts';
import type { Heard, Told } from './puppet.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Where a story is played: a coordinator, its workers, and the time that passes there. */
export interface Scene {
  worker(name: string): Actor;
  /** The coordinator ends at once, as by SIGKILL. */
  kill(): Promise<void>;
  /** The coordinator starts anew on the same log. */
  start(): Promise<void>;
  /** @returns the body that a GET of this route is answered with. */
  get(route: string, accept?: string): Promise<string>;
  /** In ms, from any moment on. */
  now(): number;
  /** Resolves when so much time has passed. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** @param flags of `serve`. @returns a scene with a coordinator that is ready, on an empty log. */
export type OpenScene = (flags: readonly string[]) => Promise<Scene>;

/** A worker that does as it is told. */
export interface Actor {
  send(told: Told): Promise<Heard>;
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

const suffix = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const PUPPET = fileURLToPath(new URL(`./puppet${suffix}`, import.meta.url));
const LOST: Heard = { status: 0, body: {} };

/** A worker process; one request at a time, answered in order. */
export class Puppet implements Actor {
  readonly name: string;
  readonly #process: Process;
  readonly #lines: Interface;
  readonly #waiting: ((heard: Heard) => void)[] = [];

  constructor(name: string, url: string) {
    this.name = name;
    this.#process = new Process([PUPPET, url]);
    this.#lines = createInterface({ input: this.#process.child.stdout as NodeJS.ReadableStream });
    this.#lines.on('line', (line) => this.#waiting.shift()?.(JSON.parse(line) as Heard));
    void this.#process.ended.finally(() => {
      for (const waiting of this.#waiting.splice(0)) waiting(LOST);
    });
  }

  send(told: Told): Promise<Heard> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#process.child.stdin?.write(`${JSON.stringify(told)}\n`);
    });
  }

  /** SIGKILL: it ends at once. SIGSTOP: it stands still, and what it is told waits. SIGCONT. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#process.kill(signal);
  }

  destroy(): Promise<void> {
    return this.#process.destroy();
  }
}

export class Stage implements Scene {
  readonly url: string;
  readonly #dir: string;
  readonly #isRemoved: () => void;
  readonly #port: number;
  readonly #knobs: readonly string[];
  readonly #puppets = new Map<string, Puppet>();
  #server: ServerProcess | undefined;

  private constructor(dir: string, port: number, knobs: readonly string[]) {
    this.#dir = dir;
    this.#isRemoved = removeAtExit(dir);
    this.#port = port;
    this.#knobs = knobs;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** A coordinator with these knobs on an empty log. */
  static async open(knobs: readonly string[]): Promise<Stage> {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'leasehold-story-'));
    const stage = new Stage(dir, await freePort(), knobs);
    await stage.start();
    return stage;
  }

  async start(): Promise<void> {
    const dataDir = path.join(this.#dir, 'data');
    const env: NodeJS.ProcessEnv = {};
    for (const [name, value] of Object.entries(process.env)) {
      if (!name.startsWith('LEASEHOLD_')) env[name] = value;
    }
    const args = [...this.#knobs];
    this.#server = await new ServerProcess({ dataDir, port: this.#port, args, env }).ready(30_000);
  }

  async kill(): Promise<void> {
    this.#server?.kill('SIGKILL');
    await this.#server?.ended;
  }

  worker(name: string): Puppet {
    let puppet = this.#puppets.get(name);
    if (puppet === undefined) {
      puppet = new Puppet(name, this.url);
      this.#puppets.set(name, puppet);
    }
    return puppet;
  }

  async get(route: string, accept = 'application/json'): Promise<string> {
    return (await fetch(this.url + route, { headers: { accept } })).text();
  }

  now(): number {
    return performance.now();
  }

  async pass(ms: number): Promise<void> {
    await pause(ms);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#puppets.values()].map((puppet) => puppet.destroy()));
    await this.#server?.destroy();
    await rm(this.#dir, { recursive: true, force: true });
    this.#isRemoved();
  }
}
