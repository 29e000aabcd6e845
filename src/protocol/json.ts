// Owns the way from bytes to a JSON value. Bytes that are not UTF-8, nesting that is too deep, and
// a key given twice are refused here, before anything looks at the value. This file knows nothing
// of requests. exact-lines.ts reads the four most frequent requests of the socket by one pattern,
// and leaves to this file whatever does not fit it. What comes from etcd or from another server's
// copy is not a request, and is read in log/etcd/strict-json.ts and log/copy-wire.ts.

import { isUtf8 } from 'node:buffer';
import { DEPTH_MAX } from '../model/limits.ts';
import { type Rejected, rejected } from '../model/refusal.ts';
import { closingQuote } from './closing-quote.ts';
import { roundedPath } from './rounded-numbers.ts';

export interface JsonValue {
  readonly kind: 'json';
  readonly value: unknown;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const POINT = 0x2e;
const EXPONENT = 0x65;
const CAPITAL_EXPONENT = 0x45;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** @returns the one JSON value in these bytes, or a `malformed` refusal. Never throws. */
export function parseJson(bytes: Uint8Array): JsonValue | Rejected {
  if (!isUtf8(bytes)) return rejected('malformed', 'The text is not valid UTF-8.');
  const text = asBuffer(bytes).toString('utf8');
  const { members, hasFractions } = scan(text);
  if (members < 0) {
    return rejected('malformed', `The JSON is nested deeper than ${DEPTH_MAX} levels.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return rejected('malformed', `The text is not one well-formed JSON value${where(error)}.`);
  }
  // Of two equal keys JSON.parse keeps the last and says nothing. Then the value has fewer keys
  // than the text has members.
  if (members !== countKeys(value)) {
    const field = duplicatePath(text).join('.');
    return rejected('malformed', `The key ${field} is given twice.`, { field });
  }
  const rounded = hasFractions ? roundedPath(text)?.join('.') : undefined;
  if (rounded !== undefined) {
    return rejected('malformed', `${rounded} has a fraction too small to be read.`, {
      field: rounded,
    });
  }
  return { kind: 'json', value };
}

/** @returns the same bytes, as a view where they are none of Node's buffers. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @returns whether a string can be stored as UTF-8 and come back the same: no lone surrogate. */
export const isWellFormed = (text: string): boolean =>
  (text as unknown as { isWellFormed(): boolean }).isWellFormed();

// The engine's message may quote the text, and the text may hold somebody's payload. So the
// refusal tells only the place. A message that gives the place ends with it; a message that quotes
// ends with "is not valid JSON".
const PLACE = / JSON at position (\d+)(?: \(line \d+ column \d+\))?$/;

function where(error: unknown): string {
  const place = PLACE.exec(error instanceof Error ? error.message : '');
  return place === null ? '' : ` (near character ${place[1]})`;
}

/**
 * Passes over the text once.
 * @returns how many `key: value` members it has, or -1 when it is nested too deep; and whether a
 *   number in it may have a fraction
 */
function scan(text: string): { readonly members: number; readonly hasFractions: boolean } {
  let members = 0;
  let hasFractions = false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at);
        break;
      case COLON:
        members += 1;
        break;
      case POINT:
      case EXPONENT:
      case CAPITAL_EXPONENT:
        hasFractions = true;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        if (depth > DEPTH_MAX) return { members: -1, hasFractions };
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
    }
  }
  return { members, hasFractions };
}

/** Keys in all objects of a value whose depth is bounded already. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countKeys(item);
    return keys;
  }
  const object = value as Record<string, unknown>;
  // What was parsed inherits nothing that can be enumerated, and a list of its keys is garbage.
  for (const key in object) {
    keys += 1;
    const inner = object[key];
    if (typeof inner === 'object') keys += countKeys(inner);
  }
  return keys;
}

interface Level {
  /** Keys seen so far; undefined inside an array. */
  readonly keys: Set<string> | undefined;
  /** The key or index whose value is being read. */
  at: string;
  index: number;
}

/** @returns the path by which a text was refused that is well-formed all the same. */
export function faultPath(text: string): string[] {
  const twice = duplicatePath(text);
  return twice.length > 0 ? twice : (roundedPath(text) ?? []);
}

/**
 * Runs only when a duplicate is known to exist, so it may be slow. The text is well-formed, and
 * its depth is bounded.
 * @returns the path of the first key that its object has already, the key last
 */
function duplicatePath(text: string): string[] {
  const levels: Level[] = [];
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    const top = levels.at(-1);
    if (char === '{') levels.push({ keys: new Set(), at: '', index: 0 });
    else if (char === '[') levels.push({ keys: undefined, at: '0', index: 0 });
    else if (char === '}' || char === ']') levels.pop();
    else if (char === ',' && top !== undefined && top.keys === undefined) {
      top.index += 1;
      top.at = String(top.index);
    } else if (char === '"') {
      const end = closingQuote(text, i);
      if (top?.keys !== undefined && isKey(text, end)) {
        top.at = JSON.parse(text.slice(i, end + 1)) as string;
        if (top.keys.has(top.at)) return levels.map((level) => level.at);
        top.keys.add(top.at);
      }
      i = end;
    }
  }
  return [];
}

function isKey(text: string, end: number): boolean {
  let at = end + 1;
  while (' \t\r\n'.includes(text[at] ?? '_')) at += 1;
  return text[at] === ':';
}
