// What the end-to-end tests share: a server of their own on a data directory of their own, calls
// over HTTP, and the command line as a process.

import { EXECUTABLE, Process } from '../../src/play/demo/processes.ts';
import type { Ran } from '../support/command.ts';
import { cleanEnv, type Fields, Place, recordsAt, type Server } from '../support/server.ts';

/** One data directory and the servers that are started on it. */
export class Stage {
  readonly #place: Place;
  readonly #processes: Process[] = [];

  private constructor(place: Place) {
    this.#place = place;
  }

  static async open(): Promise<Stage> {
    return new Stage(await Place.open());
  }

  get dir(): string {
    return this.#place.dir;
  }

  get dataDir(): string {
    return this.#place.dataDir;
  }

  get port(): number {
    return this.#place.httpPort;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Another process that must not outlive the test; `after` is called when it has ended. */
  track(process: Process, after: () => void): Process {
    this.#processes.push(process);
    void process.ended.then(after);
    return process;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map((each) => each.destroy()));
    await this.#place.end();
  }

  async close(): Promise<void> {
    await this.stopAll();
    await this.#place.close();
  }

  /** Starts a server on this stage's directory and port, or on others. */
  serve(
    args: readonly string[] = [],
    more: { port?: number; dataDir?: string; env?: NodeJS.ProcessEnv } = {},
  ): Server {
    const { port: httpPort = this.port, ...others } = more;
    return this.#place.serve({ args, httpPort, socketPort: 0, ...others });
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
  records(from = 1): Promise<Fields[]> {
    return recordsAt(this.url, from);
  }
}

export interface Called {
  readonly status: number;
  readonly text: string;
  readonly body: Fields;
}

/** Lines of JSON that a server logged. */
export const logLines = (server: { readonly out: string }): Fields[] =>
  server.out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Fields);
