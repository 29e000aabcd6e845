// Owns the log on the device as the rest of the program sees it: opened under a lock, kept to the
// promise of log.ts, reopened after a failure. The directory is DATA-DIR/log, a chain of segments
// (segments/segments.ts, lmdb-writer.ts). How LMDB itself has to be handled is in lmdb/env.ts.

import { invariant } from '../model/assert.ts';
import { errnoText } from '../model/errno-text.ts';
import type { CoordinatorStarted, LogRecord } from '../model/records.ts';
import { AppendLine, assertContiguous } from './append-line.ts';
import { dataFile } from './lmdb/env-files.ts';
import { createSegment, LmdbWriter, type OnCommit } from './lmdb-writer.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import {
  type Appended,
  type AppendResult,
  type DroppedSet,
  type Log,
  type LogBytes,
  LogCorrupt,
  LogError,
  type SealedSegment,
} from './log.ts';
import type { Segment } from './segments/chain.ts';
import { smallNeighbours } from './segments/neighbours.ts';
import { type Rewritten, rewriteSegments } from './segments/rewrite.ts';
import {
  isArchive,
  listSegments,
  prepareDirectory,
  removeLeftovers,
  removeSegment,
  syncPath,
} from './segments/segment-files.ts';
import { Segments } from './segments/segments.ts';
import { orHangs } from './stalls.ts';

export interface LmdbLogOptions {
  readonly dataDir: string;
  /** A segment that is over this is sealed before the next group. Default 64 MiB. */
  readonly segmentBytes?: number;
  /** So long one waits for the device where one can: a commit takes as long as it takes. */
  readonly stallMs?: number;
  readonly onCommit?: OnCommit;
  /** False only where a test wants two writers that do not see each other. */
  readonly lock?: boolean;
}

const SEGMENT_BYTES = 64 * 1024 * 1024;
const STALL_MS = 10_000;

interface Place {
  readonly dataDir: string;
  readonly logDir: string;
  readonly created: boolean;
  readonly lock: DirectoryLock | undefined;
}

/**
 * Locks the directory, makes it and a first segment where there is none, and looks at the chain of
 * segments. Nothing of an existing log is changed before `start`.
 * @throws LogError LOG_LOCKED, LOG_DIRECTORY, LOG_IO; LogCorrupt.
 */
export async function openLmdbLog(options: LmdbLogOptions): Promise<LmdbLog> {
  const stallMs = options.stallMs ?? STALL_MS;
  const preparing = prepareDirectory(options.dataDir);
  const { dataDir, logDir } = await orHangs(preparing, stallMs, options.dataDir);
  if (isArchive(dataDir)) {
    const how = `copy it with \`leasehold backup --data-dir ${dataDir} NEWDIR\` and start on that`;
    throw new LogError('LOG_DIRECTORY', `${dataDir} is an archive; ${how}`);
  }
  const lock = options.lock === false ? undefined : await lockDirectory(dataDir);
  try {
    const created = listSegments(logDir).length === 0;
    if (created) await orHangs(createSegment(logDir, 1), stallMs, logDir);
    return new LmdbLog({ dataDir, logDir, created, lock }, options);
  } catch (error) {
    await lock?.release();
    if (error instanceof LogError || error instanceof LogCorrupt) throw error;
    throw new LogError('LOG_IO', `cannot open the log in ${dataDir}: ${errnoText(error)}`, {
      cause: error,
    });
  }
}

export class LmdbLog implements Log {
  readonly dataDir: string;
  /** Whether this opening made the log. */
  readonly created: boolean;
  private readonly place: Place;
  private readonly segmentBytes: number;
  private readonly stallMs: number;
  private readonly onCommit: OnCommit;
  private readonly line = new AppendLine();
  private segments: Segments;
  private writer: LmdbWriter;
  private lastTrouble: string | undefined;

  constructor(place: Place, options: LmdbLogOptions) {
    this.place = place;
    this.dataDir = place.dataDir;
    this.created = place.created;
    this.segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.stallMs = options.stallMs ?? STALL_MS;
    this.onCommit = options.onCommit ?? (() => {});
    this.segments = new Segments(place.logDir);
    this.writer = this.writerOf(this.segments);
  }

  get lastNumber(): number {
    return this.segments.lastNumber;
  }

  /** Why the newest group was not taken, in words; undefined: it was, or nobody knows. */
  get trouble(): string | undefined {
    return this.lastTrouble;
  }

  get dropped(): DroppedSet {
    return this.segments.dropped;
  }

  removedAt(from: number, to: number): number {
    return this.segments.removedAt(from, to);
  }

  get(seq: number): LogRecord | undefined {
    const { live, dropped } = this.segments;
    const inLive = seq >= live.first && seq <= live.last && !dropped.has(seq);
    return (inLive ? this.writer.get(seq) : undefined) ?? this.segments.get(seq);
  }

  skippedBefore(seq: number): number {
    return this.segments.skippedBefore(seq);
  }

  read(from: number, to?: number): Iterable<LogRecord> {
    return this.segments.read(from, to);
  }

  bytes(): LogBytes {
    return { total: this.segments.totalBytes };
  }

  async start(record: CoordinatorStarted): Promise<AppendResult> {
    const result = await this.line.run(() => this.write(this.lastNumber + 1, [record]));
    if (result === 'durable') removeLeftovers(this.place.logDir, this.segments.counting);
    return result;
  }

  append(records: readonly LogRecord[]): Appended {
    const first = assertContiguous(records);
    return this.line.run(() =>
      after(this.write(first, records), (result) => {
        if (result === 'durable') this.writer.prepareAhead();
      }),
    );
  }

  sealed(): readonly SealedSegment[] {
    return this.segments.list.filter(({ seal }) => seal !== undefined);
  }

  async rewrite(
    { first }: SealedSegment,
    keep: (record: LogRecord) => boolean,
    signal?: AbortSignal,
  ): Promise<number> {
    const old = this.segments.list.find((segment) => segment.first === first);
    invariant(old?.seal !== undefined, 'no sealed segment begins with record', first);
    return (await this.replace([old], keep, signal))?.removed ?? 0;
  }

  async merge(signal?: AbortSignal): Promise<SealedSegment | undefined> {
    const small = smallNeighbours(this.segments.list, this.segmentBytes / 2);
    if (small === undefined) return undefined;
    return (await this.replace(small, () => true, signal))?.segment;
  }

  async reopen(): Promise<void> {
    await this.line.idle();
    if (this.line.fenced) throw new LogError('LOG_FENCED', 'another writer has the log');
    await this.leave();
    // The records that we read next count as what happened, so a power cut must not lose them.
    await flushed(dataFile(this.segments.live.path), this.stallMs);
    this.segments = new Segments(this.place.logDir);
    this.writer = this.writerOf(this.segments);
    this.line.reopened();
  }

  async close(): Promise<void> {
    await this.line.idle();
    await this.leave();
    await this.place.lock?.release();
  }

  private write(free: number, records: readonly LogRecord[]): Appended {
    return after(this.writer.write(free, records), () => {
      // The writer is another one after `reopen`.
      this.lastTrouble = this.writer.trouble;
    });
  }

  private async replace(
    old: readonly Segment[],
    keep: (record: LogRecord) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<Rewritten | undefined> {
    const done = await rewriteSegments(this.segments, old, keep, signal);
    if (done === undefined) return undefined;
    this.segments.replace(done.segment);
    for (const segment of old) removeSegment(segment);
    return done;
  }

  private writerOf(segments: Segments): LmdbWriter {
    return new LmdbWriter(segments, this.segmentBytes, this.stallMs, this.onCommit);
  }

  private async leave(): Promise<void> {
    this.segments.close();
    await this.writer.close();
  }
}

/** The same result, when something was done with it; at once where it is there at once. */
function after(appended: Appended, act: (result: AppendResult) => void): Appended {
  const acted = (result: AppendResult): AppendResult => {
    act(result);
    return result;
  };
  return appended instanceof Promise ? appended.then(acted) : acted(appended);
}

/** @throws LogError LOG_IO: nobody can say what of the file is on the device then. */
async function flushed(file: string, stallMs: number): Promise<void> {
  try {
    await orHangs(syncPath(file), stallMs, file);
  } catch (error) {
    if (error instanceof LogError) throw error;
    const why = `${errnoText(error)}; a new start reads what is there`;
    throw new LogError('LOG_IO', `cannot flush ${file}: ${why}`, { cause: error });
  }
}
