// Owns the envelope of the socket: JSON-RPC 2.0 over lines. This file takes a line apart into
// calls, and makes the text around an answer. It does not know what a method means.

import { BATCH_MAX, ID_MAX_BYTES } from '../model/limits.ts';
import type { Rejected } from '../model/refusal.ts';
import { readExact } from './exact-lines.ts';
import { faultPath, parseJson } from './json.ts';

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const UNAUTHORIZED = -32_001;

/** What is no well-formed call, with the answer to it. */
export interface BadCall {
  readonly kind: 'bad';
  readonly answer: string;
}

export interface RpcCall {
  readonly kind: 'call';
  /** The id's JSON text, as it goes into the answer. */
  readonly id: string;
  readonly method: string;
  readonly params: unknown;
  /** The params are known to have the form that the method asks for. */
  readonly hasForm?: boolean;
}

export type RpcItem = RpcCall | BadCall;

export type RpcMessage =
  /** A blank line, which people send. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'one'; readonly item: RpcItem }
  | { readonly kind: 'batch'; readonly items: readonly RpcItem[] };

const NO_PARAMS: Readonly<Record<string, unknown>> = Object.freeze({});
const MEMBERS = new Set(['jsonrpc', 'id', 'method', 'params']);

/** Takes one line apart; never throws. */
export function readLine(line: Buffer): RpcMessage {
  const exact = readExact(line);
  return exact === undefined ? readAnyLine(line) : { kind: 'one', item: exact };
}

/** The same, whatever the line is. */
export function readAnyLine(line: Buffer): RpcMessage {
  if (isBlank(line)) return { kind: 'nothing' };
  const parsed = parseJson(line);
  if (parsed.kind === 'refusal') return { kind: 'one', item: unread(line, parsed) };
  const { value } = parsed;
  if (!Array.isArray(value)) return { kind: 'one', item: readCall(value) };
  if (value.length === 0 || value.length > BATCH_MAX) {
    const text = `A batch has 1 to ${BATCH_MAX} calls.`;
    return { kind: 'one', item: bad('null', INVALID_REQUEST, text) };
  }
  return { kind: 'batch', items: value.map(readCall) };
}

/** The text before a result's JSON; after it comes `RESULT_END`. */
export const resultStart = (id: string): string => `{"jsonrpc":"2.0","id":${id},"result":`;
export const RESULT_END = '}';

/** @returns a whole error answer, without the line feed. */
export function errorAnswer(id: string, code: number, message: string, data?: object): string {
  const shown = data === undefined ? '' : `,"data":${JSON.stringify(data)}`;
  const error = `{"code":${code},"message":${JSON.stringify(message)}${shown}}`;
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

/** @returns the error answer for parameters that are not what the method takes. */
export function invalidParams(id: string, { detail, field, outcome, reason }: Rejected): string {
  const data = field === undefined ? { outcome, reason } : { field, outcome, reason };
  return errorAnswer(id, INVALID_PARAMS, detail ?? 'Invalid params.', data);
}

/** A line beyond the limit cannot be read, so its id is not known. */
export function tooLongAnswer(limitBytes: number): string {
  const text = `The line is longer than ${limitBytes} bytes.`;
  const data = { outcome: 'REJECTED', reason: 'too_large', limit_bytes: limitBytes };
  return errorAnswer('null', INVALID_REQUEST, text, data);
}

function readCall(value: unknown): RpcItem {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return bad('null', INVALID_REQUEST, 'A call is a JSON object.');
  }
  const call = value as Record<string, unknown>;
  const id = idText(call.id);
  if (id === undefined) {
    const wanted = `A call needs an id: a string of up to ${ID_MAX_BYTES} bytes or a whole number.`;
    return bad('null', INVALID_REQUEST, wanted, { field: 'id' });
  }
  if (call.jsonrpc !== '2.0') {
    return bad(id, INVALID_REQUEST, 'jsonrpc must be "2.0".', { field: 'jsonrpc' });
  }
  if (typeof call.method !== 'string') {
    return bad(id, INVALID_REQUEST, 'method must be a string.', { field: 'method' });
  }
  for (const member in call) {
    if (!MEMBERS.has(member)) {
      const field = member.slice(0, ID_MAX_BYTES);
      return bad(id, INVALID_REQUEST, `There is no member ${field} in a call.`, { field });
    }
  }
  const params = call.params ?? NO_PARAMS;
  if (typeof params !== 'object' || Array.isArray(params)) {
    return bad(id, INVALID_PARAMS, 'params must be an object: fields go by name.');
  }
  return { kind: 'call', id, method: call.method, params };
}

/** A number that JavaScript would round could not be given back as it came. */
function idText(id: unknown): string | undefined {
  if (typeof id === 'string' && Buffer.byteLength(id) <= ID_MAX_BYTES) return JSON.stringify(id);
  return Number.isSafeInteger(id) ? String(id) : undefined;
}

function bad(id: string, code: number, message: string, data?: object): BadCall {
  return { kind: 'bad', answer: errorAnswer(id, code, message, data) };
}

/** What cannot be read has no id, except where only a key or a number is at fault. */
function unread(line: Buffer, { detail, field }: Rejected): BadCall {
  const text = detail ?? 'The line cannot be read.';
  if (field === undefined) return bad('null', PARSE_ERROR, text);
  const source = line.toString('utf8');
  // The path and not its dotted text: a member may be called `params.x`, with the dot in its name.
  const [member, ...inside] = faultPath(source);
  const call: unknown = JSON.parse(source);
  const known = Array.isArray(call) || member === 'id' ? undefined : readCall(call);
  const id = known?.kind === 'call' ? known.id : 'null';
  if (member !== 'params' || inside.length === 0) return bad(id, INVALID_REQUEST, text, { field });
  return bad(id, INVALID_PARAMS, text, { field: inside.join('.') });
}

function isBlank(line: Buffer): boolean {
  // By the index: an iterator and its results would be made for every line.
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at];
    if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
