// Owns what "the same content" of two submits means (ruling: request ids): payload bytes, queue and
// the options named in the request. Defaults do not count; delay, metadata and the id are left out.

import { createHash } from 'node:crypto';
import type { SubmitRequest } from '../model/request.ts';
import { MEMBERS } from './members.ts';

const HASH_BYTES = 16;
const COUNTED = MEMBERS.submit.filter(({ field }) => field.letter !== undefined);

/**
 * The digest is stored with each task: a change here makes repeated submits of an older log look
 * like conflicts, so this text is part of the log's format.
 * @returns the first 16 bytes of SHA-256.
 */
export function contentHash(request: SubmitRequest): Buffer {
  // Neither a queue's name nor a number holds a line feed, so the lines can be read one way only.
  let head = `${request.queue}\n`;
  for (const { name, field } of COUNTED) {
    const value = request[name as keyof SubmitRequest];
    if (value !== undefined) head += `${field.letter}${value}\n`;
  }
  const hash = createHash('sha256').update(`${head}\n`).update(request.payload);
  return hash.digest().subarray(0, HASH_BYTES);
}
