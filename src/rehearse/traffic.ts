// Owns the memory of one run: every request with its answer, the fate of both on the way, and
// every effect. The verdicts rest on this memory and on the coordinator's log.

import type { OperationName } from '../model/operations.ts';
import type { Fate } from './points.ts';

/** The coordinator's word in an answer: OK, COMMITTED, CANCELLED, REJECTED, UNAVAILABLE … */
export interface Answered {
  readonly at: number;
  readonly outcome: string;
  readonly reason: string | undefined;
}

export interface GrantedLease {
  readonly taskId: string;
  readonly leaseId: string;
  readonly attempt: number;
  readonly fencingToken: number;
}

/** One request of a worker, alone or in a batch. Times are milliseconds since the run began. */
export interface Exchange {
  readonly number: number;
  readonly worker: number;
  /** Undefined: no operation of the interface. */
  readonly op: OperationName | undefined;
  readonly at: number;
  readonly taskId: string | undefined;
  readonly leaseId: string | undefined;
  /** The queues that a lease request asks for; of other requests none. */
  readonly queues: readonly string[];
  /** What was said, to compare a repeated report with the first one. */
  readonly said: string;
  requestFate: Fate;
  answerFate: Fate | undefined;
  /** The coordinator's answer, whether or not the worker was given it. */
  answered: Answered | undefined;
  /** When the worker was given the whole answer. */
  deliveredAt: number | undefined;
  /** The leases in a delivered answer. */
  granted: readonly GrantedLease[];
}

/** What a request itself says. */
export type Asked = Pick<Exchange, 'op' | 'taskId' | 'leaseId' | 'queues' | 'said'>;

export interface Effect {
  /** When the worker's request for it came. */
  readonly askedAt: number;
  /** When it was counted. */
  readonly at: number;
  readonly taskId: string;
  readonly fencingToken: number;
  /** False: the ledger refused it, because a newer token had been seen for the task. */
  readonly accepted: boolean;
}

/** An effect that was asked for and did not happen: nobody waited for it any more. */
export interface AbandonedEffect {
  readonly askedAt: number;
  readonly taskId: string;
  readonly fencingToken: number;
}

/** What was done to a worker process, or what it did itself. */
export interface WorkerEvent {
  readonly at: number;
  readonly worker: number;
  readonly what: 'started' | 'frozen' | 'woken' | 'killed' | 'told to stop' | 'ended';
  /** Of an end: the exit status or the signal. */
  readonly how?: string;
}

export class Traffic {
  readonly exchanges: Exchange[] = [];
  readonly effects: Effect[] = [];
  readonly abandoned: AbandonedEffect[] = [];
  readonly events: WorkerEvent[] = [];
  private readonly began = performance.now();

  /** @returns milliseconds since the run began. */
  now(): number {
    return Math.round(performance.now() - this.began);
  }

  open(worker: number, request: Asked): Exchange {
    const exchange: Exchange = {
      number: this.exchanges.length + 1,
      worker,
      at: this.now(),
      ...request,
      requestFate: 'pass',
      answerFate: undefined,
      answered: undefined,
      deliveredAt: undefined,
      granted: [],
    };
    this.exchanges.push(exchange);
    return exchange;
  }

  note(worker: number, what: WorkerEvent['what'], how?: string): void {
    this.events.push({ at: this.now(), worker, what, ...(how === undefined ? {} : { how }) });
  }
}
