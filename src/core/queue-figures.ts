// Owns the figures of the queues that metrics show: the fullest queues by name, the rest as one
// row. It makes no object for a queue that is not shown: while it runs, the coordinator's thread
// decides no request.

import type { QueueFigures } from '../model/response.ts';
import type { Queue } from './queue.ts';
import type { State } from './state.ts';
import { NONE } from './task-table.ts';

/** Beyond this the rest of the queues is summed as `other`. */
export const QUEUES_SHOWN = 1_000;
const OTHER = 'other';

/** At most QUEUES_SHOWN queues, those with the most open tasks, and `other` when there are more. */
export function queueFigures(state: State, now: number): QueueFigures[] {
  const { queues } = state.contracts;
  if (queues.size <= QUEUES_SHOWN) return inNameOrder([...queues.values()], state, now);
  const fewest = fewestShown(queues.values(), queues.size);
  const shown: Queue[] = [];
  const level: Queue[] = [];
  for (const queue of queues.values()) {
    // A queue that is really called so must not appear twice.
    if (queue.name === OTHER) continue;
    const open = openTasks(queue);
    if (open > fewest) shown.push(queue);
    else if (open === fewest && level.length < QUEUES_SHOWN) level.push(queue);
  }
  shown.push(...level.slice(0, QUEUES_SHOWN - shown.length));
  return [...inNameOrder(shown, state, now), rest(queues.values(), new Set(shown), state, now)];
}

/** Waiting and leased: the first two of TASK_STATES. */
const openTasks = ({ counts }: Queue): number => (counts[0] as number) + (counts[1] as number);

/** How many open tasks the least full of the shown queues has. */
function fewestShown(queues: Iterable<Queue>, size: number): number {
  const open = new Float64Array(size);
  let count = 0;
  for (const queue of queues) {
    if (queue.name === OTHER) continue;
    open[count] = openTasks(queue);
    count += 1;
  }
  const sorted = open.subarray(0, count).sort();
  return sorted[Math.max(0, count - QUEUES_SHOWN)] ?? 0;
}

const inNameOrder = (queues: readonly Queue[], state: State, now: number): QueueFigures[] =>
  queues
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((queue) => {
      const [waiting, leased, completed, failed, dead] = queue.counts as Counts;
      const eligible = queue.eligible(state.tasks, now);
      const oldest_waiting_ms = oldestWaitingMs(queue, state, now);
      const { name } = queue;
      return { queue: name, waiting, leased, completed, failed, dead, eligible, oldest_waiting_ms };
    });

type Counts = [waiting: number, leased: number, completed: number, failed: number, dead: number];

function rest(
  queues: Iterable<Queue>,
  shown: ReadonlySet<Queue>,
  state: State,
  now: number,
): QueueFigures {
  const sums: Counts = [0, 0, 0, 0, 0];
  let eligible = 0;
  let oldest = 0;
  for (const queue of queues) {
    if (shown.has(queue)) continue;
    queue.counts.forEach((count, index) => {
      sums[index as 0] += count;
    });
    // Most of a hundred thousand queues are empty or finished: nothing of them waits.
    if (queue.counts[0] === 0) continue;
    eligible += queue.eligible(state.tasks, now);
    oldest = Math.max(oldest, oldestWaitingMs(queue, state, now));
  }
  const [waiting, leased, completed, failed, dead] = sums;
  const oldest_waiting_ms = oldest;
  return { queue: OTHER, waiting, leased, completed, failed, dead, eligible, oldest_waiting_ms };
}

function oldestWaitingMs(queue: Queue, state: State, now: number): number {
  const first = queue.firstEligible(state.tasks, now);
  return first === NONE ? 0 : now - state.tasks.eligibleAt(first);
}
