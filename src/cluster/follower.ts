// Owns following: what a watch shows of the log in etcd goes into this node's copy. Whatever the
// watch did not show is read by range. So a watch that missed something, was compacted, or is
// silent without a word costs time and never a record.

import { type Etcd, EtcdError, type Watch, type WatchEvent } from '../log/etcd/etcd.ts';
import { pause, type Time } from './time.ts';

/**
 * So long what a watch has shown waits for more, because one flush of the copy costs the same for
 * all of it. A node that begins to lead does not wait: it reads what it lacks.
 */
const GATHER_MS = 20;
/** More of what was shown is not kept for a copy that is slow: it is read later, in pages. */
const SHOWN_MAX_BYTES = 64 * 1024 * 1024;
/** What an event takes besides its key and value. */
const EVENT_BYTES = 256;

/** The copy of the log that this node keeps. */
export interface Copy {
  readonly lastNumber: number;
  /**
   * Copies all that etcd has beyond the copy's end, and flushes it.
   * @returns the revision of etcd at which nothing was missing
   * @throws EtcdError when it should be tried again; LogError, LogCorrupt when it cannot go on
   */
  catchUp(): Promise<number>;
  /** Takes what a watch showed; 'behind': something is missing. @throws LogError, LogCorrupt */
  follow(events: readonly WatchEvent[]): Promise<'followed' | 'behind'>;
}

export interface FollowerOptions {
  readonly etcd: Pick<Etcd, 'watch'>;
  /** The beginning of all keys of the cluster. */
  readonly prefix: string;
  readonly copy: Copy;
  readonly time: Time;
  /** Without a sign of the watch, etcd is asked after so long. */
  readonly pollMs: number;
  /** The copy holds all that there was a moment ago; or why it cannot be known, in words. */
  told(trouble: string | undefined): void;
}

export class Follower {
  private readonly options: FollowerOptions;
  private watch: Watch | undefined;
  private shown: WatchEvent[] = [];
  private shownBytes = 0;
  /** What was shown was more than is kept: something is missing that nobody shows any more. */
  private isCutOff = false;
  private wake = (): void => {};

  constructor(options: FollowerOptions) {
    this.options = options;
  }

  /** Goes on until the signal aborts. @throws LogError, LogCorrupt when this copy cannot go on */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.wake();
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        this.isCutOff = false;
        await this.once();
        if (!signal.aborted && !this.isCutOff) await this.more();
        if (this.shown.length > 0) await pause(this.options.time, GATHER_MS, signal);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.lookAway();
    }
  }

  private async once(): Promise<void> {
    try {
      if (!(await this.followed())) await this.catchUp();
      this.options.told(undefined);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      this.options.told(error.message);
    }
  }

  /** @returns whether the watch has shown all that there is. */
  private async followed(): Promise<boolean> {
    const events = this.shown;
    this.forget();
    if (this.watch === undefined || events.length === 0) return false;
    return (await this.options.copy.follow(events)) === 'followed';
  }

  private async catchUp(): Promise<void> {
    const { copy } = this.options;
    const before = copy.lastNumber;
    const revision = await copy.catchUp();
    // A watch that did not show what etcd has is slow or broken; a new one costs nothing.
    if (this.watch === undefined || copy.lastNumber !== before) this.listen(revision + 1);
  }

  private listen(fromRevision: number): void {
    const { etcd, prefix } = this.options;
    this.watch?.close();
    this.forget();
    const watch = etcd.watch(prefix, fromRevision, {
      events: (events) => {
        if (this.watch !== watch || events.length === 0) return;
        this.shown.push(...events);
        this.shownBytes += bytesIn(events);
        if (this.shownBytes > SHOWN_MAX_BYTES) {
          this.isCutOff = true;
          this.lookAway();
        }
        this.wake();
      },
      ended: () => {
        if (this.watch === watch) this.watch = undefined;
      },
    });
    this.watch = watch;
  }

  private lookAway(): void {
    this.watch?.close();
    this.watch = undefined;
    this.forget();
  }

  private forget(): void {
    this.shown = [];
    this.shownBytes = 0;
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      if (this.shown.length > 0) return resolve();
      const done = (): void => {
        takeBack();
        this.wake = () => {};
        resolve();
      };
      const takeBack = this.options.time.after(this.options.pollMs, done);
      this.wake = done;
    });
  }
}

const bytesIn = (events: readonly WatchEvent[]): number =>
  events.reduce((sum, event) => {
    const size = event.type === 'put' ? event.kv.key.length + event.kv.value.length : 0;
    return sum + EVENT_BYTES + size;
  }, 0);
