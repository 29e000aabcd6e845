// Owns the coordinator of a test: the real loop on a log in memory, behind the real mailbox. The
// test's own thread does the work that the coordinator's thread does in the product. A crash keeps
// nothing but the log.

import { createHash } from 'node:crypto';
import { PHASE_OF, Progress } from '../../actors/shared/progress.ts';
import type { CoordinatorPlan } from '../../actors/supervisor/coordinator-life.ts';
import { digestOf } from '../core/digest-index.ts';
import { MemoryLog } from '../log/memory-log.ts';
import { Coordinator } from '../loop/coordinator.ts';
import type { CoordinatorEvents } from '../loop/loop-options.ts';
import { Consumer, type MailboxSink, type Peer } from '../mailbox/consumer.ts';
import { viewOf } from '../mailbox/frame.ts';
import { createMailbox, type Mailbox, type MailboxEnd } from '../mailbox/mailbox.ts';
import type { Request } from '../model/request.ts';
import { writeAnswer } from '../protocol/answer-frame.ts';
import { decodeRequest } from '../protocol/request-codec.ts';
import type { TestClock } from './test-clock.ts';

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** A ticket of the loop is its producer's place here times this, plus the producer's own ticket. */
const TICKETS = 2 ** 32;

export type Operation = Request['op'];

export interface MemoryLoopOptions {
  readonly plan: CoordinatorPlan;
  readonly progress: SharedArrayBuffer;
  readonly clock: TestClock;
  /** Whether the answer to this operation is lost on its way; the request has been decided. */
  losesAnswer(op: Operation): boolean;
  durable(seq: number): void;
}

export class MemoryLoop {
  readonly #options: MemoryLoopOptions;
  readonly #progress: Progress;
  readonly #peers: Peer[] = [];
  readonly #asked = new Map<number, Operation>();
  #mailbox: Mailbox;
  #consumer: Consumer;
  #log = new MemoryLog();
  #loop: Coordinator;
  #isUp = false;

  constructor(options: MemoryLoopOptions) {
    this.#options = options;
    this.#progress = new Progress(options.progress);
    this.#mailbox = createMailbox(options.plan.mailbox);
    this.#consumer = this.#newConsumer();
    this.#loop = this.#newLoop();
  }

  get log(): MemoryLog {
    return this.#log;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Replays what the log holds, and takes requests from then on. */
  async start(): Promise<void> {
    await this.#loop.start();
    this.#isUp = true;
    this.#take();
  }

  connect(name: string): MailboxEnd {
    const { producer, consumer } = this.#mailbox.connect(name);
    this.#peers.push(this.#consumer.add(consumer));
    return producer;
  }

  /** As by kill -9: nothing more is answered, and what was not flushed is gone. */
  async crash(): Promise<void> {
    this.#isUp = false;
    this.#progress.phase = 'down';
    this.#consumer.close();
    await this.#log.close();
  }

  /** Another process on the same log; whoever wants to ask it must connect anew. */
  async restart(): Promise<void> {
    this.#log = new MemoryLog({ store: this.#log.store });
    this.#peers.length = 0;
    this.#asked.clear();
    this.#mailbox = createMailbox(this.#options.plan.mailbox);
    this.#consumer = this.#newConsumer();
    this.#loop = this.#newLoop();
    await this.start();
  }

  async stop(): Promise<void> {
    if (!this.#isUp) return;
    this.#take();
    await this.#loop.stop();
    this.#isUp = false;
    this.#consumer.close();
    await this.#log.close();
  }

  /** Lets time pass, stopping wherever a lease runs out or a task becomes eligible. */
  async passTo(ms: number): Promise<void> {
    const { clock } = this.#options;
    while (this.#isUp && clock.passedMs < ms) {
      clock.passedMs = Math.min(ms, this.#nextEvent());
      await this.#tick();
    }
    clock.passedMs = Math.max(ms, clock.passedMs);
    if (this.#isUp) await this.#tick();
  }

  /** When the lease ends by time, in ms since the start; undefined: it is not held any more. */
  endOf(leaseId: number): number | undefined {
    const lease = this.#loop.view.state.leases.get(leaseId);
    return lease === undefined ? undefined : this.#sinceStart(lease.expiry);
  }

  #sinceStart(at: number): number {
    const { clock } = this.#options;
    return at - (clock.now() - clock.passedMs);
  }

  /** In ms since the start, and later than now. */
  #nextEvent(): number {
    const { state } = this.#loop.view;
    const times = [state.leases.firstToExpire()?.expiry];
    for (const queue of state.contracts.queues.values()) {
      times.push(queue.nextEligibleAt(state.tasks));
    }
    const { passedMs } = this.#options.clock;
    return times
      .map((at) => (at === undefined ? Number.POSITIVE_INFINITY : this.#sinceStart(at)))
      .reduce((next, at) => (at > passedMs ? Math.min(next, at) : next), Number.POSITIVE_INFINITY);
  }

  async #tick(): Promise<void> {
    let before: number;
    do {
      before = this.#loop.view.state.lastSeq;
      this.#loop.tick();
      this.#loop.flush();
      await this.#loop.settled();
    } while (this.#loop.view.state.lastSeq > before);
    this.#consumer.flushReplies();
  }

  #take(): void {
    if (!this.#isUp) return;
    this.#consumer.drain(EVERYTHING, EVERYTHING, this.#sink);
    while (this.#loop.proceed());
    this.#loop.flush();
    this.#consumer.flushReplies();
  }

  readonly #sink: MailboxSink = {
    take: (peer, ticket, kind, message) => {
      const own = this.#peers.indexOf(peer) * TICKETS + ticket;
      if (kind === 'withdraw') this.#loop.withdraw(own);
      else if (kind === 'hasten') this.#loop.hurry(own);
      else {
        const request = decodeRequest(Uint8Array.from(viewOf(message)));
        this.#asked.set(own, request.op);
        this.#loop.take(own, request);
      }
    },
    gone: (peer) => {
      const place = this.#peers.indexOf(peer);
      this.#loop.withdrawWhere((ticket) => Math.floor(ticket / TICKETS) === place);
    },
  };

  #newConsumer(): Consumer {
    return new Consumer(() => this.#take());
  }

  #newLoop(): Coordinator {
    const { clock, plan } = this.#options;
    return new Coordinator({
      log: this.#log,
      knobs: plan.data.core,
      clock: { wall: () => clock.now(), monotonic: () => clock.passedMs },
      digestText: (text) => digestOf(createHash('sha256').update(text).digest()),
      acceptClock: true,
      events: this.#events(),
    });
  }

  #events(): CoordinatorEvents {
    return {
      answer: (ticket, response) => {
        const op = this.#asked.get(ticket);
        this.#asked.delete(ticket);
        const peer = this.#peers[Math.floor(ticket / TICKETS)];
        if (peer === undefined || op === undefined || this.#options.losesAnswer(op)) return;
        this.#consumer.replyBy(peer, ticket % TICKETS, writeAnswer, response);
      },
      durable: (seq) => {
        this.#progress.durable = seq;
        this.#consumer.flushReplies();
        this.#options.durable(seq);
      },
      // What was decided behind a group waits for nothing but its end.
      groupEnded: () => this.#loop.flush(),
      mode: (mode) => {
        this.#progress.phase = PHASE_OF[mode];
        this.#progress.epoch = this.#loop.view.state.epoch;
      },
      removed: () => {},
      stopped: () => {},
      fatal: (error) => {
        if (this.#isUp) throw error;
      },
    };
  }
}
