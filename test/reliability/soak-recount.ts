// Owns the counters of a long run, counted again from the records as they are written: a reader
// that follows the log, because a part of it is forgotten and removed long before the run is over.
// It keeps what is remembered and nothing else, and shares no code with the coordinator.

import type { Fields } from '../support/server.ts';

interface Known {
  state: string;
  /** The record that ended the task, 0 while it is open. */
  end: number;
  lastEnd: 'expired' | 'failed' | 'released' | undefined;
  origin: string | undefined;
}

const OPEN = new Set(['WAITING', 'LEASED']);

export class Recount {
  readonly tasks = new Map<string, Known>();
  readonly counts = new Map<string, number>();
  readonly #ended = new Set<string>();
  lastSeq = 0;
  duplicates = 0;
  retries = 0;
  /** Sentences on what cannot be. */
  readonly wrong: string[] = [];

  /** Takes the next record. */
  take(record: Fields): void {
    const seq = record['seq'] as number;
    const type = record['type'] as string;
    if (seq !== this.lastSeq + 1) this.wrong.push(`record ${seq} follows ${this.lastSeq}`);
    this.lastSeq = seq;
    this.counts.set(type, this.count(type) + 1);
    if (type === 'HistoryForgotten') return this.#forget(record);
    if (type === 'TaskCreated') {
      const origin = record['origin_task_id'] as string | undefined;
      const id = record['task_id'] as string;
      this.tasks.set(id, { state: 'WAITING', end: 0, lastEnd: undefined, origin });
      return;
    }
    if (record['task_id'] !== undefined) this.#happened(type, seq, record);
  }

  count = (type: string): number => this.counts.get(type) ?? 0;

  /** @returns the metrics as they must be now, by name; tasks by `leasehold_tasks STATE`. */
  metrics(): Map<string, number> {
    const states = new Map<string, number>();
    for (const { state } of this.tasks.values()) states.set(state, (states.get(state) ?? 0) + 1);
    const named = ['WAITING', 'LEASED', 'COMPLETED', 'FAILED', 'DEAD'];
    return new Map([
      ['leasehold_lease_expirations_total', this.count('LeaseExpired')],
      ['leasehold_late_reports_total', this.count('TaskCancelled')],
      ['leasehold_duplicate_executions_total', this.duplicates],
      ['leasehold_retries_total', this.retries],
      ['leasehold_coordinator_restarts_total', this.count('CoordinatorStarted') - 1],
      ['leasehold_log_last_sequence', this.lastSeq],
      ['leasehold_leases_active', states.get('LEASED') ?? 0],
      ...named.map((state) => [`leasehold_tasks ${state}`, states.get(state) ?? 0] as const),
    ]);
  }

  #happened(type: string, seq: number, record: Fields): void {
    const id = record['task_id'] as string;
    const task = this.tasks.get(id);
    if (task === undefined) {
      this.wrong.push(`record ${seq} (${type}) is of ${id}, which is not remembered`);
      return;
    }
    if (type === 'LeaseGranted') {
      if (task.lastEnd === 'expired') this.duplicates += 1;
      if (task.lastEnd === 'failed') this.retries += 1;
      task.state = 'LEASED';
    }
    if (type === 'LeaseExpired') {
      task.state = 'WAITING';
      task.lastEnd = 'expired';
    }
    if (type === 'TaskFailed') {
      task.state = record['retry_at'] === undefined ? 'FAILED' : 'WAITING';
      task.lastEnd = record['kind'] === 'released' ? 'released' : 'failed';
    }
    if (type === 'TaskCompleted') task.state = 'COMPLETED';
    if (type === 'TaskDead') task.state = 'DEAD';
    if (OPEN.has(task.state) || task.end > 0) return;
    task.end = seq;
    this.#ended.add(id);
  }

  /** What ended long enough ago goes, unless the task that it was redriven from stays. */
  #forget(record: Fields): void {
    const completed = record['completed_through'] as number;
    const failed = record['failed_through'] as number;
    for (let before = -1; before !== this.#ended.size; ) {
      before = this.#ended.size;
      for (const id of this.#ended) {
        const { state, end, origin } = this.tasks.get(id) as Known;
        const isDue = end <= (state === 'COMPLETED' ? completed : failed);
        if (!isDue) {
          // They stand in the order in which they ended: nothing behind it is due either.
          if (end > Math.max(completed, failed)) break;
          continue;
        }
        if (origin !== undefined && this.tasks.has(origin)) continue;
        this.tasks.delete(id);
        this.#ended.delete(id);
      }
    }
  }
}
