// Owns the chain of segments as one log that can be read: which segment holds a number, where the
// log ends, and that each segment is whole. It writes nothing; log and reader stand on it.

import type { LogRecord } from '../core/records.ts';
import { decodeRecord } from './codec.ts';
import { DroppedRanges } from './dropped-ranges.ts';
import { Environment, fileBytes } from './lmdb-env.ts';
import { LogCorrupt } from './log.ts';
import { loadChain, type Segment } from './segment-chain.ts';
import type { SegmentName } from './segment-files.ts';
import { type Seal, Tally } from './segment-marks.ts';

const BATCH_RECORDS = 1_024;
const BATCH_BYTES = 4 * 1024 * 1024;
const OPEN_MAX = 16;

export class Segments {
  readonly dropped = new DroppedRanges();
  list: Segment[] = [];
  /** Made ahead of need and still empty: the log goes on in it after the next seal. */
  successor: Segment | undefined;
  readonly logDir: string;
  private readonly endAccess: 'read' | 'write';
  /** Open environments by directory, the least recently used first. */
  private readonly environments = new Map<string, Environment>();

  /** @param endAccess how the segments are opened in which the log ends or will go on. */
  constructor(logDir: string, endAccess: 'read' | 'write') {
    this.logDir = logDir;
    this.endAccess = endAccess;
    this.load();
  }

  /** Looks at the directory anew: where the chain goes and where it ends. */
  load(): void {
    const chain = loadChain(this.logDir, (name, end) =>
      this.environment(name, end ? this.endAccess : 'read'),
    );
    this.list = chain.segments;
    this.successor = chain.successor;
    this.dropped.clear();
    for (const { dropped } of this.list) {
      for (const [from, to] of dropped) this.dropped.add(from, to);
    }
    for (const [path, { access }] of this.environments) {
      const writable = path === this.live.path || path === this.successor?.path;
      if (access === 'write' && !writable) this.close(path);
    }
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
    const bytes = this.of(this.holding(seq)).peek(seq);
    if (bytes === undefined) throw missing(seq);
    return decodeRecord(seq, bytes, bytes.length);
  }

  /** Reads ahead in batches: no cursor stays open while the caller does something else. */
  *read(from: number, to = this.lastNumber): Generator<LogRecord> {
    const end = Math.min(to, this.lastNumber);
    let next = this.present(Math.max(1, from));
    let verifying: { path: string; tally: Tally } | undefined;
    while (next <= end) {
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

  /** Counts a segment's records and folds their checksums, reading all of it. */
  tally(segment: Segment): Tally {
    const tally = new Tally();
    for (let next = this.present(segment.first); next <= segment.last; ) {
      next = this.scan(segment, next, segment.last, (_, sum) => tally.add(sum));
    }
    return tally;
  }

  /** The live segment is sealed: its successor, which exists, is the live one now. */
  goOn(seal: Seal): void {
    const { live } = this;
    live.seal = seal;
    this.load();
  }

  of(segment: SegmentName): Environment {
    return this.environment(segment, segment === this.live ? this.endAccess : 'read');
  }

  environment(segment: SegmentName, access: 'read' | 'write'): Environment {
    const { path } = segment;
    let environment = this.environments.get(path);
    if (environment?.access === 'read' && access === 'write') {
      this.close(path);
      environment = undefined;
    }
    environment ??= new Environment(path, access);
    this.environments.delete(path);
    this.environments.set(path, environment);
    if (this.environments.size > OPEN_MAX) this.closeOldest();
    return environment;
  }

  /** Leaves a segment that was opened for reading. */
  close(path: string): void {
    this.environments.get(path)?.leave();
    this.environments.delete(path);
  }

  /** Leaves all; @returns those that may have a write under way: they are the caller's to close. */
  release(): Environment[] {
    const all = [...this.environments.values()];
    this.environments.clear();
    for (const environment of all) if (environment.access === 'read') environment.leave();
    return all.filter(({ access }) => access === 'write');
  }

  private closeOldest(): void {
    for (const [path, { access }] of this.environments) {
      if (access === 'write') continue;
      this.close(path);
      return;
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

  /** Visits up to a batch of the records from..to. @returns the number to go on with. */
  private scan(
    segment: Segment,
    from: number,
    to: number,
    visit: (record: LogRecord, sum: number) => void,
  ): number {
    const environment = this.of(segment);
    const { decoder } = environment;
    let left = BATCH_RECORDS;
    let bytesLeft = BATCH_BYTES;
    decoder.expected = from;
    for (const { key, value } of environment.rows(from, to)) {
      if (key !== decoder.expected) {
        if (this.dropped.has(key)) continue; // What stands there marks the numbers as skipped.
        throw missing(decoder.expected);
      }
      if (value instanceof Error) throw value;
      visit(value, decoder.sum);
      decoder.expected = this.present(key + 1);
      left -= 1;
      bytesLeft -= decoder.size;
      if (left === 0 || bytesLeft < 0) return decoder.expected;
    }
    if (decoder.expected <= to) throw missing(decoder.expected);
    return decoder.expected;
  }
}

function assertSealed({ seal, ordinal, last }: Segment, tally: Tally): void {
  if (seal === undefined || tally.equals(seal)) return;
  throw new LogCorrupt(last, `segment ${ordinal} up to here is not what its seal says`);
}

const missing = (seq: number): LogCorrupt => new LogCorrupt(seq, 'it is missing');
