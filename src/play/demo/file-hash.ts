// Owns the work of the demonstration: the facts about one file. The workers and the check at the
// end both use this file, each on bytes that it has read for itself.

import { createHash } from 'node:crypto';

export interface FileFacts {
  readonly sha256: string;
  /** Line feeds, as `wc -l` counts. */
  readonly lines: number;
  readonly bytes: number;
}

const LINE_FEED = 0x0a;

export function factsOf(content: Uint8Array): FileFacts {
  let lines = 0;
  for (let at = content.indexOf(LINE_FEED); at >= 0; at = content.indexOf(LINE_FEED, at + 1)) {
    lines += 1;
  }
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { sha256, lines, bytes: content.length };
}
