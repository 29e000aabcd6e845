// Owns the counts that stats, queues, workers and metrics show. Everything is read off the state
// and the soft registry at one moment; nothing is counted here.

import { formatLeaseId } from '../model/ids.ts';
import { TASK_STATES } from '../model/request.ts';
import type { State } from './state.ts';
import { NONE } from './task-table.ts';
import type { WorkerRegistry } from './worker-registry.ts';

type Body = Record<string, unknown>;
const WORKERS_SHOWN = 1_000;

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

/** One row a queue; times in ms, `oldest_waiting_ms` counted from eligibility. */
export function queuesBody(
  state: State,
  now: number,
  askedAt: (queue: string) => number | undefined,
): Body {
  const queues = [...state.contracts.queues.values()].map((queue) => {
    const first = queue.firstEligible(state.tasks, now);
    return {
      queue: queue.name,
      ...Object.fromEntries(TASK_STATES.map((name, i) => [name.toLowerCase(), queue.counts[i]])),
      eligible: queue.eligible(state.tasks, now),
      oldest_waiting_ms: first === NONE ? 0 : now - state.tasks.eligibleAt(first),
      next_eligible_at: queue.nextEligibleAt(state.tasks),
      last_asked_at: askedAt(queue.name),
    };
  });
  return { queues: queues.toSorted((a, b) => (a.queue < b.queue ? -1 : 1)) };
}

export function workersBody(state: State, workers: WorkerRegistry): Body {
  const leases = new Map<string, string[]>();
  for (const lease of state.leases.all()) {
    const held = leases.get(lease.workerId) ?? [];
    if (held.length < 100) held.push(formatLeaseId(lease.leaseId));
    leases.set(lease.workerId, held);
  }
  return {
    advisory: 'soft state: empty after a restart, and never what decides about a task',
    workers: workers.list(WORKERS_SHOWN).map((worker) => ({
      worker_id: worker.workerId,
      last_seen_at: worker.lastSeenAt,
      capacity: worker.capacity,
      active_leases: state.leases.heldBy(worker.workerId),
      leases: leases.get(worker.workerId) ?? [],
    })),
  };
}
