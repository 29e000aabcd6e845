// Owns the JSON of bytes and of optional members. Texts are joined by hand: one answer is made from
// a few pieces, and the object in between would cost more than the text.

import { isUtf8 } from 'node:buffer';

/**
 * @returns `"payload":"…"` when the bytes are valid UTF-8 (a byte order mark and NUL are kept),
 * else `"payload_base64":"…"`.
 */
export function bytesMember(name: string, bytes: Uint8Array, base64: boolean): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (base64 || !isUtf8(buffer)) return `"${name}_base64":"${buffer.toString('base64')}"`;
  return `"${name}":${JSON.stringify(buffer.toString('utf8'))}`;
}

/** @returns `,"name":value`, or nothing when there is no value: absent, never null. */
export const optionalMember = (name: string, value: unknown): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;
