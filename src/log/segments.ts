// Owns the chain of segments as one log that can be read: which segment holds a number, where the
// log ends, and that each segment is whole. It writes nothing; log and reader stand on it.

import type { LogRecord } from '../core/records.ts';
import { checksumOf, decodeRecord } from './codec.ts';
import { DroppedRanges } from './dropped-ranges.ts';
import { LogCorrupt } from './log.ts';
import { loadChain, loadSegment, type Segment } from './segment-chain.ts';
import { fileBytes, listSegments } from './segment-files.ts';
import { Tally } from './segment-marks.ts';
import { SegmentReader } from './segment-reader.ts';

/** An entry as it is stored. */
export type Entry = readonly [key: number, bytes: Uint8Array];

const BATCH_RECORDS = 1_024;
const BATCH_BYTES = 4 * 1024 * 1024;

export class Segments {
  readonly logDir: string;
  readonly dropped = new DroppedRanges();
  list: Segment[] = [];
  /** Made ahead of need and still empty: the log goes on in it after the next seal. */
  successor: Segment | undefined;
  private readonly files = new SegmentReader();
  private loaded = '';

  /** @throws LogCorrupt, LogError when the chain cannot be read or is broken. */
  constructor(logDir: string) {
    this.logDir = logDir;
    this.load();
  }

  /** Looks at the directory anew: where the chain goes and where it ends. */
  load(): void {
    const names = listSegments(this.logDir);
    const known = new Map(this.list.map((segment) => [segment.path, segment]));
    this.files.keepOnly(names);
    const chain = loadChain(names, (name, first) => {
      const segment = known.get(name.path);
      if (segment?.seal !== undefined && segment.first === first) return segment;
      this.files.refresh(name);
      return this.files.read(
        name,
        () => first,
        (file) => loadSegment(name, first, file),
      );
    });
    this.list = chain.segments;
    this.successor = chain.successor;
    this.loaded = signature(names);
    this.gatherDropped();
  }

  /** A sealed segment has a new generation, of which all is known but its place in the list. */
  replace(segment: Segment): void {
    const at = this.list.findIndex(({ ordinal }) => ordinal === segment.ordinal);
    this.list[at] = segment;
    this.gatherDropped();
    this.files.keepOnly(this.list);
  }

  /** Sees what a writer did meanwhile. @returns whether it did anything. */
  follow(): boolean {
    const { live } = this;
    // Reading refreshes too, so what counts is what the file holds against what is known of it.
    this.files.refresh(live);
    const last = this.files.read(
      live,
      () => live.last,
      (file) => file.lastKey(),
    );
    if (last <= live.last && signature(listSegments(this.logDir)) === this.loaded) return false;
    this.load();
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

  get totalBytes(): number {
    const segments = this.successor ? [...this.list, this.successor] : this.list;
    return segments.reduce((sum, { path }) => sum + fileBytes(path), 0);
  }

  get(seq: number): LogRecord | undefined {
    if (seq < 1 || seq > this.lastNumber || this.dropped.has(seq)) return undefined;
    let found: LogRecord | undefined;
    this.scan(this.holding(seq), seq, seq, (record) => {
      found = record;
    });
    return found;
  }

  /** Reads ahead in batches: nothing stays open while the caller does something else. */
  *read(from: number, to = this.lastNumber): Generator<LogRecord> {
    const end = Math.min(to, this.lastNumber);
    let next = this.present(Math.max(1, from));
    let verifying: { path: string; tally: Tally } | undefined;
    for (; next <= end; next = this.present(next)) {
      const segment = this.holding(next);
      const { path } = segment;
      if (next === this.present(segment.first)) verifying = { path, tally: new Tally() };
      else if (verifying?.path !== path) verifying = undefined;
      const records: LogRecord[] = [];
      next = this.scan(segment, next, Math.min(end, segment.last), (record, sum) => {
        records.push(record);
        verifying?.tally.add(sum);
      });
      if (next > segment.last && verifying) assertSealed(segment, verifying.tally);
      yield* records;
    }
  }

  /** The entries of a segment as they are stored, marks too; a copy of each. */
  *entries(segment: Segment, from: number, to: number): Generator<Entry> {
    for (let next = from; ; ) {
      const batch = this.copyBatch(segment, next, to);
      const last = batch.at(-1);
      if (last === undefined) return;
      yield* batch;
      next = last[0] + 1;
    }
  }

  /** Counts a segment's records and folds their checksums, reading all of it. */
  tally(segment: Segment): Tally {
    const tally = new Tally();
    for (let next = this.present(segment.first); next <= segment.last; ) {
      next = this.scan(segment, next, segment.last, (_, sum) => tally.add(sum));
    }
    return tally;
  }

  close(): void {
    this.files.closeAll();
  }

  private gatherDropped(): void {
    this.dropped.clear();
    for (const { dropped } of this.list) {
      for (const [from, to] of dropped) this.dropped.add(from, to);
    }
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

  /** The number itself, or the first after it that is not dropped. */
  private present(seq: number): number {
    const end = this.dropped.endOfRange(seq);
    return end === 0 ? seq : end + 1;
  }

  private copyBatch(segment: Segment, from: number, to: number): Entry[] {
    const batch: Entry[] = [];
    let next = from;
    let size = 0;
    this.files.read(
      segment,
      () => next,
      (file) => {
        file.scan(next, to, (key, bytes, start, end) => {
          batch.push([key, Uint8Array.prototype.slice.call(bytes, start, end)]);
          next = key + 1;
          size += end - start;
          return batch.length < BATCH_RECORDS && size < BATCH_BYTES;
        });
      },
    );
    return batch;
  }

  /** Visits up to a batch of the records from..to. @returns the number to go on with. */
  private scan(
    segment: Segment,
    from: number,
    to: number,
    visit: (record: LogRecord, sum: number) => void,
  ): number {
    let next = from;
    let records = 0;
    let size = 0;
    const full = (): boolean => records >= BATCH_RECORDS || size >= BATCH_BYTES;
    if (segment.seal === undefined) this.files.refresh(segment);
    this.files.read(
      segment,
      () => next,
      (file) => {
        file.scan(next, to, (key, bytes, start, end) => {
          if (key !== next) {
            if (this.dropped.has(key)) return true; // What stands there marks numbers as skipped.
            throw missing(next);
          }
          visit(decodeRecord(key, bytes, start, end), checksumOf(bytes, start));
          next = this.present(key + 1);
          records += 1;
          size += end - start;
          return !full();
        });
        if (!full() && next <= to) throw missing(next);
      },
    );
    return next;
  }
}

function assertSealed({ seal, ordinal, last }: Segment, tally: Tally): void {
  if (seal === undefined || tally.equals(seal)) return;
  throw new LogCorrupt(last, `segment ${ordinal} up to here is not what its seal says`);
}

const missing = (seq: number): LogCorrupt => new LogCorrupt(seq, 'it is missing');
const signature = (names: readonly { path: string }[]): string =>
  names.map(({ path }) => path).join();
