// Owns the real executable under test: started on its own directory and ports, perhaps under a
// tracer or with a library before it, watched for its end, and never left behind. Every test that
// starts a server starts it here.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ended, EXECUTABLE } from '../../src/play/demo/processes.ts';
import { ownPort } from './own-port.ts';
import { untilNextLook } from './waiting.ts';

export type Fields = Record<string, unknown>;

/** Nothing of the caller's own settings may reach a test. */
export function cleanEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!name.startsWith('LEASEHOLD_') && name !== 'NODE_OPTIONS') env[name] = value;
  }
  return { ...env, ...more };
}

/** However this process exits: its servers do not outlive it. */
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

export interface ServerOptions {
  readonly dataDir: string;
  /** Other ports than those of the place; 0: any. */
  readonly httpPort?: number;
  readonly socketPort?: number;
  /** Of `serve`, beside directory and addresses. */
  readonly args?: readonly string[];
  /** Words before the node that runs it. */
  readonly before?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Another executable: a copy with a fault in it. */
  readonly executable?: string;
}

const OUTPUT_KEPT = 1_000_000;

/** A place with addresses that stay the same over the lives of the servers in it. */
export class Place {
  readonly dir: string;
  readonly dataDir: string;
  readonly httpPort: number;
  readonly socketPort: number;
  readonly #servers: Server[] = [];

  private constructor(dir: string, data: string, httpPort: number, socketPort: number) {
    this.dir = dir;
    this.dataDir = path.join(dir, data);
    this.httpPort = httpPort;
    this.socketPort = socketPort;
  }

  /** @param data where the data directory is in the place. */
  static async open(data = 'data'): Promise<Place> {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-proof-'));
    return new Place(dir, data, await ownPort(), await ownPort());
  }

  serve(options: Omit<ServerOptions, 'dataDir'> & { dataDir?: string } = {}): Server {
    const server = new Server(this, { dataDir: this.dataDir, ...options });
    this.#servers.push(server);
    return server;
  }

  /** Nothing of it runs any more; what it left stays. */
  async end(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.destroy()));
  }

  async close(): Promise<void> {
    await this.end();
    fs.rmSync(this.dir, { recursive: true, force: true });
  }
}

/** All records from this number on, as the server at this URL gives them. */
export async function recordsAt(url: string, from = 1): Promise<Fields[]> {
  const found: Fields[] = [];
  for (let next = from; ; ) {
    const response = await fetch(`${url}/v1/log?from=${next}&limit=1000`);
    const text = await response.text();
    if (!response.ok) throw new Error(`/v1/log: ${response.status} ${text}`);
    const lines = text.split('\n').filter((line) => line !== '');
    if (lines.length === 0) return found;
    for (const line of lines) found.push(JSON.parse(line) as Fields);
    next = Number(found.at(-1)?.['seq']) + 1;
  }
}

/** A place of its own for each round of a proof. */
export async function inPlace(act: (place: Place) => Promise<void>): Promise<void> {
  const place = await Place.open();
  try {
    await act(place);
  } finally {
    await place.close();
  }
}

export class Server {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly url: string;
  /** The newest output. */
  out = '';
  err = '';
  over: Ended | undefined;
  readonly #traced: boolean;

  constructor(place: Place, options: ServerOptions) {
    const { dataDir, args = [], before = [], env = {}, executable = EXECUTABLE } = options;
    const { httpPort = place.httpPort, socketPort = place.socketPort } = options;
    const ports = ['--http-port', `${httpPort}`, '--socket-port', `${socketPort}`];
    const serve = [executable, 'serve', '--data-dir', dataDir, ...ports, ...args];
    const [command, ...words] = [...before, process.execPath, ...serve] as [string, ...string[]];
    this.url = `http://127.0.0.1:${httpPort}`;
    this.#traced = before.length > 0;
    this.child = spawn(command, words, { cwd: place.dir, env: cleanEnv(env), stdio: 'pipe' });
    this.child.stdout?.on('data', (data: Buffer) => {
      this.out = (this.out + data.toString('utf8')).slice(-OUTPUT_KEPT);
    });
    this.child.stderr?.on('data', (data: Buffer) => {
      this.err = (this.err + data.toString('utf8')).slice(-OUTPUT_KEPT);
    });
    living.add(this.child);
    this.ended = this.#watch();
  }

  /** To node itself, also when a tracer stands before it. */
  kill(signal: NodeJS.Signals): void {
    if (this.over !== undefined) return;
    const pid = this.pid;
    if (pid === undefined) return;
    try {
      process.kill(pid, signal);
    } catch {
      // It ended just now.
    }
  }

  get pid(): number | undefined {
    const { pid } = this.child;
    if (!this.#traced || pid === undefined) return pid;
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children === '' ? undefined : Number(children.trim().split(' ')[0]);
  }

  async destroy(): Promise<void> {
    this.kill('SIGCONT');
    this.kill('SIGKILL');
    if (this.#traced && this.over === undefined) {
      await Promise.race([this.ended, pause(2_000)]);
      this.child.kill('SIGKILL');
    }
    await this.ended;
  }

  /** SIGTERM, and its end. */
  async stop(): Promise<Ended> {
    this.kill('SIGTERM');
    return this.ended;
  }

  async ready(timeoutMs = 90_000): Promise<this> {
    await this.reaches(200, timeoutMs);
    return this;
  }

  /** Waits until /readyz answers with this status. @throws Error when it ends or takes too long. */
  async reaches(status: number, timeoutMs = 90_000): Promise<void> {
    const end = performance.now() + timeoutMs;
    for (let looks = 0; this.over === undefined && performance.now() < end; looks += 1) {
      if ((await this.status('/readyz')) === status) return;
      await untilNextLook(looks);
    }
    const ended = `the server ended (${this.over?.code ?? this.over?.signal})`;
    const how = this.over === undefined ? `no ${status} after ${timeoutMs} ms` : ended;
    throw new Error(`${how}: ${this.err || this.out.slice(-2_000)}`);
  }

  /** Submits again and again until it is answered. @returns whether it was before the end. */
  async goesOn(timeoutMs: number): Promise<boolean> {
    const end = performance.now() + timeoutMs;
    const body = JSON.stringify({ payload: 'p', queue: 'probe' });
    while (this.over === undefined && performance.now() < end) {
      const signal = AbortSignal.timeout(timeoutMs);
      const asked = fetch(`${this.url}/v1/tasks`, { method: 'POST', body, signal });
      if ((await asked.then(({ status }) => status).catch(() => 0)) === 201) return true;
      await pause(20);
    }
    return false;
  }

  /** Leaves no connection behind. @returns 0 when nobody answers. */
  status(route: string): Promise<number> {
    return new Promise((resolve) => {
      const options = { agent: false, timeout: 20_000 };
      const request = http.get(this.url + route, options, (response) => {
        response.on('error', () => resolve(0));
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.resume();
      });
      request.on('timeout', () => request.destroy());
      request.on('error', () => resolve(0));
    });
  }

  /** All records from this number on, as /v1/log gives them. */
  records(from = 1): Promise<Fields[]> {
    return recordsAt(this.url, from);
  }

  async #watch(): Promise<Ended> {
    const [code, signal] = (await once(this.child, 'close')) as [number, NodeJS.Signals];
    this.over = { code, signal };
    living.delete(this.child);
    return this.over;
  }
}
