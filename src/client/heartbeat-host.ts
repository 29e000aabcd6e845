// Owns the worker's end of the heartbeat thread: starts the thread, tells it which leases are in
// hand, and passes its messages on. This file decides nothing.

import { Worker as Thread } from 'node:worker_threads';
import type {
  FromHeartbeatThread,
  HeartbeatThreadData,
  ToHeartbeatThread,
} from './heartbeat-messages.ts';
import type { LeaseData } from './lease.ts';
import { LeaseCell } from './lease-cell.ts';
import { threadModule } from './thread-module.ts';

/** What is told from the thread about leases, all but the answers to `beat`. */
export type HeartbeatNews = Exclude<FromHeartbeatThread, { kind: 'beaten' | 'ready' }>;

export class HeartbeatHost {
  readonly #thread: Thread;
  readonly #asked = new Map<number, (isHeld: boolean) => void>();
  #asks = 0;
  readonly #ended: Promise<void>;
  /** Resolves when the thread listens, or has died: no lease should be asked for before. */
  readonly ready: Promise<void>;

  constructor(
    data: HeartbeatThreadData,
    onNews: (news: HeartbeatNews) => void,
    onDeath: (error: Error) => void,
  ) {
    const file = threadModule('heartbeat-thread');
    // Without the flags that node was given: one of them may keep a thread from starting.
    const options = { workerData: data, name: 'leasehold heartbeats', execArgv: [] };
    this.#thread = new Thread(file, options);
    let isReady: () => void = () => {};
    this.ready = new Promise((resolve) => {
      isReady = resolve;
    });
    this.#thread.on('message', (message: FromHeartbeatThread) => {
      if (message.kind === 'ready') isReady();
      else if (message.kind === 'beaten') {
        this.#asked.get(message.ask)?.(message.isHeld);
        this.#asked.delete(message.ask);
      } else onNews(message);
    });
    this.#thread.on('error', onDeath);
    this.#ended = new Promise((resolve) => {
      this.#thread.on('exit', () => {
        for (const answer of this.#asked.values()) answer(false);
        this.#asked.clear();
        isReady();
        resolve();
      });
    });
  }

  /** From now on the lease is kept, whatever this thread does. */
  hold(lease: LeaseData, mode: 'thread' | 'handler'): LeaseCell {
    const cell = new LeaseCell(lease.endsAtMs);
    this.#tell({
      kind: 'hold',
      taskId: lease.taskId,
      leaseId: lease.leaseId,
      cell: cell.buffer,
      endsAtMs: lease.endsAtMs,
      windowEndsAtMs: lease.windowEndsAtMs,
      intervalMs: lease.heartbeatIntervalMs,
      mode,
    });
    return cell;
  }

  drop(leaseId: string): void {
    this.#tell({ kind: 'drop', leaseId });
  }

  /** Heartbeats now. @returns whether the coordinator has just confirmed the lease. */
  beat(leaseId: string): Promise<boolean> {
    this.#asks += 1;
    const ask = this.#asks;
    return new Promise((resolve) => {
      this.#asked.set(ask, resolve);
      this.#tell({ kind: 'beat', leaseId, ask });
    });
  }

  trace(isTraced: boolean): void {
    this.#tell({ kind: 'trace', isTraced });
  }

  /** Ends the thread once a report that it has begun is answered. */
  close(): Promise<void> {
    this.#tell({ kind: 'close' });
    return this.#ended;
  }

  #tell(message: ToHeartbeatThread): void {
    this.#thread.postMessage(message);
  }
}
