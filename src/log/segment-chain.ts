// Owns how the segments of a log hang together: each sealed one names its successor, the last is
// not sealed, and an empty one after it was made ahead of need. Anything else is not this log.

import type { Environment } from './lmdb-env.ts';
import { LogCorrupt, LogError } from './log.ts';
import { listSegments, type SegmentName } from './segment-files.ts';
import {
  decodeMark,
  HEADER_KEY,
  type Header,
  isMark,
  type Mark,
  type Seal,
} from './segment-marks.ts';

export interface Segment extends SegmentName {
  /** The number of its first record, or that it would have; it may be a dropped one. */
  readonly first: number;
  /** Its last number; first - 1 when it is empty. */
  last: number;
  seal: Seal | undefined;
  dropped: Header['dropped'];
}

export interface Chain {
  readonly segments: Segment[];
  readonly successor: Segment | undefined;
}

/**
 * @param open gives the environment of a segment; `end` when the log may end in it.
 * @throws LogCorrupt, LogError when the chain is broken.
 */
export function loadChain(
  logDir: string,
  open: (name: SegmentName, end: boolean) => Environment,
): Chain {
  const names = listSegments(logDir);
  const segments: Segment[] = [];
  for (const [i, name] of names.entries()) {
    const first = (segments.at(-1)?.last ?? 0) + 1;
    const segment = loadSegment(name, first, open(name, i >= names.length - 2));
    const before = segments.at(-1);
    if (before !== undefined && before.seal === undefined) {
      if (i === names.length - 1 && segment.last < first) return { segments, successor: segment };
      throw new LogCorrupt(first, `segment ${before.ordinal} goes on without a seal`);
    }
    if (before?.seal !== undefined && before.seal.successor !== name.ordinal) {
      throw missing(before.seal, before);
    }
    segments.push(segment);
  }
  const end = segments.at(-1);
  if (end?.seal !== undefined) throw missing(end.seal, end);
  return { segments, successor: undefined };
}

function loadSegment(name: SegmentName, first: number, environment: Environment): Segment {
  const header = markAt(environment, HEADER_KEY);
  if (header?.kind !== 'header' || !isHeaderOf(header, name)) {
    throw new LogError('LOG_IO', `${name.path} is not the segment that its name says`);
  }
  const lastKey = environment.lastKey;
  const end = lastKey === HEADER_KEY ? undefined : markAt(environment, lastKey);
  const seal = end?.kind === 'seal' ? end : undefined;
  const last = lastKey === HEADER_KEY ? first - 1 : seal === undefined ? lastKey : lastKey - 1;
  return { ...name, first, last, seal, dropped: header.dropped };
}

/** @returns the mark at a key, undefined when a record or nothing is there. */
function markAt(environment: Environment, key: number): Mark | undefined {
  const bytes = environment.peek(key);
  if (bytes === undefined || !isMark(bytes, bytes.length)) return undefined;
  return decodeMark(key, bytes, bytes.length);
}

const isHeaderOf = (header: Header, name: SegmentName): boolean =>
  header.ordinal === name.ordinal && header.generation === name.generation;

function missing(seal: Seal, sealed: Segment): LogCorrupt {
  const why = `segment ${seal.successor}, in which the log goes on after segment ${sealed.ordinal}`;
  return new LogCorrupt(sealed.last + 1, `${why}, is missing`);
}
