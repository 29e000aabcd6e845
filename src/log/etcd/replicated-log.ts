// Owns the log of several machines as the rest of the program sees it: etcd decides (tail.ts), and
// the log on this machine's disk mirrors it (mirror.ts) and answers all reads. An append is durable
// when etcd and the mirror have flushed it; the mirror is given nothing that etcd does not have.
//
// A node that follows another one's log uses `catchUp` and `follow`. It becomes the writer by
// `start`, on the condition that nobody has written since it caught up. A node that tried and lost
// makes another ReplicatedLog, with another writer, over the same mirror, and follows on.

import { invariant } from '../../model/assert.ts';
import type { CoordinatorStarted, LogRecord } from '../../model/records.ts';
import { AppendLine, assertContiguous } from '../append-line.ts';
import {
  type Appended,
  type AppendResult,
  type DroppedSet,
  type Log,
  type LogBytes,
  LogError,
  type SealedSegment,
} from '../log.ts';
import { catchUp } from './catch-up.ts';
import { type Etcd, EtcdError, type WatchEvent } from './etcd.ts';
import { Following } from './following.ts';
import type { Head } from './head.ts';
import { type Feed, Mirror, type MirrorLog } from './mirror.ts';
import { StandingBack } from './standing-back.ts';
import { Tail } from './tail.ts';
import type { TailOptions } from './tail-options.ts';

export interface ReplicatedLogOptions extends TailOptions {
  readonly etcd: Pick<Etcd, 'range' | 'txn'>;
  /** Opened, and closed by `close`. Nobody else writes to it meanwhile. */
  readonly mirror: MirrorLog;
}

/** A log that has caught up. @throws as `catchUp` */
export async function openReplicatedLog(options: ReplicatedLogOptions): Promise<ReplicatedLog> {
  const log = new ReplicatedLog(options);
  await log.catchUp();
  return log;
}

export class ReplicatedLog implements Log {
  private readonly options: ReplicatedLogOptions;
  private readonly line = new AppendLine();
  private readonly tail: Tail;
  private readonly mirror: Mirror;
  private readonly following: Following;
  private readonly closing = new AbortController();
  private readonly standingBack: StandingBack;

  constructor(options: ReplicatedLogOptions) {
    this.options = options;
    this.tail = new Tail(options, this.closing.signal);
    this.mirror = new Mirror(options.mirror);
    this.following = new Following(options.keys, this.tail, this.mirror);
    this.standingBack = new StandingBack(options.time, this.closing.signal);
  }

  get lastNumber(): number {
    return this.mirror.log.lastNumber;
  }

  get dropped(): DroppedSet {
    return this.mirror.log.dropped;
  }

  /** Why the newest group was not taken, in words; undefined: it was, or nobody knows. */
  get trouble(): string | undefined {
    return this.tail.trouble ?? this.mirror.log.trouble;
  }

  /** The log was refused because etcd was set back, and `trouble` says so. */
  get isSetBack(): boolean {
    return this.tail.isSetBack;
  }

  /** Head as this process last knew it. */
  get head(): Head {
    return this.tail.known.head;
  }

  /** The newest record that etcd was seen to hold; undefined: etcd was not looked at yet. */
  get endSeen(): number | undefined {
    return this.tail.endSeen;
  }

  get(seq: number): LogRecord | undefined {
    return this.mirror.log.get(seq);
  }

  skippedBefore(seq: number): number {
    return this.mirror.log.skippedBefore(seq);
  }

  read(from: number, to?: number): Iterable<LogRecord> {
    return this.mirror.log.read(from, to);
  }

  bytes(): LogBytes {
    return this.mirror.log.bytes();
  }

  sealed(): readonly SealedSegment[] {
    return this.mirror.log.sealed();
  }

  rewrite(
    segment: SealedSegment,
    keep: (record: LogRecord) => boolean,
    signal?: AbortSignal,
  ): Promise<number> {
    return this.mirror.log.rewrite(segment, keep, signal);
  }

  merge(signal?: AbortSignal): Promise<SealedSegment | undefined> {
    return this.mirror.log.merge(signal);
  }

  /**
   * Brings the mirror to where the log in etcd ends.
   * @param feed told of each record that came, in order
   * @returns the revision of etcd at which nothing was missing: a watch goes on with the next one
   * @throws EtcdError when etcd does not answer; LogCorrupt; LogError LOG_SET_BACK, LOG_BEHIND,
   *   LOG_STORE, LOG_IO
   */
  catchUp(feed: Feed = () => {}): Promise<number> {
    const giveUpAt = this.options.time.monotonic() + this.options.stallMs;
    return this.caughtUp(feed, giveUpAt);
  }

  /**
   * Takes what a watch showed of the keys of this log, in order, from the revision after `catchUp`.
   * @returns 'followed', or 'behind' when the events lack something: `catchUp` reads it
   * @throws LogError LOG_SET_BACK, LOG_STORE, LOG_IO; LogCorrupt
   */
  follow(events: readonly WatchEvent[], feed: Feed = () => {}): Promise<'followed' | 'behind'> {
    return this.following.take(events, feed);
  }

  async start(record: CoordinatorStarted): Promise<AppendResult> {
    return this.line.run(async () => {
      const { last, gap } = this.tail.known.head;
      const expected = last + 1 + (gap ?? 0);
      invariant(
        gap === undefined ? record.seq >= expected : record.seq === expected,
        `the log goes on with record ${expected}, not with ${record.seq}`,
      );
      const agreed = await this.tail.append([record], record.seq);
      return agreed === 'durable' ? this.mirror.start(record) : agreed;
    });
  }

  append(records: readonly LogRecord[]): Appended {
    const first = assertContiguous(records);
    return this.line.run(async () => {
      const { last, epoch } = this.tail.known.head;
      invariant(this.tail.isWriter, 'only a writer that has started may append');
      invariant(first === last + 1, 'record', first, 'does not follow record', last);
      const asked = await this.standingBack.over(() => this.tail.confirm());
      if (asked === 'fenced') return asked;
      const agreed = await this.tail.append(records, epoch);
      return agreed === 'durable' ? this.mirror.append(records) : agreed;
    });
  }

  confirm(): Promise<AppendResult> {
    return this.line.confirm(() => this.tail.confirm());
  }

  /** For so long no group is sent, so that another node can begin to lead. */
  standBack(ms: number): void {
    this.standingBack.begin(ms);
  }

  /** Goes on until etcd has answered, or until `close`. */
  async reopen(): Promise<void> {
    await this.line.idle();
    if (this.line.fenced) throw this.fenced();
    await this.mirror.log.reopen();
    const wasWriter = this.tail.isWriter;
    try {
      const settled = await this.tail.settle();
      if (settled === 'settled') await this.caughtUp(() => {}, Number.POSITIVE_INFINITY);
      const isDeposed = wasWriter && !this.tail.isWriter;
      if (settled === 'fenced' || isDeposed) this.line.deposed();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      throw new LogError('LOG_IO', `etcd does not answer: ${error.message}`, { cause: error });
    }
    if (this.line.fenced) throw this.fenced();
    this.line.reopened();
  }

  /** Waits for no answer of etcd any more: what is under way is not known to have happened. */
  abandon(): void {
    this.closing.abort();
  }

  async close(): Promise<void> {
    this.abandon();
    await this.line.idle();
    await this.mirror.log.close();
  }

  private caughtUp(feed: Feed, giveUpAt: number): Promise<number> {
    const { etcd, keys, time } = this.options;
    const { tail, mirror } = this;
    const repeating = { time, giveUpAt, signal: this.closing.signal };
    return catchUp({ etcd, keys, tail, mirror }, repeating, feed);
  }

  private fenced(): LogError {
    return new LogError('LOG_FENCED', this.tail.trouble ?? 'another node has the log');
  }
}
