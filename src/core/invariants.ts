// Owns what must always hold of a state, as one function that tests and `verify` run. It looks at
// everything, so its cost is that of the whole state; the loop relies on check() instead.

import { TASK_STATES } from '../model/request.ts';
import type { ActiveLease } from './leases.ts';
import { before } from './queue.ts';
import type { State } from './state.ts';

/** @returns the broken invariants in words; empty: all hold. */
export function brokenInvariants(state: State): string[] {
  const broken: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) broken.push(what);
  };
  const counts = new Map<string, number[]>();
  const waiting = new Set<number>();
  let leased = 0;
  let previousId = 0;
  for (const row of state.tasks.rowsAfter(0)) {
    const id = state.tasks.id(row);
    expect(id > previousId, `task ${id} does not follow ${previousId}`);
    previousId = id;
    expect(id <= state.lastSeq, `task ${id} is newer than the newest record`);
    const queue = state.queueOf(row);
    const counted = counts.get(queue.name) ?? TASK_STATES.map(() => 0);
    const index = state.tasks.stateIndex(row);
    counted[index] = (counted[index] as number) + 1;
    counts.set(queue.name, counted);
    const name = state.tasks.state(row);
    if (name === 'WAITING') waiting.add(row);
    if (name === 'LEASED') {
      leased += 1;
      expectLease(state, row, expect);
    }
  }
  expect(leased === state.leases.size, `${leased} LEASED tasks, ${state.leases.size} leases`);
  expectExpiryOrder(state, expect);
  expectQueues(state, counts, waiting, expect);
  return broken;
}

type Expect = (holds: boolean, what: string) => void;

/** A LEASED task has exactly one valid lease, which refers to it. */
function expectLease(state: State, row: number, expect: Expect): void {
  const id = state.tasks.id(row);
  const lease = state.leases.get(state.tasks.leaseId(row));
  expect(lease !== undefined, `task ${id} is LEASED without a lease`);
  if (lease === undefined) return;
  expect(lease.taskId === id && lease.row === row, `lease ${lease.leaseId} is not of task ${id}`);
  expect(lease.attempt === state.tasks.attempt(row), `lease ${lease.leaseId}: another attempt`);
  expect(lease.expiry <= lease.deadline, `lease ${lease.leaseId} goes beyond its window`);
  expect(lease.expiry > lease.grantedAt, `lease ${lease.leaseId} ends before it begins`);
  expect(state.endedLease(row, lease.leaseId) === undefined, `lease ${lease.leaseId} ended before`);
}

function expectExpiryOrder(state: State, expect: Expect): void {
  const first = state.leases.firstToExpire();
  const held = new Map<string, number>();
  let soonest: ActiveLease | undefined;
  for (const lease of state.leases.all()) {
    held.set(lease.workerId, (held.get(lease.workerId) ?? 0) + 1);
    const isSooner =
      soonest === undefined ||
      lease.expiry < soonest.expiry ||
      (lease.expiry === soonest.expiry && lease.leaseId < soonest.leaseId);
    if (isSooner) soonest = lease;
  }
  expect(
    first === soonest,
    `lease ${first?.leaseId} is first, ${soonest?.leaseId} runs out sooner`,
  );
  for (const [worker, count] of held) {
    expect(state.leases.heldBy(worker) === count, `worker ${worker} holds ${count} leases`);
  }
}

function expectQueues(
  state: State,
  counts: Map<string, number[]>,
  waiting: Set<number>,
  expect: Expect,
): void {
  expect(counts.size === state.contracts.queues.size, `${counts.size} queues have tasks`);
  let placed = 0;
  for (const queue of state.contracts.queues.values()) {
    const counted = counts.get(queue.name) ?? [];
    expect(String(counted) === String(queue.counts), `queue ${queue.name} counts ${queue.counts}`);
    let last = -1;
    for (const row of queue.rows(state.tasks)) {
      placed += 1;
      const id = state.tasks.id(row);
      expect(waiting.has(row), `task ${id} stands in queue ${queue.name} and is not WAITING`);
      expect(state.queueOf(row) === queue, `task ${id} stands in the wrong queue`);
      if (state.tasks.isDelayed(row)) continue;
      expect(last === -1 || before(state.tasks, last, row), `task ${id} stands out of order`);
      last = row;
    }
  }
  expect(placed === waiting.size, `${waiting.size} tasks are WAITING, ${placed} stand in queues`);
}
