// Owns what a coordinator's thread needs of a log, whichever it is: the log itself, when it may be
// written, and what the end of the thread means.

import type { LmdbArchive } from '../../src/log/archive.ts';
import type { OnCommit } from '../../src/log/lmdb-writer.ts';
import type { Log } from '../../src/log/log.ts';
import type { CoordinatorOptions } from '../../src/loop/loop-options.ts';
import type { CoordinatorData, CoordinatorFatal, FromCoordinator } from '../shared/control.ts';
import type { Progress } from '../shared/progress.ts';

export type StoredLog = Log & {
  /** Whether this opening made the log. */
  readonly created: boolean;
  /** Why the newest group was not taken, in words; undefined: it was, or nobody knows. */
  readonly trouble: string | undefined;
};

/** What the loop is given when it may begin. */
export type Lead = Pick<CoordinatorOptions, 'prepared' | 'inherited' | 'skip' | 'noRoom'>;

export interface Store {
  readonly log: StoredLog;
  readonly archive: LmdbArchive | undefined;
  /** Resolves when this process may become the writer; undefined: the signal aborted before. */
  lead(): Promise<Lead | undefined>;
  /** Requests are decided from now on. @param now coordinator time */
  leading(epoch: number, now: () => number): void;
  /** What the error that ends this thread means to whoever runs the process. */
  ending(error: unknown): Ending;
  /** The process stops and cannot wait any longer for what is under way in the store. */
  abandon(): void;
  /** After the loop. */
  close(): Promise<void>;
}

export interface Ending extends Pick<CoordinatorFatal, 'followsAgain'> {
  /** Undefined: the process stops anyway, and nothing is wrong with this one. */
  readonly told: unknown;
}

/** What a store needs of the thread around it. */
export interface StoreSeams {
  readonly data: CoordinatorData;
  readonly progress: Progress;
  readonly onCommit: OnCommit;
  say(message: FromCoordinator): void;
  /** Ends this thread with the error. */
  die(error: unknown): never;
  /** Aborts when the process stops. */
  readonly signal: AbortSignal;
}
