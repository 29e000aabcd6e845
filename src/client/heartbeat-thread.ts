// Owns the thread that keeps leases. The thread has its own connection and its own timer, because
// a handler that computes for a long time blocks the event loop of its own thread: no heartbeat
// could be sent from there, and the lease would expire under a healthy worker.
// heartbeat-decision.ts decides when a heartbeat is due and when a lease is lost; this file sends
// and tells.

import { parentPort, workerData } from 'node:worker_threads';
import { Client } from './client.ts';
import {
  type HeartbeatInput,
  type HeldLease,
  heartbeat,
  holdLease,
  wakeAtMs,
} from './heartbeat-decision.ts';
import type {
  FromHeartbeatThread,
  HeartbeatThreadData,
  HoldMessage,
  ToHeartbeatThread,
} from './heartbeat-messages.ts';
import { LeaseCell } from './lease-cell.ts';
import { monotonicMs } from './local-clock.ts';
import { reasonOf } from './reason.ts';
import type { HeartbeatOutcome, LeaseRef, ReportOutcome } from './types.ts';

interface Held {
  readonly ref: LeaseRef;
  readonly cell: LeaseCell;
  lease: HeldLease;
}

export const WINDOW_REACHED = 'execution window reached';
const BEAT_TIMEOUT_MIN_MS = 50;
/** Heartbeats in one message; a batch of the interface takes at least so many. */
const BATCH_MAX = 500;

class HeartbeatThread {
  readonly #held = new Map<string, Held>();
  readonly #send: (message: FromHeartbeatThread) => void;
  /** A client without retries: heartbeat-decision.ts decides when the next heartbeat is due. */
  readonly #beats: Client;
  readonly #reports: Client;
  #isTraced: boolean;
  #timer: NodeJS.Timeout | undefined;
  #reporting = 0;
  #closing = false;

  constructor(data: HeartbeatThreadData, send: (message: FromHeartbeatThread) => void) {
    this.#send = send;
    this.#isTraced = data.isTraced;
    const onProtocol: NonNullable<ConstructorParameters<typeof Client>[0]>['onProtocol'] = (
      event,
    ) => {
      if (this.#isTraced) send({ kind: 'protocol', event: { ...event, thread: 'heartbeat' } });
    };
    this.#beats = new Client({ ...data.client, retries: 0, onProtocol });
    this.#reports = new Client({ ...data.client, onProtocol });
  }

  take(message: ToHeartbeatThread): void {
    switch (message.kind) {
      case 'hold':
        this.#hold(message);
        break;
      case 'drop':
        this.#held.delete(message.leaseId);
        break;
      case 'beat':
        void this.#beatNow(message.leaseId, message.ask);
        return;
      case 'trace':
        this.#isTraced = message.isTraced;
        return;
      case 'close':
        this.#closing = true;
        this.#held.clear();
        this.#closeWhenQuiet();
        return;
    }
    this.#schedule();
  }

  #hold(message: HoldMessage): void {
    const { taskId, leaseId } = message;
    this.#held.set(leaseId, {
      ref: { taskId, leaseId },
      cell: new LeaseCell(message.cell),
      lease: holdLease({ ...message, nowMs: monotonicMs() }),
    });
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    let atMs = Number.POSITIVE_INFINITY;
    for (const { lease } of this.#held.values()) atMs = Math.min(atMs, wakeAtMs(lease));
    if (atMs === Number.POSITIVE_INFINITY) return;
    // Rounded up: a timer that fires a fraction early would find nothing due.
    const delayMs = Math.min(Math.max(Math.ceil(atMs - monotonicMs()), 0), 2 ** 31 - 1);
    this.#timer = setTimeout(() => this.#tick(), delayMs);
  }

  #tick(): void {
    const nowMs = monotonicMs();
    const due: Held[] = [];
    for (const held of this.#held.values()) {
      const slackMs = held.lease.intervalMs / 10;
      if (this.#step(held, { kind: 'tick', nowMs, slackMs })) due.push(held);
    }
    for (let at = 0; at < due.length; at += BATCH_MAX) {
      void this.#beat(due.slice(at, at + BATCH_MAX));
    }
    this.#schedule();
  }

  /** @returns whether a heartbeat is to be sent. */
  #step(held: Held, input: HeartbeatInput): boolean {
    const { lease, output } = heartbeat(held.lease, input);
    held.lease = lease;
    held.cell.extend(lease.endsAtMs);
    if (output === undefined) return false;
    if (output.kind === 'send') return held.cell.state === 'held';
    const { leaseId } = held.ref;
    this.#held.delete(leaseId);
    if (output.kind === 'lost') {
      // If the worker is reporting already, the answer to its report decides, not this loss.
      if (held.cell.lose()) this.#send({ kind: 'lost', leaseId, reason: output.reason });
    } else if (held.cell.reachDeadline()) {
      this.#send({ kind: 'deadline', leaseId });
      void this.#reportDeadline(held.ref);
    }
    return false;
  }

  async #beat(due: readonly Held[]): Promise<void> {
    const [first] = due as [Held, ...Held[]];
    const leftMs = Math.min(...due.map(({ lease }) => lease.endsAtMs)) - monotonicMs();
    const limitMs = Math.min(first.lease.intervalMs, leftMs);
    const call = { timeoutMs: Math.max(limitMs, BEAT_TIMEOUT_MIN_MS) };
    try {
      if (due.length === 1) {
        this.#settle(first, await this.#beats.heartbeat(first.ref, call));
      } else {
        const requests = due.map(({ ref }) => ({ op: 'heartbeat' as const, ...ref }));
        const outcomes = await this.#beats.batch(requests, call);
        for (const [index, held] of due.entries()) {
          this.#settle(held, outcomes[index] as HeartbeatOutcome);
        }
      }
    } catch (error) {
      const nowMs = monotonicMs();
      for (const held of due) this.#step(held, { kind: 'unanswered', nowMs });
      this.#send({ kind: 'trouble', message: `heartbeat: ${reasonOf(error)}` });
    }
    this.#schedule();
  }

  /** @returns whether the coordinator said that the lease is held. */
  #settle(held: Held, outcome: HeartbeatOutcome): boolean {
    const nowMs = monotonicMs();
    if (outcome.outcome === 'OK') {
      const { leaseMs, endsAtMs } = outcome;
      this.#step(held, { kind: 'ok', nowMs, sentAtMs: endsAtMs - leaseMs, leaseMs });
      return held.lease.phase === 'held';
    }
    if (outcome.outcome === 'REJECTED') {
      this.#step(held, { kind: 'rejected', reason: outcome.reason });
    } else {
      this.#step(held, { kind: 'unanswered', nowMs });
      this.#send({ kind: 'trouble', message: `heartbeat: ${outcome.reason}` });
    }
    return false;
  }

  async #beatNow(leaseId: string, ask: number): Promise<void> {
    const held = this.#held.get(leaseId);
    let isHeld = false;
    if (held !== undefined && this.#step(held, { kind: 'asked' })) {
      const timeoutMs = Math.max(held.lease.endsAtMs - monotonicMs(), BEAT_TIMEOUT_MIN_MS);
      try {
        isHeld = this.#settle(held, await this.#beats.heartbeat(held.ref, { timeoutMs }));
      } catch (error) {
        this.#step(held, { kind: 'unanswered', nowMs: monotonicMs() });
        this.#send({ kind: 'trouble', message: `heartbeat: ${reasonOf(error)}` });
      }
      this.#schedule();
    }
    this.#send({ kind: 'beaten', ask, isHeld });
  }

  async #reportDeadline(ref: LeaseRef): Promise<void> {
    this.#reporting += 1;
    const { leaseId } = ref;
    try {
      const outcome: ReportOutcome = await this.#reports.fail(ref, { reason: WINDOW_REACHED });
      this.#send({ kind: 'deadline_reported', leaseId, outcome });
    } catch (error) {
      this.#send({ kind: 'deadline_reported', leaseId, error: reasonOf(error) });
    }
    this.#reporting -= 1;
    this.#closeWhenQuiet();
  }

  #closeWhenQuiet(): void {
    if (!this.#closing || this.#reporting > 0) return;
    clearTimeout(this.#timer);
    this.#beats.close();
    this.#reports.close();
    parentPort?.close();
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const thread = new HeartbeatThread(workerData as HeartbeatThreadData, (message) =>
    port.postMessage(message),
  );
  port.on('message', (message: ToHeartbeatThread) => thread.take(message));
  port.postMessage({ kind: 'ready' } satisfies FromHeartbeatThread);
}
