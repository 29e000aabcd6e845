// Owns the making of a copy from a log that comes over a connection. The copy is made under another
// name beside the directory, verified record by record, and given its name when all is well: what
// breaks off leaves nothing.

import path from 'node:path';
import type { Copied } from './copy-log.ts';
import { type Begin, FORMAT, type Frame, framesOf, type Part } from './copy-wire.ts';
import { ELSEWHERE, GrowingCopy, type Leftover } from './growing-copy.ts';
import { type Entry, Environment } from './lmdb/env.ts';
import { LogError } from './log.ts';
import { encodeMark, HEADER_KEY } from './segments/marks.ts';
import { createWhole, prepareDirectory, segmentPath } from './segments/segment-files.ts';
import { Segments } from './segments/segments.ts';

/** So many records are verified in one turn. */
const RECORDS_AT_ONCE = 10_000;

export interface ReceiveOptions {
  /**
   * Puts what belongs beside the log into the directory. @throws when such a log is not wanted
   */
  beside(directory: string, begin: Begin): void;
  readonly onProgress?: (record: number, of: number) => void;
  /** What an earlier copy into the same target has left. */
  readonly onLeftover?: (leftover: Leftover) => void;
  /** Before the copy has its name; @throws when it is not wanted any more. */
  readonly assertWanted?: () => void;
}

/**
 * @param target new or empty
 * @throws LogError, LogCorrupt naming a record that is not as it was written; whatever the chunks
 *   throw
 */
export async function receiveLog(
  chunks: AsyncIterable<Uint8Array>,
  target: string,
  options: ReceiveOptions,
): Promise<Copied> {
  const real = path.resolve(target);
  const frames = framesOf(chunks);
  const begin = await begun(frames);
  const copy = await GrowingCopy.begin(real, options.onLeftover ?? (() => {}));
  try {
    options.beside(copy.path, begin);
    const { logDir } = await prepareDirectory(copy.path, ELSEWHERE);
    const { segments, end } = await receiveParts(frames, logDir, (record) =>
      options.onProgress?.(record, begin.last),
    );
    const records = await verified(logDir, begin.last, options.assertWanted);
    await copy.name(real);
    return { ...end, records, last: begin.last, segmentsCopied: segments, segmentsSkipped: 0 };
  } finally {
    await copy.close();
  }
}

async function begun(frames: AsyncGenerator<Frame>): Promise<Begin> {
  const { value: first } = await frames.next();
  const begin = first?.kind === 'begin' ? first.begin : undefined;
  if (begin === undefined) throw new LogError('LOG_IO', 'what comes from there is no log');
  if (begin.format === FORMAT) return begin;
  const versions = `form ${begin.format}, and this build knows the form ${FORMAT}`;
  throw new LogError('LOG_FORMAT_NEWER', `the log comes in the ${versions}`);
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
async function verified(
  logDir: string,
  last: number,
  assertWanted: () => void = () => {},
): Promise<number> {
  const copy = new Segments(logDir);
  try {
    let records = 0;
    for (const _ of copy.read(1)) {
      records += 1;
      if (records % RECORDS_AT_ONCE !== 0) continue;
      // A signal is heard between two turns only.
      await new Promise((resolve) => setImmediate(resolve));
      assertWanted();
    }
    assertWanted();
    if (copy.lastNumber === last) return records;
    throw new LogError('LOG_IO', `it ends with record ${copy.lastNumber} instead of ${last}`);
  } finally {
    copy.close();
  }
}
