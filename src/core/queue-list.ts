// Owns a page of the list of queues. There may be a hundred thousand of them, so the list is looked
// at in slices: between two slices the coordinator decides other requests.

import { PAGE_MAX } from '../model/limits.ts';
import { rejected } from '../model/refusal.ts';
import { type RequestOf, TASK_STATES } from '../model/request.ts';
import type { Response } from '../model/response.ts';
import type { Context } from './context.ts';
import { FirstRows, type Place, placeText, readPlace } from './first-rows.ts';
import type { Queue } from './queue.ts';
import type { State } from './state.ts';
import { NONE } from './task-table.ts';

/** What a generator of answers gives: one step is one slice; the last gives the answer. */
export type Slices = Generator<undefined, Response>;

/** Queues, workers or leases that one slice looks at. */
export const SLICE_ROWS = 10_000;

/** What is known of queues that is in no record: advisory, and forgotten at a restart. */
export interface QueuesSeen {
  /** Since when it is known. */
  readonly since: number;
  lastAsked(queue: string): { readonly at: number; readonly workerId: string } | undefined;
  /** Lease requests that wait for the queue. */
  parked(queue: string): number;
  /** Tasks a second, over the minute before `asOf` or since the start; absent: before now. */
  rates(queue: string, asOf?: number): { readonly submitted: number; readonly finished: number };
}

type QueuesRequest = RequestOf<'queues'>;
type Sort = NonNullable<QueuesRequest['sort']>;
interface Row extends Place {
  readonly queue: Queue;
}

const LAST = Number.MAX_SAFE_INTEGER;
const ADVISORY =
  'last_asked_at, last_asked_by, parked_requests and the rates are in no record: ' +
  'they are known since the last start of the coordinator only';

export function* queueList(
  context: Context,
  request: QueuesRequest,
  seen: QueuesSeen,
  now: number,
): Slices {
  const { state } = context;
  const { sort = 'name', match, limit = PAGE_MAX } = request;
  const after = placeAfter(request);
  if (after === 'none') return NO_PLACE;
  const valueOf = ORDERS[sort];
  // All pages rest on one moment: a rate falls by itself, and queues would come again and again.
  const asOf = sort === 'rate' ? (after?.asOf ?? now) : undefined;
  const first = new FirstRows<Row>(limit, after);
  let looked = 0;
  for (const queue of state.contracts.queues.values()) {
    if (match === undefined || queue.name.includes(match)) {
      const value = valueOf(queue, state, seen, asOf ?? now);
      first.add({ queue, name: queue.name, value, asOf });
    }
    looked += 1;
    if (looked % SLICE_ROWS === 0) yield;
  }
  const { rows, leftOut } = first.page();
  const last = rows.at(-1);
  return {
    kind: 'overview',
    body: {
      queues: rows.map(({ queue }) => ({ ...queueRow(queue, state, now), ...soft(queue, seen) })),
      next: last === undefined || leftOut === 0 ? null : nextOf(sort, last),
      more: leftOut,
      now,
      since: seen.since,
      advisory: ADVISORY,
    },
  };
}

export const NO_PLACE = rejected(
  'malformed',
  'after is the `next` of an earlier answer in the same order',
  { field: 'after' },
);

/** In the order of names a name is a place, too. */
function placeAfter({ after, sort = 'name' }: QueuesRequest): Place | undefined | 'none' {
  if (after === undefined) return undefined;
  if (sort === 'name') return { value: 0, name: after };
  return readPlace(after) ?? 'none';
}

const nextOf = (sort: Sort, last: Row): string => (sort === 'name' ? last.name : placeText(last));

/** The number by which a queue stands in each order: the smallest first. */
const ORDERS: Readonly<
  Record<Sort, (queue: Queue, state: State, seen: QueuesSeen, now: number) => number>
> = {
  name: () => 0,
  waiting: ({ counts }) => -(counts[0] as number),
  delayed: (queue, state, _seen, now) => -delayedTasks(queue, state, now),
  leased: ({ counts }) => -(counts[1] as number),
  // By the time itself and not by the age, which would be another one on the next page.
  oldest: (queue, state, _seen, now) => {
    const first = queue.firstEligible(state.tasks, now);
    return first === NONE ? LAST : state.tasks.eligibleAt(first);
  },
  rate: ({ name }, _state, seen, asOf) => {
    const { submitted, finished } = seen.rates(name, asOf);
    return -(submitted + finished);
  },
  // Queues whose tasks nobody asks for come first; those without such tasks need nobody.
  asked: (queue, state, seen, now) => {
    if (queue.firstEligible(state.tasks, now) === NONE) return LAST;
    if (seen.parked(queue.name) > 0) return LAST - 1;
    return seen.lastAsked(queue.name)?.at ?? 0;
  },
};

const delayedTasks = (queue: Queue, state: State, now: number): number =>
  queue.delayed === 0 ? 0 : (queue.counts[0] as number) - queue.eligible(state.tasks, now);

/** What the records say of one queue. Times in ms; the oldest is counted from its eligibility. */
export function queueRow(queue: Queue, state: State, now: number) {
  const first = queue.firstEligible(state.tasks, now);
  const eligible = queue.eligible(state.tasks, now);
  const { counts } = queue;
  return {
    queue: queue.name,
    ...Object.fromEntries(TASK_STATES.map((name, i) => [name.toLowerCase(), counts[i]])),
    eligible,
    delayed: (counts[0] as number) - eligible,
    oldest_waiting_ms: first === NONE ? 0 : now - state.tasks.eligibleAt(first),
    next_eligible_at: queue.nextDelayedAt(state.tasks, now),
  };
}

function soft({ name }: Queue, seen: QueuesSeen) {
  const asked = seen.lastAsked(name);
  const { submitted, finished } = seen.rates(name);
  return {
    last_asked_at: asked?.at,
    last_asked_by: asked?.workerId,
    parked_requests: seen.parked(name),
    submitted_per_second: submitted,
    finished_per_second: finished,
  };
}
