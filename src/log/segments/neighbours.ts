// Owns which sealed segments are merged: neighbours that are small together. A rewrite often
// leaves only a few records of a segment, and without merging the files of years would pile up. It
// looks at sizes and changes nothing.

import type { Segment } from './chain.ts';
import { fileBytes } from './segment-files.ts';

/** @returns the first neighbours that together stay within the limit; undefined: there are none. */
export function smallNeighbours(
  segments: readonly Segment[],
  limitBytes: number,
): readonly Segment[] | undefined {
  let run: Segment[] = [];
  let sum = 0;
  for (const segment of segments) {
    if (segment.seal === undefined) break;
    const bytes = fileBytes(segment.path);
    if (sum + bytes > limitBytes) {
      if (run.length > 1) break;
      run = [];
      sum = 0;
    }
    if (bytes > limitBytes) continue;
    run.push(segment);
    sum += bytes;
  }
  return run.length > 1 ? run : undefined;
}
