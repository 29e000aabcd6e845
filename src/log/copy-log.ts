// Owns the copying of a log, whole or its sound beginning, to a new directory while it may be
// written to. The copy holds the same bytes under the same numbers; nothing of the source changes.

import fs from 'node:fs';
import path from 'node:path';
import { Environment } from './lmdb-env.ts';
import { LogError } from './log.ts';
import type { Segment } from './segment-chain.ts';
import { createWhole, prepareDirectory, segmentPath } from './segment-files.ts';
import { encodeMark, HEADER_KEY } from './segment-marks.ts';
import type { Entry } from './segment-scan.ts';
import { Segments } from './segments.ts';

export interface Copied {
  readonly records: number;
  /** Number of the last record that was copied. */
  readonly last: number;
  /** Records of the source after it, where the source's end could be read. */
  readonly leftBehind: number;
}

/**
 * Every record is read and its checksum verified before it is copied.
 * @param until the last record to copy; undefined: the newest
 * @throws LogCorrupt naming the first bad record; LogError when the target is not empty
 */
export async function copyLog(
  sourceDir: string,
  targetDir: string,
  until?: number,
  onProgress: (records: number, of: number) => void = () => {},
): Promise<Copied> {
  const source = new Segments(path.join(sourceDir, 'log'), until);
  try {
    const newest = source.lastNumber;
    const wanted = Math.min(until ?? newest, newest);
    let records = 0;
    let last = 0;
    for (const { seq } of source.read(1, wanted)) {
      records += 1;
      last = seq;
      if (records % 8_192 === 0) onProgress(records, wanted);
    }
    const { logDir } = await emptyTarget(targetDir);
    for (const segment of source.list) {
      if (segment.first <= last || segment === source.list[0]) {
        await copySegment(source, segment, last, logDir);
      }
    }
    return { records, last, leftBehind: newest - wanted };
  } finally {
    source.close();
  }
}

async function emptyTarget(targetDir: string): Promise<{ logDir: string }> {
  if (fs.existsSync(targetDir) && fs.readdirSync(targetDir).length > 0) {
    throw new LogError('LOG_DIRECTORY', `${targetDir} is not empty; choose a new directory`);
  }
  return prepareDirectory(targetDir);
}

/** The copy's last segment has no seal: the log will go on in it. */
async function copySegment(
  source: Segments,
  segment: Segment,
  last: number,
  logDir: string,
): Promise<void> {
  const { ordinal, generation, seal } = segment;
  const sealed = seal !== undefined && segment.last < last;
  const end = sealed ? segment.last + 1 : Math.min(segment.last, last);
  const dropped = segment.dropped
    .map(([from, to]) => [from, Math.min(to, sealed ? segment.last : last)] as const)
    .filter(([from, to]) => from <= to);
  const header = encodeMark(HEADER_KEY, { kind: 'header', ordinal, generation, dropped });
  const rows = source.entries(segment, HEADER_KEY + 1, end);
  const target = segmentPath(logDir, ordinal, generation);
  await createWhole(target, (directory) =>
    Environment.create(directory, withHeader([HEADER_KEY, header], rows)),
  );
}

function* withHeader(header: Entry, rows: Iterable<Entry>): Generator<Entry> {
  yield header;
  yield* rows;
}
