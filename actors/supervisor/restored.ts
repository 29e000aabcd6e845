// Owns the note that a data directory is a restored copy: the first start on it leaves a gap in the
// numbers, so that no id and no fencing token is issued twice, and then removes the note.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Far more than a log can have grown between its backup and its loss. */
const SKIP = 1_000_000;
/** Nine thousand gaps of this size fit into the numbers that there are. */
const SKIP_MAX = 1_000_000 * SKIP;
const noteIn = (dataDir: string): string => join(dataDir, 'restored');

/** Written by `backup`, first of all: whatever is copied by then is a copy. */
export function noteRestored(dataDir: string): void {
  const text = `{"skip":${SKIP}}\n`;
  writeFileSync(noteIn(dataDir), text, { mode: 0o600, flush: true });
}

/** @returns how many numbers the first record leaves free; 0: the directory is no copy. */
export function skipOf(dataDir: string): number {
  if (!existsSync(noteIn(dataDir))) return 0;
  // A note that cannot be read is a note still: leaving a gap is always safe.
  try {
    const { skip } = JSON.parse(readFileSync(noteIn(dataDir), 'utf8')) as { skip: unknown };
    return Number.isInteger(skip) && Number(skip) > 0 ? Math.min(Number(skip), SKIP_MAX) : SKIP;
  } catch {
    return SKIP;
  }
}

/** The gap is in the log now. */
export const forgetNote = (dataDir: string): void => rmSync(noteIn(dataDir), { force: true });
