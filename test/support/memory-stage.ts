// Owns the scene of a story in memory: a server without threads and without a disk, workers that
// are objects, and a clock that moves when the story says so, or when a request is parked and
// nothing else is going on. A story that takes seconds with processes takes none here.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Heard, Told } from '../../src/play/puppet.ts';
import type { Actor, Scene } from '../../src/play/stage.ts';
import { MemoryServer } from './memory-server.ts';

const STEP_MS = 10;
const LOST: Heard = { status: 0, body: {} };

export class MemoryStage implements Scene {
  readonly #server: MemoryServer;
  readonly #workers = new Map<string, MemoryWorker>();
  #isDown = false;
  #isPassing = false;
  #isClosed = false;

  private constructor(server: MemoryServer) {
    this.#server = server;
  }

  /** @param flags `--lease-duration-ms 1500 …`, in pairs. */
  static async open(flags: readonly string[]): Promise<MemoryStage> {
    const named: Record<string, string> = {};
    for (let at = 0; at < flags.length; at += 2) {
      named[camelOf(flags[at] as string)] = flags[at + 1] as string;
    }
    const stage = new MemoryStage(await MemoryServer.start({ flags: named }));
    stage.#passWhileParked();
    return stage;
  }

  worker(name: string): Actor {
    const worker = this.#workers.get(name) ?? new MemoryWorker((told) => this.#ask(told));
    this.#workers.set(name, worker);
    return worker;
  }

  async kill(): Promise<void> {
    this.#isDown = true;
  }

  async start(): Promise<void> {
    await this.#server.world.restart();
    this.#isDown = false;
  }

  async get(route: string, accept = 'application/json'): Promise<string> {
    return (await fetch(this.#server.url + route, { headers: { accept } })).text();
  }

  now(): number {
    return this.#server.world.time;
  }

  async pass(ms: number): Promise<void> {
    this.#isPassing = true;
    const end = this.now() + ms;
    while (this.now() < end) await this.#step(Math.min(STEP_MS, end - this.now()));
    this.#isPassing = false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#server.stop();
  }

  async #step(ms: number): Promise<void> {
    this.#server.world.time += ms;
    if (!this.#isDown) await this.#server.world.tick();
  }

  #passWhileParked(): void {
    if (this.#isClosed) return;
    const { world } = this.#server;
    const isParked = !this.#isDown && world.loop.view.parkedRequests > 0;
    const step = isParked && !this.#isPassing ? this.#step(STEP_MS) : Promise.resolve();
    void step.then(() => setImmediate(() => this.#passWhileParked()));
  }

  #ask({ path, body, drop }: Told): Promise<Heard> {
    if (this.#isDown) return Promise.resolve(LOST);
    return new Promise((resolve, reject) => {
      const options = { method: 'POST', agent: false };
      const asked = httpRequest(this.#server.url + path, options, (response) => {
        if (drop === true) response.destroy();
        resolve(drop === true ? LOST : heardOf(response));
      });
      asked.once('error', reject);
      asked.end(JSON.stringify(body));
    });
  }
}

async function heardOf(response: IncomingMessage): Promise<Heard> {
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part;
  return { status: response.statusCode ?? 0, body: JSON.parse(text) as Heard['body'] };
}

/** One request at a time, in order; a worker that stands still sends when it goes on. */
class MemoryWorker implements Actor {
  readonly #ask: (told: Told) => Promise<Heard>;
  #last: Promise<unknown> = Promise.resolve();
  #isDead = false;
  #goOn: (() => void) | undefined;

  constructor(ask: (told: Told) => Promise<Heard>) {
    this.#ask = ask;
  }

  send(told: Told): Promise<Heard> {
    const heard = this.#last.then(() => (this.#isDead ? LOST : this.#ask(told)));
    this.#last = heard;
    return heard;
  }

  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    if (signal === 'SIGKILL') this.#isDead = true;
    if (signal === 'SIGCONT') this.#goOn?.();
    if (signal !== 'SIGSTOP') return;
    const going = new Promise<void>((resolve) => {
      this.#goOn = resolve;
    });
    this.#last = this.#last.then(() => going);
  }
}

const camelOf = (flag: string): string =>
  flag.replace(/^--/, '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
