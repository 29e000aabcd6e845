// What the end-to-end tests share: a server of their own on a data directory of their own, calls
// over HTTP, and the command line as a process.

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Ended, EXECUTABLE, Process, ServerProcess } from '../../src/play/demo/processes.ts';
import { ownPort } from '../support/own-port.ts';

export type Fields = Record<string, unknown>;

/** Nothing of the caller's own settings may reach a test. */
export function cleanEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!name.startsWith('LEASEHOLD_') && name !== 'NODE_OPTIONS') env[name] = value;
  }
  return { ...env, ...more };
}

export interface Ran extends Ended {
  readonly out: string;
  readonly err: string;
}

/** One data directory and the servers that are started on it. */
export class Stage {
  readonly dir: string;
  readonly dataDir: string;
  readonly #processes: Process[] = [];
  port = 0;

  private constructor(dir: string) {
    this.dir = dir;
    this.dataDir = path.join(dir, 'data');
  }

  static async open(): Promise<Stage> {
    const stage = new Stage(await mkdtemp(path.join(os.tmpdir(), 'leasehold-e2e-')));
    stage.port = await ownPort();
    return stage;
  }

  /** Another process that must not outlive the test; `after` is called when it has ended. */
  track(process: Process, after: () => void): Process {
    this.#processes.push(process);
    void process.ended.then(after);
    return process;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map((each) => each.destroy()));
  }

  async close(): Promise<void> {
    await this.stopAll();
    await rm(this.dir, { recursive: true, force: true });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts a server on this stage's directory and port, or on others. */
  serve(
    args: readonly string[] = [],
    more: { port?: number; dataDir?: string; env?: NodeJS.ProcessEnv } = {},
  ): ServerProcess {
    const { port = this.port, dataDir = this.dataDir } = more;
    const options = { dataDir, port, args, env: cleanEnv(more.env), cwd: this.dir };
    const server = new ServerProcess(options);
    this.#processes.push(server);
    return server;
  }

  /** Runs the command line to its end, against this stage's server. */
  async run(args: readonly string[], stdin = '', env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    const vars = cleanEnv({ LEASEHOLD_URL: this.url, ...env });
    const command = new Process([EXECUTABLE, ...args], vars, this.dir);
    this.#processes.push(command);
    command.child.stdin?.end(stdin);
    const ended = await command.ended;
    return { ...ended, out: command.out, err: command.err };
  }

  /** @throws TypeError when the connection breaks */
  async call(method: string, route: string, body?: unknown): Promise<Called> {
    const response = await fetch(this.url + route, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, text, body: isJson ? JSON.parse(text) : {} };
  }

  submit(fields: Fields = {}): Promise<Called> {
    return this.call('POST', '/v1/tasks', { payload: 'p', ...fields });
  }

  /** The whole log. */
  async records(from = 1): Promise<Fields[]> {
    const found: Fields[] = [];
    for (let next = from; ; ) {
      const { text } = await this.call('GET', `/v1/log?from=${next}&limit=1000`);
      const lines = text.split('\n').filter((line) => line !== '');
      if (lines.length === 0) return found;
      for (const line of lines) found.push(JSON.parse(line) as Fields);
      next = Number(found.at(-1)?.['seq']) + 1;
    }
  }
}

export interface Called {
  readonly status: number;
  readonly text: string;
  readonly body: Fields;
}

/** Lines of JSON that a server logged. */
export const logLines = (server: Process): Fields[] =>
  server.out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Fields);
