// Owns the server of the tests of clients and workers: it keeps its addresses over a restart, of
// all three kinds, and one is shared by the tests of a suite.

import { join } from 'node:path';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { Place, type Server } from '../support/server.ts';

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
  #place: Place | undefined;
  #server: Server | undefined;

  /** @param flags of `serve`, beside the addresses. */
  constructor(...flags: string[]) {
    this.#flags = flags;
  }

  get http(): string {
    return `http://127.0.0.1:${this.#opened.httpPort}`;
  }

  get tcp(): string {
    return `tcp://127.0.0.1:${this.socketPort}`;
  }

  get unix(): string {
    return `unix:${this.socketPath}`;
  }

  get socketPort(): number {
    return this.#opened.socketPort;
  }

  get socketPath(): string {
    return join(this.#opened.dir, 'run', 'leasehold.sock');
  }

  get dataDir(): string {
    return this.#opened.dataDir;
  }

  async start(): Promise<void> {
    this.#place ??= await Place.open();
    const args = ['--socket-path', this.socketPath, ...this.#flags];
    this.#server = await this.#place.serve({ args }).ready();
  }

  /** SIGKILL, and a new process on the same ports and the same log. */
  async crashAndRestart(): Promise<void> {
    await this.#server?.destroy();
    await this.start();
  }

  pause(): void {
    this.#server?.kill('SIGSTOP');
  }

  resume(): void {
    this.#server?.kill('SIGCONT');
  }

  /** All records, in order. */
  async log(): Promise<LogLine[]> {
    return ((await this.#server?.records()) ?? []) as LogLine[];
  }

  async close(): Promise<void> {
    await this.#place?.close();
  }

  get #opened(): Place {
    if (this.#place === undefined) throw new Error('the server is not started yet');
    return this.#place;
  }
}

/** One server for all tests of a suite; closed when they are over. */
export function sharedServer(...flags: string[]): RealServer {
  const server = new RealServer(...flags);
  before(() => server.start());
  after(() => server.close());
  return server;
}
