// Owns the real executable for the tests of clients and workers: a process of its own, on ports
// that it keeps over a restart, with a data directory that goes when the test is over.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXECUTABLE, ServerProcess } from '../../src/play/demo/processes.ts';
import { ownPort } from '../support/own-port.ts';

export const MAIN = EXECUTABLE;

/** A line of the log as /v1/log gives it. */
export interface LogLine {
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  readonly task_id?: string;
  readonly lease_id?: string;
  readonly [field: string]: unknown;
}

export class RealServer {
  readonly #flags: readonly string[];
  readonly #dir = mkdtempSync(join(tmpdir(), 'leasehold-test-'));
  readonly dataDir = join(this.#dir, 'data');
  readonly socketPath = join(this.#dir, 'run', 'leasehold.sock');
  #process: ServerProcess | undefined;
  #httpPort = 0;
  #socketPort = 0;

  /** @param flags of `serve`, beside the addresses. */
  constructor(...flags: string[]) {
    this.#flags = flags;
  }

  get http(): string {
    return `http://127.0.0.1:${this.#httpPort}`;
  }

  get tcp(): string {
    return `tcp://127.0.0.1:${this.#socketPort}`;
  }

  get unix(): string {
    return `unix:${this.socketPath}`;
  }

  get socketPort(): number {
    return this.#socketPort;
  }

  async start(): Promise<void> {
    this.#httpPort ||= await ownPort();
    this.#socketPort ||= await ownPort();
    const where = ['--socket-port', `${this.#socketPort}`, '--socket-path', this.socketPath];
    const args = [...where, ...this.#flags];
    this.#process = new ServerProcess({ dataDir: this.dataDir, port: this.#httpPort, args });
    await this.#process.ready();
  }

  /** SIGKILL, and a new process on the same ports and the same log. */
  async crashAndRestart(): Promise<void> {
    await this.#end('SIGKILL');
    await this.start();
  }

  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  /** All records, in order. */
  async log(): Promise<LogLine[]> {
    const lines: LogLine[] = [];
    for (;;) {
      const from = (lines.at(-1)?.seq ?? 0) + 1;
      const response = await fetch(`${this.http}/v1/log?from=${from}&limit=1000`);
      const text = await response.text();
      if (!response.ok) throw new Error(`/v1/log: ${response.status} ${text}`);
      const page = text.split('\n').filter((line) => line !== '');
      if (page.length === 0) return lines;
      lines.push(...page.map((line) => JSON.parse(line) as LogLine));
    }
  }

  /** @returns the exit status. */
  async close(): Promise<void> {
    await this.#end('SIGTERM');
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    if (server === undefined) return;
    server.kill(signal);
    const stuck = setTimeout(() => server.kill('SIGKILL'), 8_000);
    await server.ended;
    clearTimeout(stuck);
  }
}

/** One server for all tests of a suite; closed when they are over. */
export function sharedServer(...flags: string[]): RealServer {
  const server = new RealServer(...flags);
  before(() => server.start());
  after(() => server.close());
  return server;
}
