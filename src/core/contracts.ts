// Owns the settings that many tasks share, stored once: the queue, the execution window and the
// retry policy that a task was submitted with. A task's row holds the number of its contract.

import type { RetryPolicy, TaskCreated } from '../model/records.ts';
import { Queue } from './queue.ts';

export interface Contract {
  readonly index: number;
  readonly queue: Queue;
  readonly executionWindowMs: number;
  readonly retryPolicy: RetryPolicy;
}

interface Counted extends Contract {
  readonly key: string;
  tasks: number;
}

export class Contracts {
  readonly queues = new Map<string, Queue>();
  private readonly byKey = new Map<string, Counted>();
  private readonly byIndex: (Counted | undefined)[] = [];
  private readonly free: number[] = [];
  /** Queue → the contract of its newest task. */
  private readonly lastOf = new Map<string, Counted>();

  at(index: number): Contract {
    return this.byIndex[index] as Contract;
  }

  /** @returns the contract of a new task, which now counts as one of its tasks. */
  join(record: TaskCreated): Contract {
    const last = this.sameAsLast(record);
    const contract = last ?? this.find(record);
    contract.tasks += 1;
    contract.queue.tasks += 1;
    if (last === undefined) this.lastOf.set(record.queue, contract);
    return contract;
  }

  /** A task of the contract was forgotten; contract and queue go with their last task. */
  leave(index: number): void {
    const contract = this.byIndex[index] as Counted;
    contract.tasks -= 1;
    contract.queue.tasks -= 1;
    if (contract.queue.tasks === 0) this.queues.delete(contract.queue.name);
    if (contract.tasks > 0) return;
    const { name } = contract.queue;
    if (this.lastOf.get(name) === contract) this.lastOf.delete(name);
    this.byKey.delete(contract.key);
    this.byIndex[index] = undefined;
    this.free.push(index);
  }

  /** Most have that of their queue's task before; making the key costs more than looking. */
  private sameAsLast(record: TaskCreated): Counted | undefined {
    const last = this.lastOf.get(record.queue);
    if (last === undefined) return undefined;
    const [known, given] = [last.retryPolicy, record.retryPolicy];
    return last.executionWindowMs === record.executionWindowMs &&
      known.maxRetries === given.maxRetries &&
      known.backoffMs === given.backoffMs &&
      known.backoffFactor === given.backoffFactor &&
      known.backoffMaxMs === given.backoffMaxMs
      ? last
      : undefined;
  }

  private find(record: TaskCreated): Counted {
    const policy = record.retryPolicy;
    // No queue's name has a space in it, so two contracts never have the same key.
    const key = [
      record.queue,
      record.executionWindowMs,
      policy.maxRetries,
      policy.backoffMs,
      policy.backoffFactor,
      policy.backoffMaxMs ?? '',
    ].join(' ');
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    let queue = this.queues.get(record.queue);
    if (queue === undefined) {
      queue = new Queue(record.queue);
      this.queues.set(record.queue, queue);
    }
    const contract: Counted = {
      index: this.free.pop() ?? this.byIndex.length,
      queue,
      executionWindowMs: record.executionWindowMs,
      retryPolicy: policy,
      key,
      tasks: 0,
    };
    this.byKey.set(key, contract);
    this.byIndex[contract.index] = contract;
    return contract;
  }
}
