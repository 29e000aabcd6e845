// Owns the tasks that a worker has in hand: each execution with its span, from the arrival of the
// lease until the execution has ended. This file decides nothing about a task.

import type { AttemptSpan } from './attempt-span.ts';
import type { AbortCode } from './errors.ts';
import type { Execution } from './execution.ts';
import type { Lease } from './lease.ts';
import { pause } from './local-clock.ts';

interface OneInHand {
  readonly execution: Execution;
  /** Undefined: nothing is traced. */
  readonly span: AttemptSpan | undefined;
  readonly ended: Promise<void>;
}

export class InHand {
  readonly #tasks = new Map<string, OneInHand>();
  /** Leases whose handlers have called stop() themselves. */
  readonly #stoppers = new Set<string>();
  readonly #somethingEnded: () => void;

  constructor(somethingEnded: () => void) {
    this.#somethingEnded = somethingEnded;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** @param ending settles when the execution has ended */
  add(execution: Execution, span: AttemptSpan | undefined, ending: Promise<void>): void {
    const { leaseId } = execution.lease;
    const ended = ending.finally(() => {
      span?.end();
      this.#tasks.delete(leaseId);
      this.#stoppers.delete(leaseId);
      this.#somethingEnded();
    });
    this.#tasks.set(leaseId, { execution, span, ended });
  }

  executionOf(leaseId: string): Execution | undefined {
    return this.#tasks.get(leaseId)?.execution;
  }

  has(lease: Lease): boolean {
    return this.executionOf(lease.leaseId)?.lease === lease;
  }

  abort(code: AbortCode): void {
    for (const { execution } of this.#tasks.values()) execution.abort(code);
  }

  /** Handlers that have not ended are left alone. */
  abandon(): void {
    for (const { execution, span } of this.#tasks.values()) {
      execution.abandon();
      span?.end();
    }
  }

  loseAll(reason: string): void {
    for (const { execution } of this.#tasks.values()) execution.loseLease(reason);
  }

  async allEnded(withinMs: number, over = new AbortController()): Promise<void> {
    const ended = Promise.all([...this.#tasks.values()].map((one) => one.ended));
    await Promise.race([ended, pause(withinMs, over.signal)]);
    over.abort();
  }

  /** For a handler that stops its worker: resolves when all but such handlers have ended. */
  async othersEnded(leaseId: string): Promise<void> {
    this.#stoppers.add(leaseId);
    const others = [...this.#tasks].filter(([id]) => !this.#stoppers.has(id));
    await Promise.all(others.map(([, { ended }]) => ended));
  }
}
