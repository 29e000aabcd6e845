// Owns what the rehearsal asks of the coordinator of a run. Its own requests do not pass the
// proxies.

import { setTimeout as pause } from 'node:timers/promises';
import type { AttemptEnd } from '../explain/explanation.ts';
import { PAGE_MAX } from '../model/limits.ts';
import type { RecordType } from '../model/records.ts';
import { patienceMs } from './allowances.ts';

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

export abstract class CoordinatorRequests {
  readonly httpPort: number;
  readonly socketPort: number;
  protected readonly leaseMs: number;

  protected constructor(leaseMs: number, [httpPort, socketPort]: readonly [number, number]) {
    this.leaseMs = leaseMs;
    this.httpPort = httpPort;
    this.socketPort = socketPort;
  }

  /** Starts again, on the same log, what was killed. */
  abstract start(): Promise<void>;
  abstract kill(): Promise<void>;
  abstract close(): Promise<void>;

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
