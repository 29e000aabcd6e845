// Owns the checks of single fields that a JSON Schema cannot express: the length in bytes, and
// lone surrogates. Each check returns the refusal that names the field.

import { METADATA_MAX_BYTES } from '../model/limits.ts';
import { type Rejected, rejected } from '../model/refusal.ts';
import { isWellFormed } from './json.ts';

/** @returns a `malformed` refusal that names the field. */
export const refuse = (field: string, detail: string): Rejected =>
  rejected('malformed', detail, { field });

/** @returns undefined when the text can be stored and is short enough. */
export function badText(field: string, text: string, maxBytes: number): Rejected | undefined {
  if (!isWellFormed(text)) {
    return refuse(field, `${field} holds half a surrogate pair, which is no text.`);
  }
  // Each code unit is at most 3 bytes: short texts need no counting.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return undefined;
  return refuse(field, `${field} must be at most ${maxBytes} bytes of UTF-8.`);
}

/** @returns undefined when the keys and values can be stored, and are small enough in all. */
export function badMetadata(metadata: Readonly<Record<string, string>>): Rejected | undefined {
  let bytes = 0;
  for (const key of Object.keys(metadata)) {
    const value = metadata[key] ?? '';
    // An assignment to this key is no assignment: whoever copies the object would lose it.
    if (key === '__proto__') {
      return refuse('metadata.__proto__', 'metadata cannot hold the key __proto__.');
    }
    if (!isWellFormed(key) || !isWellFormed(value)) {
      const field = isWellFormed(key) ? `metadata.${key}` : 'metadata';
      return refuse(field, 'metadata holds half a surrogate pair, which is no text.');
    }
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes <= METADATA_MAX_BYTES) return undefined;
  const detail = `metadata has ${bytes} bytes in all; at most ${METADATA_MAX_BYTES} are taken.`;
  return refuse('metadata', detail);
}
