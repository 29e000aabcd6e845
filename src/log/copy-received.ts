// Owns the making of a copy from a log that comes over a connection. The copy is made under another
// name beside the directory, verified record by record, and given its name when all is well: what
// breaks off leaves nothing.

import fs from 'node:fs';
import path from 'node:path';
import type { Copied } from './copy-log.ts';
import { type Begin, FORMAT, type Frame, framesOf, type Part } from './copy-wire.ts';
import { type Entry, Environment } from './lmdb/env.ts';
import { LogError } from './log.ts';
import { encodeMark, HEADER_KEY } from './segments/marks.ts';
import { createWhole, prepareDirectory, segmentPath, syncPath } from './segments/segment-files.ts';
import { Segments } from './segments/segments.ts';

export interface ReceiveOptions {
  /**
   * Puts what belongs beside the log into the directory. @throws when such a log is not wanted
   */
  beside(directory: string, begin: Begin): void;
  readonly onProgress?: (record: number, of: number) => void;
}

/**
 * @param target new or empty
 * @throws LogError, LogCorrupt naming a record that is not as it was written; whatever the chunks
 *   throw
 */
export async function receiveLog(
  chunks: AsyncIterable<Uint8Array>,
  target: string,
  { beside, onProgress }: ReceiveOptions,
): Promise<Copied> {
  const real = path.resolve(target);
  fs.mkdirSync(path.dirname(real), { recursive: true });
  const partial = fs.mkdtempSync(`${real}.part-`);
  try {
    const frames = framesOf(chunks);
    const { value: first } = await frames.next();
    const begin = first?.kind === 'begin' ? first.begin : undefined;
    if (begin === undefined) throw new LogError('LOG_IO', 'what comes from there is no log');
    if (begin.format !== FORMAT) {
      const versions = `form ${begin.format}, and this build knows the form ${FORMAT}`;
      throw new LogError('LOG_FORMAT_NEWER', `the log comes in the ${versions}`);
    }
    beside(partial, begin);
    const { logDir } = await prepareDirectory(partial, 'choose another directory for the copy');
    const { segments, end } = await receiveParts(frames, logDir, (record) =>
      onProgress?.(record, begin.last),
    );
    const records = verified(logDir, begin.last);
    await named(partial, real);
    return { ...end, records, last: begin.last, segmentsCopied: segments, segmentsSkipped: 0 };
  } finally {
    fs.rmSync(partial, { recursive: true, force: true });
  }
}

async function receiveParts(
  frames: AsyncGenerator<Frame>,
  logDir: string,
  onRecord: (record: number) => void,
) {
  let segments = 0;
  let { value: frame } = await frames.next();
  while (frame?.kind === 'part') {
    const { part } = frame as Extract<Frame, { kind: 'part' }>;
    let after: Frame | undefined;
    const rows = async function* (): AsyncGenerator<readonly Entry[]> {
      yield [headerOf(part)];
      for (;;) {
        const { value: next } = await frames.next();
        if (next?.kind !== 'rows') {
          after = next;
          return;
        }
        yield next.rows;
        onRecord(next.rows.at(-1)?.[0] ?? 0);
      }
    };
    await createWhole(segmentPath(logDir, part.ordinal, part.generation), (directory) =>
      Environment.createFrom(directory, rows()),
    );
    segments += 1;
    frame = after;
  }
  if (frame?.kind !== 'end') throw new LogError('LOG_IO', 'it was cut off');
  return { segments, end: frame.end };
}

const headerOf = (part: Part): Entry => [
  HEADER_KEY,
  encodeMark(HEADER_KEY, { kind: 'header', ...part }),
];

/** @returns how many records there are. */
function verified(logDir: string, last: number): number {
  const copy = new Segments(logDir);
  try {
    let records = 0;
    for (const _ of copy.read(1)) records += 1;
    if (copy.lastNumber === last) return records;
    throw new LogError('LOG_IO', `it ends with record ${copy.lastNumber} instead of ${last}`);
  } finally {
    copy.close();
  }
}

async function named(partial: string, target: string): Promise<void> {
  fs.chmodSync(partial, 0o700);
  await syncPath(partial);
  // An empty directory gives way; one that is not empty by now refuses.
  fs.renameSync(partial, target);
  await syncPath(path.dirname(target));
}
