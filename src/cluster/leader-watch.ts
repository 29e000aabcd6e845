// Owns what a node that follows knows of the leader: it hears the beats, and notices when they stay
// away. A watch that hears nothing may be broken without a word, so silence counts only after etcd
// was asked; and time during which etcd did not answer says nothing about the leader.

import { type Etcd, type KeyValue, RECONNECT_LATE_MS, type Watch } from '../log/etcd/etcd.ts';
import { type Beat, decodeBeat } from './beat.ts';
import type { Time } from './time.ts';

export interface LeaderWatchOptions {
  readonly etcd: Pick<Etcd, 'range' | 'watch'>;
  /** The key `leader`. */
  readonly key: string;
  readonly time: Time;
  readonly beatMs: number;
  /** So long no beat may come before another node tries to lead. */
  readonly silenceMs: number;
  /** A beat that the watch delivered; those that a read finds may be old. */
  heard(beat: Beat, revision: number): void;
  /** The key was removed: no node leads, or the one that does was asked to leave. */
  gone(): void;
}

/** When etcd answers again, the leader gets so many beats' time to be heard. */
const GRACE_BEATS = 3;
/** And at least so many after it has reached etcd, which it may do later than this node. */
const GRACE_BEATS_REACHED = 2;

export class LeaderWatch {
  /** Whoever leads, or is about to. */
  beat: Beat | undefined;
  private readonly options: LeaderWatchOptions;
  /** Of the key's newest value; 0: there is no key. */
  private revision = 0;
  private heardAt: number;
  /** Since when etcd has answered each question; undefined: it did not answer the last one. */
  private answeringSince: number | undefined;
  private watch: Watch | undefined;
  private wake = (): void => {};
  private isClosed = false;

  constructor(options: LeaderWatchOptions) {
    this.options = options;
    this.heardAt = options.time.monotonic();
  }

  close(): void {
    this.isClosed = true;
    this.watch?.close();
    this.watch = undefined;
    this.wake();
  }

  /** The silence counts from now: for something else explains it. */
  countAnew(): void {
    this.heardAt = this.options.time.monotonic();
  }

  /** Resolves when the leader's key changes, after a beat's time at the latest. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isClosed) return resolve();
      const done = (): void => {
        takeBack();
        this.wake = () => {};
        resolve();
      };
      const takeBack = this.options.time.after(this.options.beatMs, done);
      this.wake = done;
    });
  }

  /**
   * @returns the revision of the key on which a claim to lead must rest, 0 when there is no key;
   *   undefined: a node leads, or that cannot be known now
   */
  async vacantAt(): Promise<number | undefined> {
    const { time, beatMs, silenceMs } = this.options;
    const isFresh = this.beat !== undefined && time.monotonic() - this.heardAt < 2 * beatMs;
    if (this.watch !== undefined && isFresh) return undefined;
    if (!(await this.ask())) return undefined;
    if (this.revision === 0) return 0;
    const now = time.monotonic();
    const since = this.answeringSince ?? now;
    const reachedMs = RECONNECT_LATE_MS + GRACE_BEATS_REACHED * beatMs;
    const graceMs = Math.max(GRACE_BEATS * beatMs, reachedMs);
    const isSilent = now - this.heardAt >= silenceMs && now - since >= graceMs;
    return isSilent ? this.revision : undefined;
  }

  /** @returns whether etcd answered. */
  private async ask(): Promise<boolean> {
    const { etcd, key, time } = this.options;
    try {
      const { kvs, revision } = await etcd.range(key, undefined);
      if (this.isClosed) return false;
      this.answeringSince ??= time.monotonic();
      const isNews = this.noticed(kvs[0]);
      // A watch that has not told this is slow or broken; a new one costs nothing.
      if (isNews || this.watch === undefined) this.listen(revision + 1);
      return true;
    } catch {
      this.answeringSince = undefined;
      return false;
    }
  }

  private listen(fromRevision: number): void {
    const { etcd, key, heard, gone } = this.options;
    this.watch?.close();
    const watch = etcd.watch(key, fromRevision, {
      events: (events) => {
        if (this.watch !== watch) return;
        for (const event of events) {
          const isNews = this.noticed(event.type === 'put' ? event.kv : undefined);
          if (isNews && this.beat !== undefined) heard(this.beat, this.revision);
          if (event.type === 'remove') gone();
        }
        if (events.length > 0) this.wake();
      },
      ended: () => {
        if (this.watch === watch) this.watch = undefined;
      },
    });
    this.watch = watch;
  }

  /** @returns whether the key has changed. */
  private noticed(kv: KeyValue | undefined): boolean {
    const revision = kv?.modRevision ?? 0;
    if (revision === this.revision) return false;
    this.revision = revision;
    this.beat = kv === undefined ? undefined : readable(kv);
    this.heardAt = this.options.time.monotonic();
    this.answeringSince ??= this.heardAt;
    return true;
  }
}

/** A value that this build cannot read is a sign of life without a name. */
function readable({ value }: KeyValue): Beat | undefined {
  try {
    return decodeBeat(value);
  } catch {
    return undefined;
  }
}
