// Owns a load of clients that do everything a task can go through, over HTTP and the socket, and
// the history of it: each request with its place in the order of calls and returns, and its answer.

import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../simulator/random.ts';
import { Cut, HttpLink, type Link, type Op, SocketLink } from '../support/links.ts';
import type { Fields, Place } from '../support/server.ts';

/** One request. Places in the order of all calls and returns are whole numbers from 1. */
export interface Asked {
  readonly op: Op;
  readonly params: Fields;
  readonly called: number;
  returned?: number;
  /** Without one it may have happened or not. */
  answer?: Fields;
}

export interface TrafficOptions {
  readonly seed: number;
  readonly clients: number;
  /** Rounds of each client; until `stop` when absent. */
  readonly rounds?: number;
  readonly payload?: (random: Random) => string;
  /** A pause before each request. */
  readonly pace?: () => Promise<void>;
  /** What to do when a connection broke: go on, or end this client (the default). */
  readonly onCut?: () => Promise<void>;
}

/** As a client does that was refused: without it a stall is a hundred thousand refusals. */
const AFTER_REFUSAL_MS = 5;

let traffics = 0;
/** One order for all loads of a process, so that the histories of several lives are one. */
let moment = 0;

export class Traffic {
  readonly history: Asked[] = [];
  readonly over: Promise<unknown>;
  readonly #options: TrafficOptions;
  readonly #links: Link[] = [];
  readonly #name: string;
  #stopping = false;

  /** @param to a server, or what opens the connection of each client */
  constructor(to: Place | ((client: number) => Link), options: TrafficOptions) {
    traffics += 1;
    this.#name = `${options.seed}-${traffics}`;
    this.#options = options;
    const clients = Array.from({ length: options.clients }, (_, i) => {
      const link = typeof to === 'function' ? to(i) : linkTo(to, i);
      this.#links.push(link);
      return this.#client(link, `w${i}`, new Random(options.seed, `client ${i}`));
    });
    this.over = Promise.all(clients);
  }

  /** Ends the load when each client has its answer. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.over;
    this.close();
  }

  close(): void {
    for (const link of this.#links) link.close();
  }

  async #client(link: Link, worker: string, random: Random): Promise<void> {
    const { rounds = Number.POSITIVE_INFINITY, onCut } = this.#options;
    for (let round = 0; round < rounds && !this.#stopping; round += 1) {
      try {
        await this.#round(link, worker, random, round);
      } catch (error) {
        if (!(error instanceof Cut)) throw error;
        if (onCut === undefined) return;
        await onCut();
      }
    }
  }

  async #round(link: Link, worker: string, random: Random, round: number): Promise<void> {
    const requestId = `${this.#name}-${worker}-${round}`;
    const payload = this.#options.payload?.(random) ?? worker;
    const submit = {
      payload,
      request_id: requestId,
      retry_policy: { max_retries: 2, backoff_ms: 0 },
    };
    const { task_id: created } = await this.#ask(link, 'submit', submit);
    if (random.chance(0.1)) await this.#ask(link, 'submit', submit);
    if (created === undefined) return pause(AFTER_REFUSAL_MS);
    if (random.chance(0.03)) await this.#ask(link, 'kill', { task_id: created });
    const wanted = { worker_id: worker, max: random.between(1, 3) };
    const { leases = [] } = await this.#ask(link, 'lease', wanted);
    for (const lease of leases as Fields[]) await this.#work(link, random, lease);
    if (random.chance(0.05)) await this.#ask(link, 'task', { task_id: created });
    if (random.chance(0.05)) await this.#ask(link, 'redrive', { task_id: created });
    if (random.chance(0.02)) await this.#ask(link, 'stats', {});
  }

  async #work(link: Link, random: Random, lease: Fields): Promise<void> {
    const named = { task_id: lease['task_id'], lease_id: lease['lease_id'] };
    if (random.chance(0.3)) await this.#ask(link, 'heartbeat', named);
    const how = random.weighted({ complete: 12, fail: 3, leave: 1, twice: 1, permanent: 1 });
    if (how === 'leave') return;
    if (how === 'fail' || how === 'permanent') {
      const kind = how === 'fail' ? random.pick(['error', 'released']) : 'permanent';
      await this.#ask(link, 'fail', { ...named, reason: 'it did not work', kind });
      return;
    }
    await this.#ask(link, 'complete', { ...named, result: 'r' });
    if (how === 'twice') await this.#ask(link, 'complete', { ...named, result: 'r' });
  }

  async #ask(link: Link, op: Op, params: Fields): Promise<Fields> {
    await this.#options.pace?.();
    return asked(this.history, link, op, params);
  }
}

const linkTo = ({ httpPort, socketPort }: Place, client: number): Link =>
  client % 2 === 0 ? new HttpLink(httpPort) : new SocketLink(socketPort);

/** Asks, and writes it down in a history; for those who ask beside a load. @throws Cut. */
export async function asked(history: Asked[], link: Link, op: Op, params: Fields): Promise<Fields> {
  moment += 1;
  const noted: Asked = { op, params, called: moment };
  history.push(noted);
  const answer = await link.call(op, params);
  moment += 1;
  noted.returned = moment;
  noted.answer = answer;
  return answer;
}
