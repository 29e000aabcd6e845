// Owns the coordinator's thread: a port, a clock and a log around src/loop/coordinator.ts. It takes
// requests out of the mailbox, hands them to the loop, and sends the answers back; it decides
// nothing. It ends by itself only after saying why, and is never terminated from outside, because
// ending a thread that writes LMDB ends the process.

import { createHash } from 'node:crypto';
import { workerData } from 'node:worker_threads';
import { digestOf } from '../../src/core/digest-index.ts';
import { type LmdbArchive, openArchive } from '../../src/log/archive.ts';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import { Coordinator } from '../../src/loop/coordinator.ts';
import type { CoordinatorEvents } from '../../src/loop/loop-options.ts';
import { Consumer, type MailboxSink, type Peer } from '../../src/mailbox/consumer.ts';
import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';
import { headOf } from '../../src/protocol/answer-frame.ts';
import { format } from '../../src/protocol/format.ts';
import { decodeRequest } from '../../src/protocol/request-codec.ts';
import { clock } from '../shared/clock.ts';
import type { CoordinatorData, FromCoordinator, ToCoordinator } from '../shared/control.ts';
import { watchLag } from '../shared/event-loop-lag.ts';
import { PHASE_OF, Progress } from '../shared/progress.ts';
import { EarlyLook, waitsForTime } from './early-look.ts';
import { lastWords } from './last-words.ts';
import { Notices, sightOf } from './notices.ts';

/** While a group is in flight so much may gather; then the mailbox holds what comes. */
const GATHERED_MAX = 4_096;
const GATHERED_MAX_BYTES = 16 * 1024 * 1024;
const DRAIN_MESSAGES = 1_024;
const DRAIN_BYTES = 8 * 1024 * 1024;
/** A ticket of the loop is its producer's place here times this, plus the producer's own ticket. */
const TICKETS = 2 ** 32;
const data = workerData as CoordinatorData;
const progress = new Progress(data.progress);
const lag = watchLag('coordinator');
const say = (message: FromCoordinator): void => data.control.postMessage(message);

class CoordinatorActor {
  private readonly peers: Peer[] = [];
  private readonly places = new Map<Peer, number>();
  private readonly consumer = new Consumer(() => this.pumpNext());
  private readonly loop: Coordinator;
  private readonly log: LmdbLog;
  private readonly archive: LmdbArchive | undefined;
  private readonly notices = new Notices();
  private readonly early = new EarlyLook({
    tickMs: data.tickMs,
    isWanted: () => this.running && waitsForTime(this.loop.view),
    look: () =>
      this.guarded(() => {
        this.loop.tick();
        this.consumer.flushReplies();
        if (this.loop.view.isFlushDue) this.pumpNext();
      }),
  });
  private running = false;
  private held = false;
  private willPump = false;

  constructor(log: LmdbLog, archive: LmdbArchive | undefined) {
    this.log = log;
    this.archive = archive;
    this.loop = new Coordinator({
      log,
      archive,
      knobs: data.core,
      clock,
      digestText: (text) => digestOf(createHash('sha256').update(text).digest()),
      acceptClock: data.acceptClock,
      skip: data.skip,
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
    progress.phase = 'recovering';
    progress.replay = { records: 0, of: this.log.lastNumber };
    await this.loop.start();
    const { mode, replayMs, replayRecords, state } = this.loop.view;
    if (mode === 'ended') return;
    this.running = true;
    progress.replay = { records: replayRecords, of: replayRecords };
    say({ kind: 'ready', replayMs, replayRecords, epoch: state.epoch });
    this.pump();
  }

  /** Answers what is in the mailbox, flushes, closes. */
  async stop(): Promise<void> {
    while (this.running && this.consumer.drain(DRAIN_MESSAGES, DRAIN_BYTES, this.sink));
    this.running = false;
    await this.loop.stop();
    this.early.stop();
    this.consumer.close();
    await this.archive?.close();
    await this.log.close();
    say({ kind: 'stopped' });
    data.control.close();
    lag.stop();
  }

  private pump(): void {
    if (!this.running) return;
    const more = this.drain();
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

  /** Takes messages; while a group is in flight, only as many as may gather behind it. */
  private drain(): boolean {
    const { view } = this.loop;
    const isMuch = view.gatheredRecords >= GATHERED_MAX || view.gatheredBytes >= GATHERED_MAX_BYTES;
    this.held = view.isCommitting && isMuch;
    if (this.held) return true;
    const more = this.guarded(() => this.consumer.drain(DRAIN_MESSAGES, DRAIN_BYTES, this.sink));
    this.early.begin();
    return more;
  }

  private guarded<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      die(error);
    }
  }

  private readonly sink: MailboxSink = {
    take: (from, ticket, kind, message) => {
      if (from.exempt) {
        this.loop.tick();
        const { refused } = this.consumer;
        this.notices.look(sightOf(this.loop.view, refused, clock.monotonic())).forEach(say);
        // The timer sends the next tick when this one is answered: they never pile up.
        this.consumer.replyText(from, ticket, 0, '');
        return;
      }
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
    return {
      answer: (ticket, response) => {
        const peer = this.peers[Math.floor(ticket / TICKETS)] as Peer;
        this.consumer.replyText(peer, ticket % TICKETS, headOf(response), format(response));
      },
      durable: (seq) => {
        progress.durable = seq;
        // Two threads wake for this message: it is sent only where it is waited for.
        if (progress.awaited) say({ kind: 'durable', seq });
        this.consumer.flushReplies();
        // The next commit includes the requests that arrived while this one was flushed.
        if (!this.running) return;
        const wasHeld = this.held;
        if (this.drain() || wasHeld || this.loop.view.isFlushDue) this.pumpNext();
      },
      mode: (mode) => {
        progress.phase = PHASE_OF[mode];
        const { lastSeq, epoch } = this.loop.view.state;
        progress.epoch = epoch;
        this.early.begin();
        // Between its start and its first request a coordinator writes expiries only.
        const expired_overdue = mode === 'serving' ? lastSeq - epoch : undefined;
        const fields = { last_sequence: lastSeq, expired_overdue };
        const place = { dataDir: data.dataDir, why: this.log.trouble };
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
      fatal: die,
    };
  }

  private surroundings(): Record<string, unknown> {
    return {
      mailbox: { ...this.consumer.depth(), refused: this.consumer.refused },
      event_loop_lag_ms: lag.figures().eventLoopLagMs,
    };
  }
}

/** Reports the error and ends this thread; the supervisor decides what follows. */
function die(error: unknown): never {
  progress.phase = 'down';
  say(lastWords(error, data.dataDir));
  data.control.close();
  // Exits in a turn of its own, so that the message posted above leaves the thread first.
  setImmediate(() => process.exit(1));
  throw error;
}

try {
  const log = await openLmdbLog({
    dataDir: data.dataDir,
    segmentBytes: data.segmentBytes,
    onCommit: (isUnderWay) => {
      progress.committingSince = isUnderWay ? clock.monotonic() : 0;
    },
  });
  say({ kind: 'opened', created: log.created, records: log.lastNumber, path: data.dataDir });
  const { archiveDir, skip } = data;
  const how = { isRestored: skip > 0 };
  const archive = archiveDir ? await openArchive(archiveDir, log, how) : undefined;
  const actor = new CoordinatorActor(log, archive);
  for (const end of data.ends) actor.attach(end);
  data.control.on('message', (message: ToCoordinator) => {
    if (message.kind === 'attach') actor.attach(message.end);
    else void actor.stop().catch(die);
  });
  await actor.start();
} catch (error) {
  die(error);
}
