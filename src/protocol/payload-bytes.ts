// Owns how the bytes of payloads and results are read from the wire and written to the wire again,
// unchanged: as text where they are UTF-8, else as base64. Between the two they lie in a record, as
// one field that log/write-fields.ts stores as it is; no code looks into these bytes. What a
// client's user gives as a payload becomes such bytes in client/content.ts.

import { isUtf8 } from 'node:buffer';
import { type Rejected, rejected } from '../model/refusal.ts';
import { decodeBase64 } from './base64.ts';
import { refuse } from './check-fields.ts';
import { asBuffer, isWellFormed } from './json.ts';

/** @returns the bytes of `name` or of `name_base64`; undefined when neither must be there. */
export function readBytes(
  name: string,
  text: string | undefined,
  base64: string | undefined,
  maxBytes: number,
  isRequired: boolean,
): Uint8Array | Rejected | undefined {
  if (text !== undefined && base64 !== undefined) {
    return refuse(`${name}_base64`, `Give either ${name} or ${name}_base64, not both.`);
  }
  if (text !== undefined) {
    if (!isWellFormed(text)) {
      const way = `Send bytes that are no text as ${name}_base64.`;
      return refuse(name, `${name} holds half a surrogate pair, which is no text. ${way}`);
    }
    return checkSize(name, Buffer.from(text, 'utf8'), maxBytes);
  }
  if (base64 === undefined) {
    const missing = `The field ${name} (or ${name}_base64) is missing.`;
    return isRequired ? refuse(name, missing) : undefined;
  }
  const bytes = decodeBase64(base64);
  if (bytes === undefined) {
    return refuse(
      `${name}_base64`,
      `${name}_base64 must be padded base64 of the standard alphabet.`,
    );
  }
  return checkSize(name, bytes, maxBytes);
}

/** @returns the bytes themselves, or `too_large`. */
export function checkSize(
  name: string,
  bytes: Uint8Array,
  maxBytes: number,
): Uint8Array | Rejected {
  if (bytes.length <= maxBytes) return bytes;
  const detail = `The ${name} has ${bytes.length} bytes; at most ${maxBytes} are taken.`;
  return rejected('too_large', detail, { field: name });
}

/**
 * @returns `"payload":"…"` when the bytes are valid UTF-8 (a byte order mark and NUL are kept),
 *   else `"payload_base64":"…"`
 */
export function bytesMember(name: string, bytes: Uint8Array, base64: boolean): string {
  const buffer = asBuffer(bytes);
  if (base64 || !isUtf8(buffer)) return `"${name}_base64":"${buffer.toString('base64')}"`;
  return `"${name}":${JSON.stringify(buffer.toString('utf8'))}`;
}
