// Owns the open data files of segments, and what happens when one cannot be read. When a writer
// committed meanwhile, the read is tried again on the newer state. Otherwise the error names the
// record.

import { errnoText } from '../../model/errno-text.ts';
import { dataFile } from '../lmdb/env-files.ts';
import { PageDamaged } from '../lmdb/page.ts';
import { PageFile } from '../lmdb/page-file.ts';
import { LogCorrupt, LogError } from '../log.ts';
import type { SegmentName } from './segment-files.ts';

const OPEN_MAX = 16;
/** How often in a row a writer may overtake us; it has to commit twice while we read a batch. */
const TRIES = 100;

export class SegmentReader {
  /** By directory, the least recently used first. */
  private readonly open = new Map<string, PageFile>();
  private readonly openMax: number;

  /** @param openMax so many files stay open, and can be read also when they were removed. */
  constructor(openMax = OPEN_MAX) {
    this.openMax = openMax;
  }

  /**
   * Runs `act` on the data file of a segment.
   * @param at names the record that cannot be believed when the file cannot.
   */
  read<T>(segment: SegmentName, at: () => number, act: (file: PageFile) => T): T {
    for (let left = TRIES; ; left--) {
      try {
        return act(this.file(segment));
      } catch (error) {
        if (left === 0 || !this.overtaken(segment)) throw inWords(error, segment, at());
      }
    }
  }

  /** Sees what was committed to a segment meanwhile. @returns whether anything was. */
  refresh(segment: SegmentName, at: () => number): boolean {
    try {
      return this.file(segment).refresh();
    } catch (error) {
      throw inWords(error, segment, at());
    }
  }

  /** Closes the files of segments that are not among these. */
  keepOnly(segments: readonly SegmentName[]): void {
    const paths = new Set(segments.map(({ path }) => path));
    for (const path of [...this.open.keys()]) if (!paths.has(path)) this.close(path);
  }

  /** This segment is not read any more. */
  leave({ path }: SegmentName): void {
    this.close(path);
  }

  closeAll(): void {
    this.keepOnly([]);
  }

  private overtaken(segment: SegmentName): boolean {
    try {
      return this.open.get(segment.path)?.refresh() ?? false;
    } catch {
      return false; // The first error tells more.
    }
  }

  private file({ path }: SegmentName): PageFile {
    const file = this.open.get(path) ?? new PageFile(dataFile(path));
    this.open.delete(path);
    this.open.set(path, file);
    if (this.open.size > this.openMax) this.close(this.open.keys().next().value as string);
    return file;
  }

  private close(path: string): void {
    this.open.get(path)?.close();
    this.open.delete(path);
  }
}

function inWords(error: unknown, segment: SegmentName, seq: number): unknown {
  if (error instanceof PageDamaged) {
    return new LogCorrupt(seq, `cannot read ${dataFile(segment.path)}: ${error.message}`);
  }
  if (error instanceof LogCorrupt || error instanceof LogError) return error;
  if ((error as NodeJS.ErrnoException).syscall === undefined) return error;
  const message = `cannot read ${dataFile(segment.path)}: ${errnoText(error)}`;
  return new LogError('LOG_IO', message, { cause: error });
}
