// Owns how much of a damaged segment can be believed: its records from the first up to the one
// before the damage. A number that the segment's header declares absent is no damage.

import { loadHeader, type Segment } from './chain.ts';
import { clipped, DroppedRanges } from './dropped-ranges.ts';
import type { Header } from './marks.ts';
import { scanRecords } from './scan.ts';
import type { SegmentName } from './segment-files.ts';
import type { SegmentReader } from './segment-reader.ts';

export interface SoundPart {
  /** As if the log ended with its last sound record. */
  readonly segment: Segment;
  /** The first record that cannot be believed. */
  readonly firstBad: number;
}

export function soundPart(files: SegmentReader, name: SegmentName, first: number): SoundPart {
  const { dropped: ranges, removedAt } = headerOf(files, name, first);
  const dropped = new DroppedRanges(ranges);
  let last = first - 1;
  try {
    for (let next = first; ; ) {
      const to = Number.MAX_SAFE_INTEGER;
      next = scanRecords(files, dropped, name, [next, to], ({ seq }) => {
        last = seq;
      });
    }
  } catch {
    const mark = { seal: undefined, dropped: clipped(ranges, first, last), removedAt };
    return { segment: { ...name, first, last, ...mark }, firstBad: dropped.present(last + 1) };
  }
}

/** When the header itself is damaged, no number counts as declared absent. */
function headerOf(files: SegmentReader, name: SegmentName, first: number) {
  try {
    return files.read(
      name,
      () => first,
      (file): Pick<Header, 'dropped' | 'removedAt'> => loadHeader(name, first, file),
    );
  } catch {
    return { dropped: [], removedAt: 0 };
  }
}
