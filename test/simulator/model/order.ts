// Owns what the model knows without looking at every task: the waiting ones of each queue in their
// order, and how many leases each worker holds. `brokenOrder` looks at every task all the same.

import { heldLease, type ModelTask } from './tasks.ts';

const isBefore = (a: ModelTask, b: ModelTask): boolean =>
  a.eligibleAt < b.eligibleAt || (a.eligibleAt === b.eligibleAt && a.place < b.place);

export class Order {
  private readonly waiting = new Map<string, ModelTask[]>();
  private readonly held = new Map<string, number>();

  /** A task came, went, or is another one now. */
  changed(from: ModelTask | undefined, to: ModelTask | undefined): void {
    if (from !== undefined) this.remove(from);
    if (to !== undefined) this.add(to);
  }

  /** The task that is leased next from these queues: by (eligible_at, place) and nothing else. */
  firstEligible(queues: readonly string[], now: number): ModelTask | undefined {
    let first: ModelTask | undefined;
    for (const queue of queues) {
      const task = this.waiting.get(queue)?.[0];
      if (task === undefined || task.eligibleAt > now) continue;
      if (first === undefined || isBefore(task, first)) first = task;
    }
    return first;
  }

  /** @returns when the first task of these queues is eligible; Infinity: there is none. */
  nextEligibleAt(queues: readonly string[]): number {
    let next = Number.POSITIVE_INFINITY;
    for (const queue of queues) {
      const task = this.waiting.get(queue)?.[0];
      if (task !== undefined && task.eligibleAt < next) next = task.eligibleAt;
    }
    return next;
  }

  /** How many tasks of its queue are leased before a waiting task. */
  ahead(task: ModelTask): number {
    return placeIn(this.waiting.get(task.queue) ?? [], task);
  }

  heldBy(workerId: string): number {
    return this.held.get(workerId) ?? 0;
  }

  /** @returns where this is not what all tasks together say, or undefined: nowhere. */
  broken(waiting: Iterable<ModelTask>, leased: Iterable<ModelTask>): string | undefined {
    const queues = new Map<string, ModelTask[]>();
    for (const name of this.waiting.keys()) queues.set(name, []);
    for (const task of waiting) {
      const list = queues.get(task.queue) ?? [];
      list.push(task);
      queues.set(task.queue, list);
    }
    for (const [name, list] of queues) {
      list.sort((a, b) => a.eligibleAt - b.eligibleAt || a.place - b.place);
      const actual = this.waiting.get(name) ?? [];
      const isSame = actual.length === list.length && list.every((task, n) => task === actual[n]);
      if (!isSame) return `the order of queue ${name}`;
    }
    const held = new Map<string, number>();
    for (const worker of this.held.keys()) held.set(worker, 0);
    for (const task of leased) {
      const worker = heldLease(task)?.workerId as string;
      held.set(worker, (held.get(worker) ?? 0) + 1);
    }
    for (const [worker, count] of held) {
      if (this.heldBy(worker) !== count) return `the leases of ${worker}`;
    }
    return undefined;
  }

  private add(task: ModelTask): void {
    if (task.state === 'LEASED') this.count(task, 1);
    if (task.state !== 'WAITING') return;
    const list = this.waiting.get(task.queue);
    if (list === undefined) this.waiting.set(task.queue, [task]);
    else list.splice(placeIn(list, task), 0, task);
  }

  private remove(task: ModelTask): void {
    if (task.state === 'LEASED') this.count(task, -1);
    if (task.state !== 'WAITING') return;
    const list = this.waiting.get(task.queue) ?? [];
    list.splice(placeIn(list, task), 1);
  }

  private count(task: ModelTask, by: 1 | -1): void {
    const worker = heldLease(task)?.workerId as string;
    const held = this.heldBy(worker) + by;
    if (held === 0) this.held.delete(worker);
    else this.held.set(worker, held);
  }
}

/** The place of the task, or the one that it would take. */
function placeIn(list: readonly ModelTask[], task: ModelTask): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(list[middle] as ModelTask, task)) low = middle + 1;
    else high = middle;
  }
  return low;
}
