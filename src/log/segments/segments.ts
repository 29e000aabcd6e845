// Owns the chain of segments as one log that can be read: which segment holds a number, where the
// log ends, and that each segment is whole. It writes nothing; log and reader stand on it.

import type { LogRecord } from '../../model/records.ts';
import type { Entry } from '../lmdb/env.ts';
import { checkPages } from '../lmdb/page-check.ts';
import type { PageFile } from '../lmdb/page-file.ts';
import { LogCorrupt } from '../log.ts';
import { loadChain, loadSegment, type Segment } from './chain.ts';
import { DroppedRanges } from './dropped-ranges.ts';
import { Tally } from './marks.ts';
import { copyEntries, scanRecords, skippedBefore } from './scan.ts';
import { fileBytes, listSegments, type SegmentName } from './segment-files.ts';
import { SegmentReader } from './segment-reader.ts';
import { soundPart } from './sound.ts';

export class Segments {
  readonly logDir: string;
  readonly dropped = new DroppedRanges();
  list: Segment[] = [];
  /** Made ahead of need and still empty: the log goes on in it after the next seal. */
  successor: Segment | undefined;
  private readonly files: SegmentReader;
  private readonly until: number;
  private loaded = '';
  private whole: { path: string; last: number; tally: Tally } | undefined;

  /**
   * @param until what comes after this number need not be whole; for those who want no more of it.
   * @param openMax so many segments can be read also when a writer has replaced them
   * @throws LogCorrupt, LogError when the chain cannot be read or is broken.
   */
  constructor(logDir: string, until = Number.POSITIVE_INFINITY, openMax?: number) {
    this.logDir = logDir;
    this.files = new SegmentReader(openMax);
    this.until = until;
    this.load();
  }

  /** Looks at the directory anew: where the chain goes and where it ends. */
  load(): void {
    const names = listSegments(this.logDir);
    const known = new Map(this.list.map((segment) => [segment.path, segment]));
    this.files.keepOnly(names);
    const loadOne = (name: SegmentName, first: number): Segment => {
      const segment = known.get(name.path);
      if (segment?.seal !== undefined && segment.first === first) return segment;
      return this.loadSegment(name, first, segment === undefined);
    };
    const chain = loadChain(names, loadOne, this.until);
    this.list = chain.segments;
    this.successor = chain.successor;
    this.loaded = signature(names);
    this.gatherDropped();
  }

  /** @param segment a new generation, of one segment or of neighbours, whose numbers it covers. */
  replace(segment: Segment): void {
    const isBefore = ({ last }: Segment): boolean => last < segment.first;
    const isAfter = ({ first }: Segment): boolean => first > segment.last;
    this.list = [...this.list.filter(isBefore), segment, ...this.list.filter(isAfter)];
    this.gatherDropped();
    this.files.keepOnly(this.list);
  }

  /** Sees what a writer did meanwhile. @returns whether it did anything. */
  follow(): boolean {
    const { live } = this;
    const sameFiles = signature(listSegments(this.logDir)) === this.loaded;
    // Reading refreshes the file too, so its content is compared with what is known of the
    // segment.
    const now = sameFiles ? this.loadSegment(live, live.first, false) : undefined;
    if (now === undefined || now.seal !== undefined || now.dropped.length !== live.dropped.length) {
      this.load();
      return true;
    }
    if (now.last === live.last) return false;
    live.last = now.last;
    return true;
  }

  /** Makes durable what is seen of the segment in which the log ends. */
  flush(): void {
    this.files.read(
      this.live,
      () => this.lastNumber,
      (file) => file.flush(),
    );
  }

  get live(): Segment {
    return this.list.at(-1) as Segment;
  }

  get lastNumber(): number {
    return this.live.last;
  }

  /** The number up to which the log went when history was last removed from there; 0: never. */
  removedAt(from = 1, to = this.lastNumber): number {
    const there = this.list.filter(({ first, last }) => first <= to && last >= from);
    return Math.max(0, ...there.map(({ removedAt }) => removedAt));
  }

  /** Those in which the log stands, and the one that is ready for what comes. */
  get counting(): readonly Segment[] {
    return this.successor ? [...this.list, this.successor] : this.list;
  }

  get totalBytes(): number {
    return this.counting.reduce((sum, { path }) => sum + fileBytes(path), 0);
  }

  get(seq: number): LogRecord | undefined {
    if (seq < 1 || seq > this.lastNumber || this.dropped.has(seq)) return undefined;
    let found: LogRecord | undefined;
    this.scan(this.holding(seq), seq, seq, (record) => {
      found = record;
    });
    return found;
  }

  skippedBefore(seq: number): number {
    if (seq > this.lastNumber || !this.dropped.has(seq - 1)) return 0;
    const segment = this.holding(seq);
    if (segment.seal === undefined) this.files.refresh(segment, () => seq);
    return skippedBefore(this.files, this.dropped, segment, seq);
  }

  /** Reads ahead in batches: nothing stays open while the caller does something else. */
  *read(from: number, to = this.lastNumber): Generator<LogRecord> {
    const end = Math.min(to, this.lastNumber);
    let next = this.dropped.present(Math.max(1, from));
    let verifying: { path: string; tally: Tally } | undefined;
    for (; next <= end; next = this.dropped.present(next)) {
      const segment = this.holding(next);
      const { path } = segment;
      if (next === this.dropped.present(segment.first)) verifying = { path, tally: new Tally() };
      else if (verifying?.path !== path) verifying = undefined;
      const records: LogRecord[] = [];
      next = this.scan(segment, next, Math.min(end, segment.last), (record, sum) => {
        records.push(record);
        verifying?.tally.add(sum);
      });
      if (next > segment.last && verifying) {
        assertSealed(segment, verifying.tally);
        this.whole = { path, last: segment.last, tally: verifying.tally };
      }
      yield* records;
    }
  }

  /** The entries of a segment as they are stored, marks too; a copy of each. */
  entries(segment: Segment, from: number, to: number): Generator<Entry> {
    return copyEntries(this.files, segment, from, to);
  }

  /** The tally of a segment that was just read as a whole, up to its last record. */
  tallyRead({ path, last }: Segment): Tally | undefined {
    return this.whole?.path === path && this.whole.last === last ? this.whole.tally : undefined;
  }

  /** Counts a segment's records and folds their checksums, reading all of it. */
  tally(segment: Segment): Tally {
    const tally = new Tally();
    for (let next = this.dropped.present(segment.first); next <= segment.last; ) {
      next = this.scan(segment, next, segment.last, (_, sum) => tally.add(sum));
    }
    return tally;
  }

  /** This segment is not read any more. */
  leave(segment: Segment): void {
    this.files.leave(segment);
  }

  close(): void {
    this.files.closeAll();
  }

  private loadSegment(name: SegmentName, first: number, isNew: boolean): Segment {
    try {
      this.files.refresh(name, () => first);
      return this.files.read(
        name,
        () => first,
        (file) => {
          const segment = loadSegment(name, first, file);
          // A sealed one is verified against its seal whenever it is read as a whole.
          if (isNew && segment.seal === undefined) checkUnlessWritten(file);
          return segment;
        },
      );
    } catch (error) {
      if (!(error instanceof LogCorrupt)) throw error;
      const { segment, firstBad } = soundPart(this.files, name, first);
      if (firstBad > this.until) return segment;
      throw new LogCorrupt(firstBad, error.why);
    }
  }

  private gatherDropped(): void {
    this.dropped.clear();
    for (const { dropped } of this.list) this.dropped.addAll(dropped);
  }

  private holding(seq: number): Segment {
    let low = 0;
    let high = this.list.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.list[middle] as Segment).last < seq) low = middle + 1;
      else high = middle;
    }
    return this.list[low] as Segment;
  }

  private scan(
    segment: Segment,
    from: number,
    to: number,
    visit: (record: LogRecord, sum: number) => void,
  ): number {
    if (segment.seal === undefined) this.files.refresh(segment, () => from);
    return scanRecords(this.files, this.dropped, segment, [from, to], visit);
  }
}

/**
 * A file that changes has a writer, and the writer checked the file when it opened it. A busy
 * writer may outrun this check.
 */
function checkUnlessWritten(file: PageFile): void {
  try {
    checkPages(file);
  } catch (error) {
    if (!file.refresh()) throw error;
  }
}

function assertSealed({ seal, ordinal, last }: Segment, tally: Tally): void {
  if (seal === undefined || tally.equals(seal)) return;
  throw new LogCorrupt(last, `segment ${ordinal} up to here is not what its seal says`);
}

const signature = (names: readonly { path: string }[]): string =>
  names.map(({ path }) => path).join();
