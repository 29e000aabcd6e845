// Owns a crowd of clients that pipeline everything a client can ask, good and bad, on several
// queues, and write down each request with its place in the order of calls and returns.

import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../simulator/random.ts';
import { HttpLink, type Link, type Op, SocketLink } from '../support/links.ts';
import type { Fields, Place } from '../support/server.ts';
import type { Asked } from './traffic.ts';

export interface CrowdOptions {
  readonly seed: number;
  /** Connections; every fourth one is HTTP, with one request at a time. */
  readonly clients: number;
  /** Requests under way on one socket connection. */
  readonly depth: number;
  /** Requests after which the crowd is content. */
  readonly requests: number;
}

interface Held {
  readonly task_id: string;
  readonly lease_id: string;
}

const QUEUES = 3;
const WEIGHTS = {
  submit: 4,
  lease: 4,
  heartbeat: 1.5,
  complete: 3,
  fail: 1.2,
  stale: 0.6,
  kill: 0.15,
  redrive: 0.3,
  task: 0.8,
  again: 0.3,
};
const KEPT = 200;

export class Crowd {
  readonly history: Asked[] = [];
  readonly #place: Place;
  readonly #options: CrowdOptions;
  readonly #dice: Random;
  readonly #held: Held[] = [];
  readonly #reported: Held[] = [];
  readonly #tasks: string[] = [];
  /** FAILED or DEAD. */
  readonly #ended: string[] = [];
  #moment = 0;
  #made = 0;

  constructor(place: Place, options: CrowdOptions) {
    this.#place = place;
    this.#options = options;
    this.#dice = new Random(options.seed, 'crowd');
  }

  /** Asks until it is content; rejects when a connection breaks. */
  async run(): Promise<readonly Asked[]> {
    const { clients, depth } = this.#options;
    const { httpPort, socketPort } = this.#place;
    const connections = Array.from({ length: clients }, async (_, worker) => {
      const isHttp = worker % 4 === 3;
      const link = isHttp ? new HttpLink(httpPort) : new SocketLink(socketPort);
      const hands = Array.from({ length: isHttp ? 1 : depth }, () => this.#hand(link, worker));
      await Promise.all(hands);
      link.close();
    });
    await Promise.all(connections);
    return this.history;
  }

  async #hand(link: Link, worker: number): Promise<void> {
    while (this.history.length < this.#options.requests) {
      const [op, params] = this.#next(worker);
      this.#moment += 1;
      const asked: Asked = { op, params, called: this.#moment };
      this.history.push(asked);
      const answer = await link.call(op, params);
      this.#moment += 1;
      asked.returned = this.#moment;
      asked.answer = answer;
      this.#learn(asked);
      // Leases run out only when clients pause now and then.
      if (this.#dice.chance(0.001)) await pause(this.#dice.below(50));
    }
  }

  #learn({ op, params, answer = {} }: Asked): void {
    const { task_id: task, task_state: state, leases } = answer;
    if (typeof task === 'string') remember(this.#tasks, task);
    if (state === 'FAILED' || state === 'DEAD') remember(this.#ended, String(params['task_id']));
    if (op !== 'lease' || !Array.isArray(leases)) return;
    for (const { task_id, lease_id } of leases as Held[]) this.#held.push({ task_id, lease_id });
  }

  #next(worker: number): [Op, Fields] {
    const dice = this.#dice;
    const act = dice.weighted(WEIGHTS);
    if (act === 'lease') return ['lease', this.#lease(worker)];
    if (act === 'heartbeat' && this.#held.length > 0) return [act, { ...dice.pick(this.#held) }];
    if (act === 'complete' || act === 'fail') {
      const [held] = this.#held.splice(dice.below(Math.max(1, this.#held.length)), 1);
      if (held !== undefined) return this.#report(act, held);
    }
    if (act === 'stale' && this.#reported.length > 0) {
      const held = dice.pick(this.#reported);
      const op = dice.pick<Op>(['heartbeat', 'complete', 'fail']);
      return [op, op === 'fail' ? { ...held, reason: 'again' } : { ...held }];
    }
    if (act === 'redrive' && this.#ended.length > 0 && dice.chance(0.8)) {
      return [act, { task_id: dice.pick(this.#ended.slice(-10)) }];
    }
    if (act === 'kill' || act === 'redrive' || act === 'task') {
      if (this.#tasks.length > 0) return [act, { task_id: dice.pick(this.#tasks) }];
    }
    return ['submit', this.#submit(act === 'again')];
  }

  #lease(worker: number): Fields {
    const dice = this.#dice;
    const first = dice.below(QUEUES);
    const queues = dice.chance(0.3) ? [`q${first}`, `q${(first + 1) % QUEUES}`] : [`q${first}`];
    const capacity = worker === 0 ? { capacity: 3 } : {};
    const wait = dice.chance(0.1) ? { wait_ms: 20 } : {};
    return { worker_id: `w${worker}`, queues, max: dice.pick([1, 1, 1, 3]), ...capacity, ...wait };
  }

  #report(op: 'complete' | 'fail', held: Held): [Op, Fields] {
    const dice = this.#dice;
    remember(this.#reported, held);
    if (op === 'complete') return [op, dice.chance(0.3) ? { ...held, result: 'r' } : { ...held }];
    const kind = dice.pick(['error', 'error', 'permanent', 'released']);
    return [op, { ...held, reason: 'it did not work', kind }];
  }

  #submit(again: boolean): Fields {
    this.#made += 1;
    const number = again ? Math.max(1, this.#made - this.#dice.between(1, 20)) : this.#made;
    // What is submitted again must be the same: all of it follows from the number.
    const own = new Random(number, 'submit');
    return {
      payload: `p${number}`,
      queue: `q${own.below(QUEUES)}`,
      retry_policy: { max_retries: own.below(3), backoff_ms: own.pick([0, 0, 5]) },
      request_id: `r${number}`,
      ...(own.chance(0.1) && { delay_ms: 10 }),
      ...(own.chance(0.1) && { execution_window_ms: 60 }),
    };
  }
}

function remember<T>(newest: T[], one: T): void {
  newest.push(one);
  if (newest.length > 2 * KEPT) newest.splice(0, KEPT);
}
