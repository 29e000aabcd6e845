// Owns a load of clients that submit, lease, heartbeat and complete, and remembers exactly what
// was acknowledged to them, to be compared with the log after the server was killed.

import type { Fields, Stage } from './support.ts';

/** What the log must hold: under this number a record of this type about this task or lease. */
export interface Acknowledged {
  readonly seq: number;
  readonly type: string;
  readonly taskId: unknown;
  readonly leaseId?: unknown;
  readonly leaseExpiry?: unknown;
}

export class Load {
  readonly acknowledged: Acknowledged[] = [];
  readonly #stage: Stage;
  readonly #clients: Promise<void>[];
  #over = false;

  constructor(stage: Stage, clients: number) {
    this.#stage = stage;
    this.#clients = Array.from({ length: clients }, (_, i) => this.#client(`w${i}`));
  }

  /** Ends the load; a client whose connection broke has ended already. */
  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#clients);
  }

  async #client(workerId: string): Promise<void> {
    try {
      while (!this.#over) await this.#round(workerId);
    } catch (error) {
      // fetch says so when the server is gone; anything else is a failure of the test.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  async #round(workerId: string): Promise<void> {
    const submitted = await this.#ask('/v1/tasks', { payload: workerId });
    const { task_id: created } = submitted;
    this.#keep({ seq: seqOf(created), type: 'TaskCreated', taskId: created });

    const { leases } = await this.#ask('/v1/leases', { worker_id: workerId });
    const [lease] = leases as Fields[];
    if (lease === undefined) return;
    const { task_id: taskId, lease_id: leaseId, lease_expiry: leaseExpiry } = lease;
    const granted = { type: 'LeaseGranted', taskId, leaseId, leaseExpiry };
    this.#keep({ seq: seqOf(leaseId), ...granted });

    const body = { task_id: taskId };
    const { record: extended } = await this.#ask(`/v1/leases/${leaseId}/heartbeat`, body);
    if (extended !== null)
      this.#keep({ seq: Number(extended), type: 'LeaseExtended', taskId, leaseId });
    const { record, outcome } = await this.#ask(`/v1/leases/${leaseId}/complete`, body);
    const type = outcome === 'CANCELLED' ? 'TaskCancelled' : 'TaskCompleted';
    this.#keep({ seq: Number(record), type, taskId, leaseId });
  }

  async #ask(route: string, body: Fields): Promise<Fields> {
    return (await this.#stage.call('POST', route, body)).body;
  }

  #keep(acknowledged: Acknowledged): void {
    if (Number.isSafeInteger(acknowledged.seq)) this.acknowledged.push(acknowledged);
  }
}

const seqOf = (id: unknown): number => Number(String(id).slice(1));

/** @returns a sentence for everything acknowledged that the log does not hold. */
export function missing(acknowledged: readonly Acknowledged[], log: readonly Fields[]): string[] {
  const bySeq = new Map(log.map((record) => [record['seq'], record]));
  return acknowledged
    .filter((each) => !isThere(each, bySeq.get(each.seq)))
    .map((each) => JSON.stringify({ acknowledged: each, found: bySeq.get(each.seq) }));
}

function isThere(wanted: Acknowledged, record: Fields | undefined): boolean {
  if (record === undefined || record['type'] !== wanted.type) return false;
  if (record['task_id'] !== wanted.taskId) return false;
  if (wanted.leaseId !== undefined && record['lease_id'] !== wanted.leaseId) return false;
  return wanted.leaseExpiry === undefined || record['lease_expiry'] === wanted.leaseExpiry;
}

/** @returns a sentence for every task or lease with more than one end that counts. */
export function doubled(log: readonly Fields[]): string[] {
  const completed = new Set<unknown>();
  const reported = new Set<unknown>();
  const found: string[] = [];
  for (const { seq, type, task_id, lease_id } of log) {
    if (type === 'TaskCompleted') {
      if (completed.has(task_id)) found.push(`record ${seq}: ${task_id} completed again`);
      completed.add(task_id);
    }
    if (type === 'TaskCompleted' || type === 'TaskFailed' || type === 'TaskCancelled') {
      if (reported.has(lease_id)) found.push(`record ${seq}: a second outcome of ${lease_id}`);
      reported.add(lease_id);
    }
  }
  return found;
}
