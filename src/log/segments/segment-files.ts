// Owns the names and the life of segment directories under log/: which exist, which count, and how
// one is made whole or not at all. It knows nothing of their contents.

import fs from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../make-directory.ts';
import { errnoText } from '../../model/errno-text.ts';
import { dataFile } from '../lmdb/env-files.ts';
import { LogError } from '../log.ts';

export interface SegmentName {
  readonly ordinal: number;
  readonly generation: number;
  readonly path: string;
}

const SHAPE = /^(\d{8})-(\d+)$/;
const TEMPORARY = 'tmp-';
/** A file of this name says that a data directory is an archive: nobody may serve it. */
export const ARCHIVE_NOTE = 'archived';

export const segmentPath = (logDir: string, ordinal: number, generation: number): string =>
  path.join(logDir, `${String(ordinal).padStart(8, '0')}-${generation}`);

export const fileBytes = (directory: string): number => fs.statSync(dataFile(directory)).size;

/** @returns the highest generation of each segment, in ascending order. */
export function listSegments(logDir: string): SegmentName[] {
  const newest = new Map<number, SegmentName>();
  for (const name of allSegments(logDir)) {
    const known = newest.get(name.ordinal);
    if (known === undefined || known.generation < name.generation) newest.set(name.ordinal, name);
  }
  return [...newest.values()].toSorted((a, b) => a.ordinal - b.ordinal);
}

function allSegments(logDir: string): SegmentName[] {
  return fs.readdirSync(logDir).flatMap((name) => {
    const match = SHAPE.exec(name);
    if (match === null) return [];
    const [ordinal, generation] = [Number(match[1]), Number(match[2])];
    return [{ ordinal, generation, path: path.join(logDir, name) }];
  });
}

export const isArchive = (dataDir: string): boolean =>
  fs.statSync(path.join(dataDir, ARCHIVE_NOTE), { throwIfNoEntry: false })?.isFile() ?? false;

export function removeSegment({ path: directory }: SegmentName): void {
  fs.rmSync(directory, { recursive: true, force: true });
}

/**
 * Removes what a crash left: half made segments, and whole ones that no longer count.
 * @param counting those that do, all of them.
 */
export function removeLeftovers(logDir: string, counting: readonly SegmentName[]): void {
  const paths = new Set(counting.map((name) => name.path));
  const lower = allSegments(logDir).filter((name) => !paths.has(name.path));
  const half = fs.readdirSync(logDir).filter((name) => name.startsWith(TEMPORARY));
  for (const name of lower) removeSegment(name);
  for (const name of half) fs.rmSync(path.join(logDir, name), { recursive: true, force: true });
}

/**
 * Fills a directory under a temporary name and gives it its own name when all of it is flushed, so
 * that a crash leaves a whole segment or none.
 * @returns false when a segment of this name exists already; it is left as it is.
 */
export async function createWhole(
  target: string,
  fill: (directory: string) => Promise<void>,
): Promise<boolean> {
  const logDir = path.dirname(target);
  const temporary = fs.mkdtempSync(path.join(logDir, TEMPORARY)); // Mode 0700.
  try {
    await fill(temporary);
    for (const file of fs.readdirSync(temporary)) await syncPath(path.join(temporary, file));
    await syncPath(temporary);
    if (fs.existsSync(target)) return false;
    fs.renameSync(temporary, target);
    await syncPath(logDir);
    return true;
  } finally {
    removeHalfMade(temporary);
  }
}

/** The removal must not fail: its error would hide why the directory could not be made. */
export function removeHalfMade(directory: string): void {
  try {
    fs.rmSync(directory, { recursive: true, force: true });
  } catch {
    // Leftovers are removed before the next one is made.
  }
}

/** Flushes a file, or the names in a directory. */
export async function syncPath(target: string): Promise<void> {
  if (process.platform === 'win32' && fs.statSync(target).isDirectory()) return;
  const file = await fs.promises.open(target, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Flushes the names of new directories: of the innermost first, up to the one that was there. */
async function syncNames(directory: string, existing: string): Promise<void> {
  const top = fs.realpathSync(existing);
  for (let at = path.dirname(directory); ; at = path.dirname(at)) {
    await syncPath(at);
    if (at === top || at === path.dirname(at)) return;
  }
}

/**
 * Makes the data directory and its log/ where they are missing.
 * @param wayOut ends the sentence of a refusal: what the directory was given by
 * @throws LogError LOG_DIRECTORY naming the path when it is no directory or cannot be written.
 */
export async function prepareDirectory(
  dataDir: string,
  wayOut = 'choose another directory with --data-dir',
): Promise<{ dataDir: string; logDir: string }> {
  try {
    const made = makeDirectory(dataDir, 0o700);
    const real = fs.realpathSync(dataDir);
    if (made !== undefined) await syncNames(real, path.dirname(path.resolve(made)));
    const logDir = path.join(real, 'log');
    const exists = fs.existsSync(logDir);
    fs.accessSync(exists ? logDir : real, fs.constants.W_OK | fs.constants.X_OK);
    if (!exists) {
      fs.mkdirSync(logDir, { mode: 0o700 });
      await syncPath(real);
    }
    return { dataDir: real, logDir };
  } catch (error) {
    throw directoryError(dataDir, wayOut, error);
  }
}

/** @param wayOut what to do then, in words */
export function directoryError(directory: string, wayOut: string, error: unknown): LogError {
  const why = WORDS[(error as NodeJS.ErrnoException).code ?? ''] ?? errnoText(error);
  const text = `cannot keep a log in ${path.resolve(directory)}: ${why}; ${wayOut}`;
  return new LogError('LOG_DIRECTORY', text, { cause: error });
}

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  EEXIST: 'it is a file',
  ENOTDIR: 'part of the path is a file',
  ENOENT: 'it does not exist',
  ENOSPC: 'the disk is full',
  EBUSY: 'a file system is mounted there; name a directory in it',
};
