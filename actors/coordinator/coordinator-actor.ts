// Owns the mailbox and the clock around src/loop/coordinator.ts. It takes requests out of the
// mailbox, hands them to the loop, and sends the answers back; it decides nothing.

import { createHash } from 'node:crypto';
import { digestOf } from '../../src/core/digest-index.ts';
import { Coordinator } from '../../src/loop/coordinator.ts';
import type { CoordinatorEvents } from '../../src/loop/loop-options.ts';
import { Consumer, type MailboxSink, type Peer } from '../../src/mailbox/consumer.ts';
import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';
import { writeAnswer } from '../../src/protocol/answer-frame.ts';
import { decodeRequest } from '../../src/protocol/request-codec.ts';
import { clock } from '../shared/clock.ts';
import type { CoordinatorData, FromCoordinator } from '../shared/control.ts';
import type { LagWatch } from '../shared/event-loop-lag.ts';
import { PHASE_OF, type Progress } from '../shared/progress.ts';
import { BetweenTicks, waitsForTime } from './between-ticks.ts';
import { GroupWait, sleepSlice } from './group-wait.ts';
import { Notices, sightOf } from './notices.ts';
import type { Lead, Store } from './store.ts';

/** While a group is in flight so much may gather; then the mailbox holds what comes. */
const GATHERED_MAX = 4_096;
const GATHERED_MAX_BYTES = 16 * 1024 * 1024;
const DRAIN_MESSAGES = 1_024;
const DRAIN_BYTES = 8 * 1024 * 1024;
/** So long a stop waits for what is under way; the process is ended after 4.5 s. */
const ABANDON_MS = 1_500;
/** A ticket of the loop is its producer's place here times this, plus the producer's own ticket. */
const TICKETS = 2 ** 32;
const NOTHING = new Uint8Array(0);

/** What the thread gives to the actor in it. */
export interface ActorSeams {
  readonly data: CoordinatorData;
  readonly progress: Progress;
  readonly lag: LagWatch;
  say(message: FromCoordinator): void;
  die(error: unknown): never;
}

export class CoordinatorActor {
  private readonly peers: Peer[] = [];
  private readonly places = new Map<Peer, number>();
  private readonly consumer = new Consumer(() => this.pumpNext());
  private readonly loop: Coordinator;
  private readonly store: Store;
  private readonly seams: ActorSeams;
  private readonly notices = new Notices();
  private readonly betweenTicks: BetweenTicks;
  private readonly groupWait = new GroupWait(clock.monotonic);
  private running = false;
  private held = false;
  private willPump = false;

  constructor(store: Store, lead: Lead, seams: ActorSeams) {
    const { log, archive } = store;
    const { data, progress } = seams;
    this.store = store;
    this.seams = seams;
    this.betweenTicks = new BetweenTicks({
      tickMs: data.tickMs,
      isWanted: () => this.running && waitsForTime(this.loop.view),
      look: () =>
        this.guarded(() => {
          this.loop.tick();
          this.consumer.flushReplies();
          if (this.loop.view.isFlushDue) this.pumpNext();
        }),
    });
    this.loop = new Coordinator({
      ...lead,
      log,
      archive,
      knobs: data.core,
      clock,
      digestText: (text) => digestOf(createHash('sha256').update(text).digest()),
      acceptClock: data.acceptClock,
      onReplay: (records) => {
        progress.replay = { records, of: log.lastNumber };
      },
      events: this.events(),
      surroundings: () => this.surroundings(),
    });
  }

  attach(end: MailboxEnd): void {
    const peer = this.consumer.add(end);
    this.places.set(peer, this.peers.length);
    this.peers.push(peer);
  }

  async start(): Promise<void> {
    const { progress, say } = this.seams;
    progress.phase = 'recovering';
    progress.replay = { records: 0, of: this.store.log.lastNumber };
    await this.loop.start();
    const { mode, replayMs, replayRecords, state } = this.loop.view;
    if (mode === 'ended') return;
    this.running = true;
    progress.replay = { records: replayRecords, of: replayRecords };
    this.store.leading(state.epoch, () => this.loop.view.clockOffsetMs + clock.wall());
    say({ kind: 'ready', replayMs, replayRecords, epoch: state.epoch });
    this.pump();
  }

  /** Answers what is in the mailbox, flushes, closes. */
  async stop(): Promise<void> {
    while (this.running && this.consumer.drain(DRAIN_MESSAGES, DRAIN_BYTES, this.sink));
    this.running = false;
    const late = setTimeout(() => this.store.abandon(), ABANDON_MS);
    await this.loop.stop();
    clearTimeout(late);
    this.betweenTicks.stop();
    this.consumer.close();
    await this.store.close();
  }

  private pump(): void {
    if (!this.running) return;
    const more = this.gather();
    const isListing = this.guarded(() => this.loop.proceed());
    this.loop.flush();
    this.consumer.flushReplies();
    if ((more && !this.held) || isListing || this.loop.view.isFlushDue) this.pumpNext();
  }

  /** In a turn of its own: messages that have come meanwhile are taken before. */
  private pumpNext(): void {
    if (this.willPump) return;
    this.willPump = true;
    setImmediate(() => {
      this.willPump = false;
      this.pump();
    });
  }

  /** Takes messages. A group that could be committed waits for those who may ask again. */
  private gather(): boolean {
    let more = this.drain();
    while (!more && this.loop.view.isFlushDue && this.groupWait.isAwaited()) {
      // What rests on durable records alone, such as a read, does not wait for company.
      this.consumer.flushReplies();
      sleepSlice();
      more = this.drain();
    }
    return more;
  }

  /** Takes messages; while a group is in flight, only as many as may gather behind it. */
  private drain(): boolean {
    const { view } = this.loop;
    const isMuch = view.gatheredRecords >= GATHERED_MAX || view.gatheredBytes >= GATHERED_MAX_BYTES;
    this.held = view.isCommitting && isMuch;
    if (this.held) return true;
    const more = this.guarded(() => this.consumer.drain(DRAIN_MESSAGES, DRAIN_BYTES, this.sink));
    this.betweenTicks.begin();
    return more;
  }

  private guarded<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.seams.die(error);
    }
  }

  private readonly sink: MailboxSink = {
    take: (from, ticket, kind, message) => {
      if (from.exempt) {
        this.loop.tick();
        const { refused } = this.consumer;
        const sight = sightOf(this.loop.view, refused, clock.monotonic());
        this.notices.look(sight).forEach(this.seams.say);
        // The timer sends the next tick when this one is answered: they never pile up.
        this.consumer.reply(from, ticket, NOTHING);
        return;
      }
      if (kind === 'request' || kind === 'report') this.groupWait.came();
      const own = (this.places.get(from) as number) * TICKETS + ticket;
      if (kind === 'withdraw') this.loop.withdraw(own);
      else if (kind === 'hasten') this.loop.hurry(own);
      else this.loop.take(own, decodeRequest(message.bytes, message.from, message.to));
    },
    gone: (from) => {
      const place = this.places.get(from) as number;
      this.loop.withdrawWhere((ticket) => Math.floor(ticket / TICKETS) === place);
    },
  };

  private events(): CoordinatorEvents {
    const { data, progress, say, die } = this.seams;
    return {
      answer: (ticket, response) => {
        this.groupWait.answered();
        const peer = this.peers[Math.floor(ticket / TICKETS)] as Peer;
        this.consumer.replyBy(peer, ticket % TICKETS, writeAnswer, response);
      },
      durable: (seq) => {
        progress.durable = seq;
        // Two threads wake for this message: it is sent only where it is waited for.
        if (progress.awaited) say({ kind: 'durable', seq });
        this.consumer.flushReplies();
        // The next commit includes the requests that arrived while this one was flushed.
        if (!this.running) return;
        const wasHeld = this.held;
        const more = this.drain();
        this.groupWait.committed(this.loop.view.lastCommitMs);
        if (more || wasHeld) this.pumpNext();
      },
      // The next group begins. The mailbox is taken from again, also after a group that failed.
      groupEnded: () => {
        if (this.held || this.loop.view.isFlushDue) this.pumpNext();
      },
      mode: (mode) => {
        progress.phase = PHASE_OF[mode];
        const { lastSeq, epoch } = this.loop.view.state;
        progress.epoch = epoch;
        this.betweenTicks.begin();
        // Reads waited for this mode. Each turn looks at a part of a long list among them.
        this.pumpNext();
        // Between its start and its first request a coordinator writes expiries only.
        const expired_overdue = mode === 'serving' ? lastSeq - epoch : undefined;
        const fields = { last_sequence: lastSeq, expired_overdue };
        const { trouble: why, confirm } = this.store.log;
        const place = { dataDir: data.dataDir, why, isShared: confirm !== undefined };
        this.notices.entered(mode, clock.monotonic(), fields, place).forEach(say);
      },
      removed: (segment, records) => {
        const { first, last } = segment;
        const msg = 'forgotten history was removed from a segment';
        say({ kind: 'log', level: 'info', msg, first, last, records });
      },
      stopped: (error) => {
        const msg = 'removing forgotten history stopped; it is tried again';
        say({ kind: 'log', level: 'error', msg, why: error.message });
      },
      fatal: (error) => {
        if (this.store.ending(error).told !== undefined) die(error);
      },
    };
  }

  private surroundings(): Record<string, unknown> {
    return {
      mailbox: { ...this.consumer.depth(), refused: this.consumer.refused },
      event_loop_lag_ms: this.seams.lag.figures().eventLoopLagMs,
    };
  }
}
