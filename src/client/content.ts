// Owns the bytes of a payload or a result that a program passes in. A string and bytes stay
// unchanged; any other value becomes its JSON text. A value that would lose its content on the way
// is refused. How the bytes travel on the wire is in protocol/payload-bytes.ts.

import { types } from 'node:util';

/**
 * @returns the bytes that are stored
 * @throws TypeError for a string with half a surrogate pair, for a value without JSON text
 *   (undefined, a function, a cycle), and for a value that would become `{}` although it has
 *   content (a Blob, a Map)
 */
export function encodeContent(content: unknown): Buffer {
  if (typeof content === 'string') return textBytes(content);
  // Not instanceof: bytes may come from another realm (vm, a test runner's sandbox).
  if (ArrayBuffer.isView(content)) {
    return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  }
  if (types.isAnyArrayBuffer(content)) return Buffer.from(content);
  const text = JSON.stringify(content, refuseEmptied);
  if (text === undefined) throw new TypeError(`${typeof content} has no JSON text`);
  return Buffer.from(text, 'utf8');
}

/** UTF-8 has no bytes for half a surrogate pair: another character would take its place. */
function textBytes(text: string): Buffer {
  const half = /\p{Surrogate}/u.exec(text);
  if (half === null) return Buffer.from(text, 'utf8');
  throw new TypeError(`the text is cut within a character, at position ${half.index}`);
}

/** JSON writes `{}` for objects whose content is not in enumerable members. */
function refuseEmptied(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const isEmpty = Object.keys(value).length === 0 && !types.isTypedArray(value);
  if (!isEmpty || isPlain(value) || types.isBoxedPrimitive(value)) return value;
  const name = Object.getPrototypeOf(value)?.constructor?.name ?? 'object';
  const where = key === '' ? '' : `${JSON.stringify(key)}: `;
  throw new TypeError(`${where}JSON would make {} of a ${name}; give its content instead`);
}

/** An object literal, also of another realm. */
export function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
