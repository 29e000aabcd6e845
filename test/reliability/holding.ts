// Owns what a careful worker knows about a lease by its own monotonic clock alone: until when it is
// certainly held, and when it must certainly be over. The log's own times are not asked.

import { expect } from 'chai';
import type { Link, Op } from '../support/links.ts';
import type { Fields, Server } from '../support/server.ts';
import { type Asked, asked } from './traffic.ts';

/** A lease, and the moments around the newest answer that renewed it. */
export class Holding {
  readonly taskId: string;
  readonly leaseId: string;
  readonly #link: Link;
  readonly #history: Asked[];
  #calledAt: number;
  #toldAt: number;

  private constructor(link: Link, history: Asked[], lease: Fields, calledAt: number) {
    this.#link = link;
    this.#history = history;
    this.taskId = lease['task_id'] as string;
    this.leaseId = lease['lease_id'] as string;
    this.#calledAt = calledAt;
    this.#toldAt = performance.now();
  }

  /** Submits a task and leases it, in a queue of its own. */
  static async take(link: Link, history: Asked[], queue: string): Promise<Holding> {
    const submit = { payload: 'p', queue, request_id: queue };
    await asked(history, link, 'submit', submit);
    const calledAt = performance.now();
    const wanted = { worker_id: queue, queues: [queue] };
    const { leases } = await asked(history, link, 'lease', wanted);
    return new Holding(link, history, (leases as [Fields])[0], calledAt);
  }

  /** Since it was asked for, or renewed: it cannot have begun before that. */
  get sinceAskedMs(): number {
    return performance.now() - this.#calledAt;
  }

  /** Since it was answered: it had begun by then. */
  get sinceToldMs(): number {
    return performance.now() - this.#toldAt;
  }

  /** @returns the outcome; an OK renews what is known. */
  async heartbeat(): Promise<unknown> {
    const calledAt = performance.now();
    const { outcome } = await this.#ask('heartbeat');
    if (outcome === 'OK') {
      this.#calledAt = calledAt;
      this.#toldAt = performance.now();
    }
    return outcome;
  }

  async complete(): Promise<unknown> {
    return (await this.#ask('complete')).outcome;
  }

  /** The log says so; to be asked about a task would be a reason to look at its lease. */
  async isOver({ url }: Server): Promise<boolean> {
    const query = `task=${this.taskId}&type=LeaseExpired&tail=1`;
    const response = await fetch(`${url}/v1/log?${query}`).catch(() => undefined);
    return response?.ok === true && (await response.text()).includes(`"${this.leaseId}"`);
  }

  /** What ended stays so: neither a heartbeat nor a report is taken. */
  async staysOver(): Promise<void> {
    expect(await this.heartbeat(), `${this.leaseId} came back`).to.not.equal('OK');
    expect(await this.complete(), `${this.leaseId} came back`).to.equal('CANCELLED');
  }

  async #ask(op: Op): Promise<{ outcome?: unknown }> {
    const named = { task_id: this.taskId, lease_id: this.leaseId };
    return asked(this.#history, this.#link, op, named);
  }
}
