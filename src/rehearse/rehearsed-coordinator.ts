// Owns the coordinator of one run: a process of its own on an empty log, with short leases. Also
// owns the requests that the rehearsal itself sends to this coordinator; they do not pass the
// proxies.

import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AttemptEnd } from '../explain/explanation.ts';
import { PAGE_MAX } from '../model/limits.ts';
import type { RecordType } from '../model/records.ts';
import { freePort, ServerProcess } from '../play/demo/processes.ts';
import { patienceMs } from './allowances.ts';
import type { CleanUp } from './clean-up.ts';

/** A record as /v1/log shows it. */
export interface Recorded {
  readonly seq: number;
  readonly type: RecordType;
  readonly task_id?: string;
  readonly lease_id?: string;
  readonly [field: string]: unknown;
}

/** An attempt as explain tells it. */
export interface ToldAttempt {
  readonly lease_id: string;
  /** Undefined: it runs. */
  readonly ended?: AttemptEnd;
  readonly end_record?: number;
}

/** A task's history as explain tells it. */
export interface Story {
  readonly task_id: string;
  readonly attempts: readonly ToldAttempt[];
  readonly statements: readonly { readonly topic: string; readonly text: string }[];
}

const LOOK_MS = 40;
const PORT_TRIES = 3;
const KNOBS = { 'backoff-ms': 0, 'max-retries': 8, 'poison-threshold': 3, 'tick-ms': 20 };

export class RehearsedCoordinator {
  readonly httpPort: number;
  readonly socketPort: number;
  private readonly dir: string;
  private readonly leaseMs: number;
  private readonly cleanUp: CleanUp;
  private server: ServerProcess | undefined;

  private constructor(
    dir: string,
    { leaseMs, cleanUp }: { readonly leaseMs: number; readonly cleanUp: CleanUp },
    [httpPort, socketPort]: readonly [number, number],
  ) {
    this.dir = dir;
    this.leaseMs = leaseMs;
    this.cleanUp = cleanUp;
    this.httpPort = httpPort;
    this.socketPort = socketPort;
  }

  /** @param dir a folder that the caller removes. */
  static async open(
    dir: string,
    options: { readonly leaseMs: number; readonly cleanUp: CleanUp },
  ): Promise<RehearsedCoordinator> {
    for (let tries = 1; ; tries += 1) {
      const ports = [await freePort(), await freePort()] as const;
      const coordinator = new RehearsedCoordinator(dir, options, ports);
      try {
        await coordinator.start();
        return coordinator;
      } catch (error) {
        // A port that was free a moment ago may have been taken by another program since.
        await coordinator.close();
        if (tries === PORT_TRIES) throw error;
      }
    }
  }

  async start(): Promise<void> {
    const knobs = { 'socket-port': this.socketPort, 'lease-duration-ms': this.leaseMs };
    const args = Object.entries({ ...knobs, ...KNOBS }).flatMap(([k, v]) => [`--${k}`, String(v)]);
    const dataDir = path.join(this.dir, 'data');
    const env = { ...bareEnv(), ...this.cleanUp.environment };
    const server = new ServerProcess({ dataDir, port: this.httpPort, args, env });
    this.server = server;
    const { pid } = server.child;
    if (pid !== undefined) this.cleanUp.add('process', pid);
    void server.ended.then(() => pid !== undefined && this.cleanUp.drop('process', pid));
    await server.ready();
  }

  async kill(): Promise<void> {
    this.server?.kill('SIGKILL');
    await this.server?.ended;
  }

  submit(body: object): Promise<{ readonly task_id: string }> {
    return this.ask('/v1/tasks', body) as Promise<{ readonly task_id: string }>;
  }

  killTask(taskId: string): Promise<unknown> {
    return this.ask(`/v1/tasks/${taskId}/kill`, { reason: 'rehearsal' });
  }

  /** All records, in order. */
  async records(): Promise<readonly Recorded[]> {
    const records: Recorded[] = [];
    for (;;) {
      const from = (records.at(-1)?.seq ?? 0) + 1;
      const response = await fetch(`${this.url}/v1/log?limit=${PAGE_MAX}&from=${from}`);
      const lines = (await response.text()).split('\n').filter(Boolean);
      if (lines.length === 0) return records;
      records.push(...lines.map((line) => JSON.parse(line) as Recorded));
    }
  }

  /** Resolves with the first record that is wanted. @throws Error when there is none in time. */
  async recorded(wanted: (record: Recorded) => boolean, what: string): Promise<Recorded> {
    const end = performance.now() + patienceMs(this.leaseMs);
    while (performance.now() < end) {
      const found = (await this.records().catch(() => [])).find(wanted);
      if (found !== undefined) return found;
      await pause(LOOK_MS);
    }
    throw new Error(`the log has no ${what}`);
  }

  async stateOf(taskId: string): Promise<string> {
    const response = await fetch(`${this.url}/v1/tasks/${taskId}`);
    return ((await response.json()) as { state: string }).state;
  }

  /** A task's history as a page of text. */
  async explain(taskId: string): Promise<string> {
    const headers = { accept: 'text/plain' };
    return (await fetch(`${this.url}/v1/tasks/${taskId}/explain`, { headers })).text();
  }

  /** A task's history as data. */
  async story(taskId: string): Promise<Story> {
    return (await fetch(`${this.url}/v1/tasks/${taskId}/explain`)).json() as Promise<Story>;
  }

  async close(): Promise<void> {
    await this.server?.destroy();
  }

  private get url(): string {
    return `http://127.0.0.1:${this.httpPort}`;
  }

  private async ask(route: string, body: object): Promise<unknown> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(this.url + route, init);
    if (!response.ok) throw new Error(`${route}: ${await response.text()}`);
    return response.json();
  }
}

/** The environment without settings that belong to somebody else's coordinator. */
export function bareEnv(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('LEASEHOLD_'));
  return Object.fromEntries(entries);
}
