// Owns the meaning of "the same content" for two submits with one request id: the same payload
// bytes, the same queue, and the same options named in the request. Defaults do not count. Delay,
// metadata and the request id are left out.

import { createHash } from 'node:crypto';
import type { SubmitRequest } from '../model/request.ts';
import { compile } from './compile.ts';
import { MEMBERS } from './members.ts';

const HASH_BYTES = 16;

// Neither a queue's name nor a number holds a line feed, so the lines can be read one way only.
const lines = MEMBERS.submit
  .filter(({ field }) => field.letter !== undefined)
  .map(({ name, field: { letter } }) => {
    const value = `request.${name}`;
    return `if (${value} !== undefined) head += '${letter}' + ${value} + '\\n';`;
  });
const headOf = compile<(request: SubmitRequest) => string>(
  {},
  'request',
  `let head = request.queue + '\\n';\n${lines.join('\n')}\nreturn head;`,
);

/**
 * The digest is stored with each task. If its computation changed, a repeated submit of a task in
 * an older log would look like a conflict. So the hashed text is part of the log's format.
 * @returns the first 16 bytes of SHA-256
 */
export function contentHash(request: SubmitRequest): Buffer {
  const hash = createHash('sha256')
    .update(`${headOf(request)}\n`)
    .update(request.payload);
  return hash.digest().subarray(0, HASH_BYTES);
}
