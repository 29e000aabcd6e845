// Owns a load of clients that submit, lease, heartbeat and complete over HTTP until it is stopped
// or their server is gone. It remembers nothing. Clients rest between two tasks, so that what is
// tested beside them is not what a machine without a free processor does.

import { setTimeout as pause } from 'node:timers/promises';
import type { Fields } from '../support/server.ts';
import type { Stage } from './support.ts';

const REST_MS = 5;

export class Load {
  readonly #stage: Stage;
  readonly #clients: Promise<void>[];
  #over = false;

  constructor(stage: Stage, clients: number) {
    this.#stage = stage;
    this.#clients = Array.from({ length: clients }, (_, i) => this.#client(`w${i}`));
  }

  /** Ends the load; a client whose connection broke has ended already. */
  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#clients);
  }

  async #client(workerId: string): Promise<void> {
    try {
      for (; !this.#over; await pause(REST_MS)) await this.#round(workerId);
    } catch (error) {
      // fetch says so when the server is gone; anything else is a failure of the test.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  async #round(workerId: string): Promise<void> {
    await this.#ask('/v1/tasks', { payload: workerId });
    const { leases } = await this.#ask('/v1/leases', { worker_id: workerId });
    const [lease] = leases as Fields[];
    if (lease === undefined) return;
    const body = { task_id: lease['task_id'] };
    await this.#ask(`/v1/leases/${lease['lease_id']}/heartbeat`, body);
    await this.#ask(`/v1/leases/${lease['lease_id']}/complete`, body);
  }

  async #ask(route: string, body: Fields): Promise<Fields> {
    return (await this.#stage.call('POST', route, body)).body;
  }
}
