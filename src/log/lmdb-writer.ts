// Owns the end of the log on the device: appending a group, and going on in a new segment when the
// last one is full. One commit runs at a time; lmdb-log.ts keeps the commits in a line.
//
// A full segment ends in two commits. The first is the seal, which names the successor; it stands
// at the next number, so it is refused exactly when an append would be. The second is the group,
// in the successor. A crash between the two leaves a sealed segment and an empty successor, and
// the log goes on in the successor.

import { errnoText } from '../model/errno-text.ts';
import type { LogRecord } from '../model/records.ts';
import { checksumOf, encodeRecord } from './codec.ts';
import type { Entry } from './lmdb/env.ts';
import { Environment, type Written } from './lmdb/env.ts';
import type { Appended, AppendResult } from './log.ts';
import type { Segment } from './segments/chain.ts';
import { encodeMark, HEADER_KEY, type Header, type Seal, Tally } from './segments/marks.ts';
import { createWhole, fileBytes, segmentPath } from './segments/segment-files.ts';
import type { Segments } from './segments/segments.ts';
import { hangs, within } from './stalls.ts';

/** How full a segment is when its successor is made. */
const AHEAD = 0.75;
const RESULTS: Readonly<Record<Written, AppendResult>> = {
  written: 'durable',
  refused: 'fenced',
  failed: 'failed',
};

/** Told before a commit begins and when it is over: meanwhile its thread can tell nothing. */
export type OnCommit = (isUnderWay: boolean) => void;

export class LmdbWriter {
  private readonly segments: Segments;
  private readonly segmentBytes: number;
  private readonly stallMs: number;
  private readonly onCommit: OnCommit;
  /** Of the live segment, and of one sealed just now that is still being left. */
  private environment: Environment;
  private leaving: Promise<void> = Promise.resolve();
  /** Of the live segment; undefined until it is sealed when we did not see it from its start. */
  private tally: Tally | undefined;
  private preparing: Promise<boolean> | undefined;
  /** Why the successor could not be made, when the newest group needed it. */
  private failure: Error | undefined;
  /** Of the live segment's file when the newest group came. */
  private liveBytes = 0;

  constructor(segments: Segments, segmentBytes: number, stallMs: number, onCommit: OnCommit) {
    this.segments = segments;
    this.segmentBytes = segmentBytes;
    this.stallMs = stallMs;
    this.onCommit = onCommit;
    this.environment = new Environment(segments.live.path);
  }

  /** Why the newest group was not taken, in words; undefined: it was, or nobody knows. */
  get trouble(): string | undefined {
    const failure = this.failure ?? this.environment.failure;
    return failure === undefined ? undefined : errnoText(failure);
  }

  /** A record of the live segment. */
  get(seq: number): LogRecord | undefined {
    return this.environment.get(seq);
  }

  /** @param free the number that must not be taken: the group's first, or the first skipped. */
  write(free: number, records: readonly LogRecord[]): Appended {
    this.failure = undefined;
    const { live } = this.segments;
    // Looks at the file once for each group. Only this look notices that somebody has removed the
    // file: LMDB would go on writing into it, and all of those records would be lost.
    this.liveBytes = fileBytes(live.path);
    // An empty segment is never full: a group goes whole into one segment, however large it is.
    const isFull = this.liveBytes >= this.segmentBytes && live.last >= live.first;
    return isFull ? this.writeToNext(live, free, records) : RESULTS[this.commit(free, records)];
  }

  /** Makes the successor ahead of need, so that no group has to wait for it. */
  prepareAhead(): void {
    if (this.liveBytes < this.segmentBytes * AHEAD) return;
    this.prepareSuccessor(this.segments.live);
  }

  /** Waits for what is done besides appending, and leaves the environment. @throws LogError. */
  async close(): Promise<void> {
    if ((await this.made()) === 'stalled') throw hangs(this.segments.logDir);
    await this.leaving;
    await this.environment.close(this.stallMs);
  }

  private async writeToNext(
    live: Segment,
    free: number,
    records: readonly LogRecord[],
  ): Promise<AppendResult> {
    const sealed = await this.rollOver(live);
    return RESULTS[sealed === 'written' ? this.commit(free, records) : sealed];
  }

  private commit(free: number, records: readonly LogRecord[]): Written {
    const { live, dropped } = this.segments;
    const first = records[0]?.seq ?? free;
    const entries: Entry[] = records.map((record) => [record.seq, encodeRecord(record)]);
    if (first === free) {
      const written = this.put(live, free, entries);
      if (written === 'written') this.advance(live, first, entries);
      return written;
    }
    // A restored log goes on after a gap. The mark stands at the number that any other writer
    // would take next, so that writer is refused.
    const declared = [...live.dropped, [free, first - 1] as const];
    const mark: Entry = [free, encodeMark(free, { kind: 'skip', to: first - 1 })];
    const header = headerEntry({ ...live, dropped: declared });
    const written = this.put(live, free, [mark, ...entries], [header]);
    if (written === 'written') {
      live.dropped = declared;
      dropped.add(free, first - 1);
      this.advance(live, first, entries);
    }
    return written;
  }

  private put(
    live: Segment,
    free: number,
    entries: readonly Entry[],
    replaced?: readonly Entry[],
  ): Written {
    const before = live.last < live.first ? HEADER_KEY : live.last;
    this.onCommit(true);
    try {
      return this.environment.commit(free, before, entries, replaced);
    } finally {
      this.onCommit(false);
    }
  }

  private advance(live: Segment, first: number, entries: readonly Entry[]): void {
    if (live.last < live.first) this.tally = new Tally();
    else this.tally ??= this.segments.tallyRead(live);
    live.last = first + entries.length - 1;
    for (const [, bytes] of entries) this.tally?.add(checksumOf(bytes));
  }

  private async rollOver(live: Segment): Promise<Written> {
    if (!(await this.prepared(live))) return 'failed';
    const successor = live.ordinal + 1;
    const { count, hash } = this.tally ?? this.segments.tally(live);
    const seal: Seal = { kind: 'seal', count, hash, successor };
    const key = live.last + 1;
    const mark: Entry = [key, encodeMark(key, seal)];
    const written = this.put(live, key, [mark]);
    if (written === 'written') this.goOn();
    return written;
  }

  /** The live segment is sealed: its successor is the live one now. */
  private goOn(): void {
    const sealed = this.environment;
    this.segments.load();
    this.environment = new Environment(this.segments.live.path);
    this.liveBytes = 0;
    this.leaving = sealed.close(this.stallMs);
    this.leaving.catch(() => {}); // Told by `close`.
  }

  /** Tries again where making it ahead of need failed: there may be space by now. */
  private async prepared(live: Segment): Promise<boolean> {
    for (let left = 1; left >= 0; left--) {
      this.prepareSuccessor(live);
      const made = await this.made();
      // A step that hangs is waited for again by `close`, which ends what cannot go on.
      if (made !== 'stalled') this.preparing = undefined;
      if (made !== 'failed') return made === 'made';
    }
    return false;
  }

  private made(): Promise<'made' | 'failed' | 'stalled'> {
    const made = this.preparing?.then(
      () => 'made' as const,
      (error: Error) => {
        this.failure = error;
        return 'failed' as const;
      },
    );
    return within(made ?? Promise.resolve('made' as const), this.stallMs, 'stalled');
  }

  private prepareSuccessor({ ordinal }: Segment): void {
    this.preparing ??= createSegment(this.segments.logDir, ordinal + 1);
    this.preparing.catch(() => {}); // Tried again, and told, when it is needed.
  }
}

/** Makes an empty segment; one that exists is left as it is. */
export function createSegment(logDir: string, ordinal: number): Promise<boolean> {
  const header = headerEntry({ ordinal, generation: 0, dropped: [], removedAt: 0 });
  const target = segmentPath(logDir, ordinal, 0);
  return createWhole(target, (directory) => Environment.create(directory, [header]));
}

function headerEntry({ ordinal, generation, dropped, removedAt }: Omit<Header, 'kind'>): Entry {
  const header: Header = { kind: 'header', ordinal, generation, dropped, removedAt };
  return [HEADER_KEY, encodeMark(HEADER_KEY, header)];
}
