// Owns what "the same content" of two submits means (R16): payload bytes, queue and
// the options named in the request. Defaults do not count; delay, metadata and the id are left out.

import { createHash } from 'node:crypto';

/** Options that count, by the name that they have in the hashed text. */
export interface HashedOptions {
  readonly executionWindowMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly backoffMs?: number | undefined;
  readonly backoffFactor?: number | undefined;
  readonly backoffMaxMs?: number | undefined;
}

const HASH_BYTES = 16;

/**
 * The digest is stored with each task: a change here makes repeated submits of an older log look
 * like conflicts, so this text is part of the log's format.
 * @returns the first 16 bytes of SHA-256.
 */
export function contentHash(queue: string, options: HashedOptions, payload: Uint8Array): Buffer {
  // Neither a queue's name nor a number holds a line feed, so the lines can be read one way only.
  let head = `${queue}\n`;
  if (options.executionWindowMs !== undefined) head += `w${options.executionWindowMs}\n`;
  if (options.maxRetries !== undefined) head += `r${options.maxRetries}\n`;
  if (options.backoffMs !== undefined) head += `b${options.backoffMs}\n`;
  if (options.backoffFactor !== undefined) head += `f${options.backoffFactor}\n`;
  if (options.backoffMaxMs !== undefined) head += `m${options.backoffMaxMs}\n`;
  return createHash('sha256').update(`${head}\n`).update(payload).digest().subarray(0, HASH_BYTES);
}
