// Owns how the segments of a log form a chain. Each sealed segment names its successor, and the
// last is not sealed. An empty segment after the last was made ahead of need. A segment between
// one and its successor was merged into that one and does not count. Any other arrangement is
// refused.

import type { PageFile } from '../lmdb/page-file.ts';
import { LogCorrupt } from '../log.ts';
import { decodeMark, HEADER_KEY, type Header, isMark, type Mark, type Seal } from './marks.ts';
import type { SegmentName } from './segment-files.ts';

export interface Segment extends SegmentName {
  /** The number of its first record, or that it would have; it may be a dropped one. */
  readonly first: number;
  /** Its last number; first - 1 when it is empty. */
  last: number;
  seal: Seal | undefined;
  dropped: Header['dropped'];
  readonly removedAt: number;
}

export interface Chain {
  readonly segments: Segment[];
  readonly successor: Segment | undefined;
}

/**
 * @param load reads what a segment says of itself, given the number with which it begins.
 * @param until what comes after this number need not be whole.
 * @throws LogCorrupt when the chain is broken.
 */
export function loadChain(
  names: readonly SegmentName[],
  load: (name: SegmentName, first: number) => Segment,
  until: number,
): Chain {
  const segments: Segment[] = [];
  try {
    return { segments, successor: link(names, load, segments) };
  } catch (error) {
    if (error instanceof LogCorrupt && error.seq > until) return { segments, successor: undefined };
    throw error;
  }
}

function link(
  names: readonly SegmentName[],
  load: (name: SegmentName, first: number) => Segment,
  segments: Segment[],
): Segment | undefined {
  for (const [i, name] of names.entries()) {
    const before = segments.at(-1);
    // This segment was merged into the one before; a crash left its files behind.
    if (before?.seal !== undefined && name.ordinal < before.seal.successor) continue;
    const first = (before?.last ?? 0) + 1;
    const segment = load(name, first);
    if (before !== undefined && before.seal === undefined) {
      if (i === names.length - 1 && segment.last < first) return segment;
      throw new LogCorrupt(first, `segment ${before.ordinal} goes on without a seal`);
    }
    if (before?.seal !== undefined && before.seal.successor !== name.ordinal) {
      throw missing(before.seal, before);
    }
    segments.push(segment);
  }
  const end = segments.at(-1);
  if (end?.seal !== undefined) throw missing(end.seal, end);
  return undefined;
}

/** @throws LogCorrupt naming the segment's first number when it has none, or another one's. */
export function loadHeader(name: SegmentName, first: number, file: PageFile): Header {
  const header = markAt(file, HEADER_KEY);
  if (header?.kind === 'header' && isHeaderOf(header, name)) return header;
  throw new LogCorrupt(first, `the directory ${name.path} is not the segment that its name says`);
}

/** Reads header and end of a segment. */
export function loadSegment(name: SegmentName, first: number, file: PageFile): Segment {
  const header = loadHeader(name, first, file);
  const lastKey = file.lastKey();
  const end = lastKey === HEADER_KEY ? undefined : markAt(file, lastKey);
  const seal = end?.kind === 'seal' ? end : undefined;
  const last = lastKey === HEADER_KEY ? first - 1 : seal === undefined ? lastKey : lastKey - 1;
  const { dropped, removedAt } = header;
  return { ...name, first, last, seal, dropped, removedAt };
}

/** @returns the mark at a key, undefined when a record or nothing is there. */
function markAt(file: PageFile, key: number): Mark | undefined {
  let mark: Mark | undefined;
  file.scan(key, key, (_, bytes, start, end) => {
    if (isMark(bytes, start, end)) mark = decodeMark(key, bytes, start, end);
    return false;
  });
  return mark;
}

const isHeaderOf = (header: Header, name: SegmentName): boolean =>
  header.ordinal === name.ordinal && header.generation === name.generation;

function missing(seal: Seal, sealed: Segment): LogCorrupt {
  const why = `segment ${seal.successor}, in which the log goes on after segment ${sealed.ordinal}`;
  return new LogCorrupt(sealed.last + 1, `${why}, is missing`);
}
