// Owns the processes of the demonstration. A server or worker is started here, watched for its
// end, killed by the signal that the caller names, and never left behind.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const OUTPUT_KEPT = 4_000_000;
/** The same suffix as this file, so that it runs built and as it is. */
const SUFFIX = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
/** The command line's executable. */
export const EXECUTABLE = fileURLToPath(new URL(`../../cli/main${SUFFIX}`, import.meta.url));

/** However this process exits, also because nobody reads what it prints: they do not outlive it. */
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Removes a folder when this process exits. @returns takes that back. */
export function removeAtExit(dir: string): () => void {
  const remove = (): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  return () => void process.off('exit', remove);
}

/** A node process of ours; its standard input stays open as long as this process lives. */
export class Process {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** The newest output. */
  out = '';
  err = '';
  over: Ended | undefined;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = process.env, cwd?: string) {
    const options = { env, stdio: 'pipe' as const, ...(cwd === undefined ? {} : { cwd }) };
    this.child = spawn(process.execPath, args, options);
    living.add(this.child);
    this.child.stdout?.on('data', (data: Buffer) => {
      this.out = (this.out + data.toString('utf8')).slice(-OUTPUT_KEPT);
    });
    this.child.stderr?.on('data', (data: Buffer) => {
      this.err = (this.err + data.toString('utf8')).slice(-OUTPUT_KEPT);
    });
    this.child.stdin?.on('error', () => {});
    this.ended = this.#watch();
  }

  /** Sends the signal if the process lives; its end is awaited with `ended`. */
  kill(signal: NodeJS.Signals): void {
    if (this.over === undefined) this.child.kill(signal);
  }

  /** Ends it for certain. */
  async destroy(): Promise<void> {
    this.kill('SIGCONT');
    this.kill('SIGKILL');
    await this.ended;
  }

  async #watch(): Promise<Ended> {
    const [code, signal] = (await once(this.child, 'close')) as [number, NodeJS.Signals];
    this.over = { code, signal };
    living.delete(this.child);
    return this.over;
  }
}

export interface ServerOptions {
  readonly dataDir: string;
  readonly port: number;
  /** Further arguments of `serve`. */
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

export class ServerProcess extends Process {
  readonly port: number;
  readonly url: string;

  constructor({ dataDir, port, args = [], env, cwd }: ServerOptions) {
    const ports = ['--http-port', String(port), '--socket-port', '0'];
    super([EXECUTABLE, 'serve', '--data-dir', dataDir, ...ports, ...args], env, cwd);
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** @throws Error when it ended, or is not ready in time; with what it said. */
  async ready(timeoutMs = 60_000): Promise<this> {
    const end = performance.now() + timeoutMs;
    while (this.over === undefined && performance.now() < end) {
      if ((await statusOf(`${this.url}/readyz`)) === 200) return this;
      await pause(10);
    }
    const how = this.over === undefined ? `not ready after ${timeoutMs} ms` : 'the server ended';
    throw new Error(`${how}: ${this.err || this.out}`);
  }
}

/** Below what systems give to whoever asks for any port: 32768 and more on Linux. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;
let portsPassed = randomInt(PORTS);

/**
 * For a server that comes and goes at one address. The system gives such a port to nobody: not to
 * a client's connection before the server listens, and not while the server is down.
 * @returns a port that was free a moment ago, and that this process has not been given for long.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS; tries += 1) {
    portsPassed += 1;
    const port = FIRST_PORT + (portsPassed % PORTS);
    if (await tryPort(port).catch(() => undefined)) return port;
  }
  throw new Error(`no port is free from ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1}`);
}

/** @returns the port, on which a server could listen; 0: any. @throws Error of the system. */
export async function tryPort(wanted: number): Promise<number> {
  const server = net.createServer();
  server.listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** @returns 0 when nobody answers. */
function statusOf(url: string): Promise<number> {
  return new Promise((resolve) => {
    const request = http.get(url, { agent: false, timeout: 1_000 }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(0));
  });
}
