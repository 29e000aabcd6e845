// Owns the counts that stats, metrics and the offline commands show. Everything is read off the
// state and the soft registry at one moment; nothing is counted here.

import { TASK_STATES } from '../model/request.ts';
import { queueRow } from './queue-list.ts';
import type { State } from './state.ts';
import type { WorkerRegistry } from './worker-registry.ts';

type Body = Record<string, unknown>;

/** Tasks by state over all queues. */
export function countByState(state: State): Record<string, number> {
  const sums = TASK_STATES.map(() => 0);
  for (const queue of state.contracts.queues.values()) {
    queue.counts.forEach((count, index) => {
      sums[index] = (sums[index] as number) + count;
    });
  }
  return Object.fromEntries(TASK_STATES.map((name, index) => [name, sums[index] as number]));
}

export function statsBody(state: State, workers: WorkerRegistry, now: number): Body {
  return {
    now,
    tasks: countByState(state),
    queues: state.contracts.queues.size,
    leases_active: state.leases.size,
    workers: workers.size,
    lease_expirations: state.totals.leaseExpirations,
    duplicate_executions: state.totals.duplicateExecutions,
    late_reports: state.totals.lateReports,
    retries: state.totals.retries,
    coordinator_restarts: Math.max(0, state.totals.starts - 1),
    log_last_sequence: state.lastSeq,
    epoch: state.epoch,
  };
}

/** All queues by name, as the records have them. */
export const queuesByName = (state: State, now: number): Body[] =>
  [...state.contracts.queues.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((queue) => queueRow(queue, state, now));
