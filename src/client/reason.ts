// Owns the text of a thrown value. A handler may throw any value, also one whose properties throw
// when they are read. The report of the failure needs a reason all the same, so nothing in this
// file may throw.

import { inspect } from 'node:util';
import { REASON_MAX_BYTES } from '../model/limits.ts';

const NO_TEXT = 'a value that cannot be shown as text was thrown';
/** Causes of causes, and errors within errors. */
const DEPTH_MAX = 5;

/**
 * @returns the message of the thrown value with its causes (`fetch failed: connect ECONNREFUSED
 *   …`); never empty. A text longer than the coordinator takes is cut at its end, where it says
 *   least
 */
export function reasonOf(thrown: unknown): string {
  const text = textOf(thrown, 0).trim();
  return cut(text === '' ? NO_TEXT : text);
}

/** By its name, because a module may have the class from another copy of this package. */
export const isPermanentFailure = (thrown: unknown): boolean =>
  member(thrown, 'name') === 'PermanentFailure';

/** @returns the error's `code`, or undefined. */
export const codeOf = (thrown: unknown): unknown => member(thrown, 'code');

function textOf(thrown: unknown, depth: number): string {
  if (depth > DEPTH_MAX) return '';
  if (typeof thrown === 'string') return thrown === '' ? 'an empty text was thrown' : thrown;
  if (thrown === undefined || thrown === null) return `${thrown} was thrown`;
  if (typeof thrown === 'function') return `a function was thrown`;
  if (typeof thrown !== 'object') return String(thrown);
  const own = ownText(thrown, depth);
  const cause = member(thrown, 'cause');
  const because = cause === undefined || cause === null ? '' : textOf(cause, depth + 1);
  if (because === '' || own.includes(because)) return own;
  return own === '' ? because : `${own}: ${because}`;
}

/** What an object says about itself, without its cause. */
function ownText(thrown: object, depth: number): string {
  const message = member(thrown, 'message');
  const said = typeof message === 'string' ? message : jsonText(message);
  const parts = partsText(member(thrown, 'errors'), depth);
  if (said !== '' && parts !== '' && !said.includes(parts)) return `${said}: ${parts}`;
  const code = member(thrown, 'code');
  if (said === '' && parts !== '') return typeof code === 'string' ? `${code}: ${parts}` : parts;
  if (said !== '') return said;
  if (typeof code === 'string' && code !== '') return code;
  return describe(thrown);
}

/** The errors that an AggregateError stands for, each of them once. */
function partsText(errors: unknown, depth: number): string {
  if (!isArray(errors)) return '';
  const texts = attempt(() => [...errors].map((each) => textOf(each, depth + 1))) ?? [];
  return [...new Set(texts)].filter((text) => text !== '').join('; ');
}

/** An object without a message. */
function describe(thrown: object): string {
  const name = member(thrown, 'name');
  const text = isArray(thrown) ? '' : (attempt(() => String(thrown)) ?? '');
  if (text !== '' && !text.includes('[object ')) return text;
  const json = jsonText(thrown);
  if (json !== '' && json !== '{}') return json;
  if (typeof name === 'string' && name !== '') return name;
  const inspected = attempt(() => inspect(thrown, { breakLength: Number.POSITIVE_INFINITY }));
  return inspected === undefined || inspected.includes('[object ') ? NO_TEXT : inspected;
}

const jsonText = (value: unknown): string => {
  if (value === undefined) return '';
  return attempt(() => (typeof value === 'symbol' ? String(value) : JSON.stringify(value))) ?? '';
};

const isArray = (value: unknown): value is unknown[] =>
  attempt(() => Array.isArray(value)) ?? false;

/** @returns the member, or undefined: there is none, or looking at it throws. */
const member = (thrown: unknown, name: string): unknown => {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  return attempt(() => (thrown as Record<string, unknown>)[name]);
};

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

function cut(text: string): string {
  const bytes = Buffer.from(text, 'utf8');
  // By way of the bytes in any case: half a surrogate pair would be refused.
  if (bytes.length <= REASON_MAX_BYTES) return bytes.toString('utf8');
  let end = REASON_MAX_BYTES;
  // Not within a character: continuation bytes are 10xxxxxx.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString('utf8');
}
