// Owns a page of the list of workers: those that gave a sign of life, and those that hold a lease
// by their name without having given one since the coordinator started. Workers and leases may be
// many, so they are looked at in slices.

import { formatLeaseId } from '../model/ids.ts';
import { PAGE_MAX } from '../model/limits.ts';
import type { RequestOf } from '../model/request.ts';
import type { Context } from './context.ts';
import { FirstRows, type Place, placeText, readPlace } from './first-rows.ts';
import { NO_PLACE, SLICE_ROWS, type Slices } from './queue-list.ts';
import type { State } from './state.ts';
import type { WorkerRegistry } from './worker-registry.ts';

type WorkersRequest = RequestOf<'workers'>;
interface Row extends Place {
  readonly lastSeenAt: number | undefined;
  readonly capacity: number | undefined;
}
interface Held {
  readonly leases: string[];
  nextExpiry: number;
}

/** Leases of one worker that are named. */
const LEASES_NAMED = 100;

export function* workerList(
  context: Context,
  request: WorkersRequest,
  registry: WorkerRegistry,
  since: number,
  now: number,
): Slices {
  const { state } = context;
  const { match, limit = PAGE_MAX } = request;
  const after = request.after === undefined ? undefined : readPlace(request.after);
  if (request.after !== undefined && after === undefined) return NO_PLACE;
  const first = new FirstRows<Row>(limit, after);
  let looked = 0;
  for (const row of allOf(state, registry, request)) {
    if (match === undefined || row.name.includes(match)) first.add(row);
    looked += 1;
    if (looked % SLICE_ROWS === 0) yield;
  }
  const { rows, leftOut } = first.page();
  const held = new Map(rows.map(({ name }): [string, Held] => [name, emptyHands()]));
  for (const lease of state.leases.all()) {
    const hands = held.get(lease.workerId);
    if (hands !== undefined) {
      if (hands.leases.length < LEASES_NAMED) hands.leases.push(formatLeaseId(lease.leaseId));
      hands.nextExpiry = Math.min(hands.nextExpiry, lease.expiry);
    }
    looked += 1;
    if (looked % SLICE_ROWS === 0) yield;
  }
  const last = rows.at(-1);
  return {
    kind: 'overview',
    body: {
      advisory: 'soft state: empty after a restart, and never what decides about a task',
      workers: rows.map((row) => shown(row, held.get(row.name) ?? emptyHands(), state)),
      next: last === undefined || leftOut === 0 ? null : placeText(last),
      more: leftOut,
      now,
      since,
    },
  };
}

const emptyHands = (): Held => ({ leases: [], nextExpiry: Number.POSITIVE_INFINITY });

function* allOf(
  state: State,
  registry: WorkerRegistry,
  { sort = 'seen' }: WorkersRequest,
): Generator<Row> {
  const valueOf = ({ lastSeenAt, name }: Omit<Row, 'value'>): number => {
    if (sort === 'name') return 0;
    // By the time itself, which is the same on the next page.
    return sort === 'seen' ? -(lastSeenAt ?? 0) : -state.leases.heldBy(name);
  };
  for (const { workerId: name, lastSeenAt, capacity } of registry.all()) {
    yield { name, lastSeenAt, capacity, value: valueOf({ name, lastSeenAt, capacity }) };
  }
  for (const name of state.leases.holders()) {
    if (registry.has(name)) continue;
    const unseen = { name, lastSeenAt: undefined, capacity: undefined };
    yield { ...unseen, value: valueOf(unseen) };
  }
}

function shown({ name, lastSeenAt, capacity }: Row, held: Held, { leases }: State) {
  return {
    worker_id: name,
    last_seen_at: lastSeenAt,
    capacity,
    active_leases: leases.heldBy(name),
    leases: held.leases,
    next_lease_expiry: held.leases.length === 0 ? undefined : held.nextExpiry,
  };
}
