// Owns what an earlier copy of a log lacks: which segments are new, were rewritten or merged, or
// have grown. Two sealed segments are the same when their numbers and their seals are. It writes
// nothing.

import type { Segment } from './segments/chain.ts';
import type { Segments } from './segments/segments.ts';

/** One segment to copy. */
export interface Part {
  readonly segment: Segment;
  /** The last record of it that is wanted. */
  readonly end: number;
  /** It is wanted whole, and the copy goes on after it. */
  readonly isSealed: boolean;
}

export interface CopyPlan {
  readonly parts: readonly Part[];
  readonly segmentsKept: number;
  readonly recordsKept: number;
}

/** @param last the last record that is wanted of the source. */
export function copyPlan(source: Segments, copied: Segments | undefined, last: number): CopyPlan {
  const parts: Part[] = [];
  let segmentsKept = 0;
  let recordsKept = 0;
  for (const segment of source.list) {
    if (segment.first > last && segment !== source.list[0]) break;
    const isSealed = segment.seal !== undefined && segment.last < last;
    const end = Math.min(segment.last, last);
    const there = copied?.list.find(({ first }) => first === segment.first);
    if (copied !== undefined && there !== undefined && isSame(there, segment, isSealed, end)) {
      segmentsKept += 1;
      recordsKept += (there.seal ?? copied.tally(there)).count;
    } else parts.push({ segment, end, isSealed });
  }
  return { parts, segmentsKept, recordsKept };
}

function isSame(there: Segment, segment: Segment, isSealed: boolean, end: number): boolean {
  if (there.ordinal !== segment.ordinal || there.last !== end) return false;
  const [a, b] = [there.seal, segment.seal];
  if (!isSealed) return a === undefined && b === undefined && isSameSet(there, segment);
  return (
    a !== undefined &&
    b !== undefined &&
    a.hash === b.hash &&
    a.count === b.count &&
    a.successor === b.successor
  );
}

const isSameSet = ({ dropped: a }: Segment, { dropped: b }: Segment): boolean =>
  String(a) === String(b);
