// Owns how answers and records read on a terminal. Times are UTC, as everywhere in leasehold's
// texts: a log is compared across machines.

import { COLUMNS_DEFAULT, COLUMNS_MAX, COLUMNS_MIN } from '../model/limits.ts';
import { lineText, safeText } from '../model/safe-text.ts';
import * as timeText from '../model/time-text.ts';
import type { Io } from './command.ts';

type Fields = Readonly<Record<string, unknown>>;

/** 10:02:11.204; a field that is missing is shown as such, not guessed. */
export const clockText = timeText.orUnknown(timeText.clockText);
/** 2026-07-30 10:02:11 */
export const dateText = timeText.orUnknown(timeText.dateText);
/** 450 ms, 30.0 s, 2 min 5 s: of a duration in ms. */
export const durationText = timeText.orUnknown(timeText.durationText);

/** Tells where the records of a log come to another day. */
export class Days {
  #shown: string | undefined;
  #isFirst = true;
  readonly #isFirstTold: boolean;

  /** @param isFirstTold whether the day of the first record is told, too. */
  constructor(isFirstTold: boolean) {
    this.#isFirstTold = isFirstTold;
  }

  /** @returns the day that must be told before this record, such as 2026-07-30, or undefined. */
  before({ at }: Fields): string | undefined {
    if (typeof at !== 'number') return undefined;
    const day = timeText.dayText(at);
    const isTold = this.#isFirst ? this.#isFirstTold : day !== this.#shown;
    this.#isFirst = false;
    this.#shown = day;
    return isTold ? day : undefined;
  }
}

/** @param newest the number of the newest record */
export const noneText = (newest: number): string =>
  `no record matches; the newest record is ${newest}`;

export const recordText = ({ record }: Fields): string =>
  typeof record === 'number' ? `record ${record}` : 'no record';

/** "3 more queues", "1 more queue". @param things a plural in s */
export const moreText = (count: number, things: string): string =>
  `${count} more ${count === 1 ? things.replace(/s$/, '') : things}`;

/** The payload or result as it is shown; bytes that are no text are counted only. */
export function bytesText(fields: Fields, name: string): string {
  const text = fields[name];
  if (typeof text === 'string') return safeText(text).replace(/\n$/, '');
  const base64 = fields[`${name}_base64`];
  if (typeof base64 !== 'string') return '';
  return `(${Buffer.byteLength(base64, 'base64')} bytes, no text)`;
}

/** How wide the page may be: as the terminal is, or as COLUMNS says; 80 where there is neither. */
export function columnsOf({ stdout, env }: Pick<Io, 'stdout' | 'env'>): number {
  const given = stdout.isTTY ? stdout.columns : Number(env['COLUMNS'] ?? Number.NaN);
  const columns = Number.isInteger(given) && given > 0 ? given : COLUMNS_DEFAULT;
  return Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, columns));
}

/**
 * How wide a table may be: as a page on a terminal; without an end where a program reads it, which
 * needs whole names, unless COLUMNS says how wide.
 */
export function tableColumnsOf({ stdout, env }: Pick<Io, 'stdout' | 'env'>): number {
  const isWhole = !stdout.isTTY && !(Number(env['COLUMNS']) > 0);
  return isWhole ? Number.POSITIVE_INFINITY : columnsOf({ stdout, env });
}

/** One lease of a lease answer. */
export function leaseText(lease: Fields): string {
  const { lease_id, task_id, attempt, lease_expiry, lease_ms, queue, previous } = lease;
  const before = previous === undefined ? '' : `\n  before: ${previousText(previous as Fields)}`;
  return (
    `${lease_id} ${task_id} attempt ${attempt}, until ${clockText(lease_expiry)}` +
    ` (${durationText(lease_ms)}), queue ${queue}, record ${lease['fencing_token']}` +
    `${before}\n  payload: ${bytesText(lease, 'payload')}`
  );
}

function previousText({ attempt, lease_id, worker_id, ended, reason }: Fields): string {
  const why = reason === undefined ? '' : `: ${lineText(reason)}`;
  return `attempt ${attempt}, ${lease_id} of ${lineText(worker_id)}, ${ended}${why}`;
}
