// Owns what many tasks have in common, stored once: the queue, the execution window and the retry
// policy that a task was submitted with. A task's row holds the number of its contract.

import { Queue } from './queue.ts';
import type { RetryPolicy, TaskCreated } from './records.ts';

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

  at(index: number): Contract {
    return this.byIndex[index] as Contract;
  }

  /** @returns the contract of a new task, which now counts as one of its tasks. */
  join(record: TaskCreated): Contract {
    const policy = record.retryPolicy;
    const key = [
      record.queue,
      record.executionWindowMs,
      policy.maxRetries,
      policy.backoffMs,
      policy.backoffFactor,
      policy.backoffMaxMs ?? '',
    ].join(' ');
    let contract = this.byKey.get(key);
    if (contract === undefined) {
      let queue = this.queues.get(record.queue);
      if (queue === undefined) {
        queue = new Queue(record.queue);
        this.queues.set(record.queue, queue);
      }
      contract = {
        index: this.free.pop() ?? this.byIndex.length,
        queue,
        executionWindowMs: record.executionWindowMs,
        retryPolicy: policy,
        key,
        tasks: 0,
      };
      this.byKey.set(key, contract);
      this.byIndex[contract.index] = contract;
    }
    contract.tasks += 1;
    contract.queue.tasks += 1;
    return contract;
  }

  /** A task of the contract was forgotten; contract and queue go with their last task. */
  leave(index: number): void {
    const contract = this.byIndex[index] as Counted;
    contract.tasks -= 1;
    contract.queue.tasks -= 1;
    if (contract.queue.tasks === 0) this.queues.delete(contract.queue.name);
    if (contract.tasks > 0) return;
    this.byKey.delete(contract.key);
    this.byIndex[index] = undefined;
    this.free.push(index);
  }
}
