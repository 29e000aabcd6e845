// Owns how the bytes of a payload read as text and as JSON.

import { PermanentFailure } from './errors.ts';
import { reasonOf } from './reason.ts';

export const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** @throws PermanentFailure when the bytes are no JSON: no further attempt reads them otherwise. */
export function parseJson(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(bytesOf(bytes).toString('utf8'));
  } catch (cause) {
    throw new PermanentFailure(`the ${what} is no JSON: ${reasonOf(cause)}`, { cause });
  }
}
