// Owns the fingerprint of a state: equal for equal logs whatever built the state, and free of
// anything that depends on the clock, on rows or on soft state (R34).

import type { State } from './state.ts';

/** @returns 16 hexadecimal digits over every task, lease, history, counter and number. */
export function stateDigest(state: State): string {
  // `jumpedAt` is left out: where records were removed, a jump seems longer than it was.
  const hash = new Mixer();
  hash.add(
    JSON.stringify([
      state.lastSeq,
      state.lastAt,
      state.epoch,
      state.completedThrough,
      state.failedThrough,
      state.totals,
    ]),
  );
  for (const row of state.tasks.rowsAfter(0)) hash.add(taskText(state, row));
  // By name: the map has the queues in the order of their first tasks. Where removed records are
  // not replayed, that may be another order.
  for (const queue of [...state.contracts.queues.values()].toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    hash.add(JSON.stringify([queue.name, queue.tasks, queue.counts, queue.listed, queue.delayed]));
  }
  return hash.text();
}

function taskText(state: State, row: number): string {
  const { tasks } = state;
  const id = tasks.id(row);
  const name = tasks.state(row);
  const contract = state.contracts.at(tasks.contract(row));
  const lease = name === 'LEASED' ? state.leases.get(tasks.leaseId(row)) : undefined;
  return JSON.stringify([
    id,
    name,
    tasks.attempt(row),
    contract.queue.name,
    contract.executionWindowMs,
    contract.retryPolicy,
    tasks.last(row),
    name === 'WAITING'
      ? [tasks.eligibleAt(row), tasks.place(row)]
      : [tasks.leaseId(row), name === 'LEASED' ? 0 : tasks.endRecord(row)],
    lease && [lease.workerId, lease.grantedAt, lease.expiry, lease.extensions, lease.lastExtension],
    state.histories.get(row),
    state.redrivenAs.get(id),
    state.requestIds.digestAt(row),
  ]);
}

/** Two 32-bit lanes over the characters; a fingerprint against mistakes, not against an enemy. */
class Mixer {
  private a = 0xdeadbeef;
  private b = 0x41c6ce57;

  add(text: string): void {
    for (let i = 0; i < text.length; i += 1) {
      const character = text.charCodeAt(i);
      this.a = Math.imul(this.a ^ character, 2654435761);
      this.b = Math.imul(this.b ^ character, 1597334677);
    }
    this.a = Math.imul(this.a ^ (this.a >>> 16), 2246822507) ^ (this.b >>> 13);
    this.b = Math.imul(this.b ^ (this.b >>> 16), 3266489909) ^ (this.a >>> 13);
  }

  text(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');
    return hex(this.a) + hex(this.b);
  }
}
