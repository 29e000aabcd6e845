// Owns the parts shared by the commands that read a data directory themselves, with or without a
// running server: opening the log, replaying it, and saying what is wrong with it. These commands
// change no file.

import type { Command } from 'commander';
import type { State } from '../core/state.ts';
import { type DirectoryReader, openLmdbReader } from '../log/lmdb-reader.ts';
import { LogCorrupt, type LogReader, NO_LOG, wayOut } from '../log/log.ts';
import { replay } from '../loop/replay.ts';
import { errnoText } from '../model/errno-text.ts';
import { digestText } from '../reader/digest-text.ts';
import { KNOBS } from '../settings/knob-table.ts';
import { CliError, EXIT, type Io, wholeNumber } from './command.ts';
import { openBar } from './progress-bar.ts';

export interface OfflineOptions {
  readonly dataDir?: string;
  readonly at?: string;
  readonly json?: boolean;
}

export const withDataDir = (command: Command): Command =>
  command
    .option('--data-dir <dir>', `the data directory (default ${KNOBS.dataDir.default})`)
    .option('--json', 'print one JSON object');

export const dataDirOf = ({ dataDir }: OfflineOptions, { env }: Io): string =>
  dataDir ?? env['LEASEHOLD_DATA_DIR'] ?? String(KNOBS.dataDir.default);

const ARCHIVED = 'only an archive has it (--archive-dir)';

/** What follows the words that a log has no such task. */
export const removedText = ({ dropped }: Pick<LogReader, 'dropped'>, taskId: number): string =>
  dropped.has(taskId) ? `: its history was forgotten and is removed, and ${ARCHIVED}` : '';

/** Opens the log, runs `act` on it, and closes it. @throws CliError with words for the operator */
export async function withLog<T>(dataDir: string, act: (log: DirectoryReader) => T | Promise<T>) {
  try {
    const log = await openLmdbReader(dataDir);
    try {
      return await act(log);
    } finally {
      await log.close();
    }
  } catch (error) {
    throw wordsFor(error, dataDir);
  }
}

/** An error of the log, or of the system, in words; anything else as it is. */
export function wordsFor(error: unknown, dataDir: string, orWhere = ''): unknown {
  if (error instanceof LogCorrupt) return new CliError(EXIT.failed, corruptText(error, dataDir));
  const told = operatingError(error);
  if (told === undefined) return error;
  return new CliError(EXIT.failed, `leasehold: ${told}${whereHint(told, dataDir, orWhere)}`);
}

/**
 * Who names no directory may not know that one is looked for.
 * @param told the error, in words
 * @param orWhere where else the command can find a log
 */
export function whereHint(told: string, dataDir: string, orWhere = ''): string {
  const isDefault = dataDir === KNOBS.dataDir.default;
  if (!isDefault || !told.includes(NO_LOG)) return '';
  return `; say with --data-dir where it is${orWhere}`;
}

/** @returns code and sentence of an error that no bug has made; undefined for a bug. */
export function operatingError(error: unknown): string | undefined {
  const { code, message, syscall, path } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && /^(LOG|CLUSTER)_/.test(code)) return `${code}: ${message}`;
  return syscall === undefined ? undefined : `LOG_IO: ${path ?? syscall}: ${errnoText(error)}`;
}

/** Names the record and the way out, which is never taken by itself. */
export function corruptText({ seq, message }: { seq: number; message: string }, dataDir: string) {
  return `leasehold: LOG_CORRUPT: ${message}\n${wayOut(seq, dataDir)}`;
}

/** @returns the record to stop at: --at, else the newest. */
export function untilOf({ at }: OfflineOptions, log: LogReader): number {
  const last = log.lastNumber;
  return at === undefined ? last : wholeNumber('--at', at, 1, last);
}

/**
 * An earlier state cannot be rebuilt without the tasks whose records are removed by now.
 * @throws CliError that names the record from which on states can be told
 */
export function assertTold(log: DirectoryReader, until: number): void {
  const { removedAt } = log;
  // An archive that was begun after a removal may not have come to what had forgotten it.
  let by = removedAt > log.lastNumber ? removedAt : 0;
  for (const { type, seq } of log.read(until + 1, removedAt)) {
    if (type === 'HistoryForgotten') by = Math.max(by, seq);
  }
  if (by === 0) return;
  const why = `what was forgotten by then is removed, and ${ARCHIVED}`;
  const ended = by > log.lastNumber ? `; this log ends with record ${log.lastNumber}` : '';
  throw new CliError(
    EXIT.failed,
    `leasehold: the state after record ${until} cannot be told, it goes back to record ${by}: ` +
      `${why}${ended}`,
  );
}

/** The state as it was after the record `until`, with a bar on a terminal. */
export async function stateAt(log: LogReader, until: number, io: Io): Promise<State> {
  const bar = await openBar(io, { total: until, things: 'records' });
  try {
    return replay(log, { digestText, until, onProgress: (records) => bar.update(records) }).state;
  } finally {
    bar.stop();
  }
}
