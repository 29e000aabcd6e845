// Owns the JSON text of every answer, the same over HTTP, in a batch and on the socket. This file
// decides nothing: it writes the fields of the Response and no others.

import type { AnswerField, AnswerFields } from '../model/answer-fields.ts';
import * as a from '../model/answer-table.ts';
import { REASONS, type Refusal } from '../model/refusal.ts';
import { camelOf } from '../model/request-fields.ts';
import type { Response } from '../model/response.ts';
import { compile } from './compile.ts';
import { bytesMember } from './payload-bytes.ts';

/** A literal text, or an expression that makes one. */
type Piece = string | { readonly code: string };

/** @returns one JSON object, without line feeds. */
export function format(response: Response): string {
  switch (response.kind) {
    case 'refusal':
      return formatRefusal(response);
    case 'standing':
      return JSON.stringify(response);
    case 'overview':
      return JSON.stringify(response.body);
    default:
      return TEXTS[response.kind](response);
  }
}

const TEXTS = {
  submitted: textOf(whole(membersOf(a.submitted))),
  leased: textOf(whole(membersOf(a.leased))),
  heartbeat: textOf(whole(membersOf(a.heartbeat))),
  committed: textOf(whole(membersOf(a.committed))),
  redriven: textOf(whole(membersOf(a.redriven))),
  task: textOf(whole([...membersOf(a.summary, 'answer.task'), ...membersOf(a.taskBytes)])),
  tasks: textOf(whole(membersOf(a.tasks))),
};
const refusalMembers = textOf(membersOf(a.refusal));

/**
 * @param status an HTTP status that fits better than the one of the reason
 * @returns the body of a refusal: the members of RFC 9457, then those by which a program decides.
 *   The body shows nothing of the inside: no stack, no path, no payload
 */
export function formatRefusal(
  refusal: Refusal,
  status: number = REASONS[refusal.reason].status,
): string {
  const { reason, detail, outcome } = refusal;
  const { title } = REASONS[reason];
  const head =
    `{"type":"urn:leasehold:${reason}","title":"${title}",` +
    `"status":${status},"detail":${JSON.stringify(detail ?? `${title}.`)},` +
    `"outcome":"${outcome}","reason":"${reason}"`;
  return `${head}${refusalMembers(refusal)}}`;
}

function textOf(pieces: readonly Piece[]): (answer: object) => string {
  return compile({ bytesMember, joined }, 'answer', `return ${codeOf(pieces)};`);
}

/** An object of these members, the first of which is always there: its comma goes. */
function whole([first, ...others]: readonly Piece[]): Piece[] {
  return [`{${String(first).slice(1)}`, ...others, '}'];
}

/** @param item the expression for what has the members. @returns each with a comma before it. */
function membersOf(fields: AnswerFields, item = 'answer'): Piece[] {
  return Object.entries(fields).flatMap(([wire, field]): Piece[] => {
    const value = field.from ?? `${item}.${camelOf(wire)}`;
    const member = memberOf(wire, field, value);
    if (field.kind !== 'sign' && !field.isOptional) return member;
    const isThere = field.kind === 'sign' ? value : `${value} !== undefined`;
    return [{ code: `(${isThere} ? ${codeOf(member)} : '')` }];
  });
}

function memberOf(
  wire: string,
  { kind, schema, fields = {} }: AnswerField,
  value: string,
): Piece[] {
  const name = `,"${wire}":`;
  switch (kind) {
    case 'constant':
      return [`${name}"${schema.enum?.[0]}"`];
    case 'word':
      return [`${name}"`, { code: value }, '"'];
    case 'task':
      return [`${name}"T`, { code: value }, '"'];
    case 'lease':
      return [`${name}"L`, { code: value }, '"'];
    case 'next':
      return [name, { code: `(${value} === null ? 'null' : '"T' + ${value} + '"')` }];
    case 'json':
      return [name, { code: `JSON.stringify(${value})` }];
    case 'bytes':
      return [',', { code: `bytesMember('${wire}', ${value}, answer.base64)` }];
    case 'object':
      return [name, ...whole(membersOf(fields, value))];
    case 'list': {
      const item = codeOf(whole(membersOf(fields, 'item')));
      return [`${name}[`, { code: `joined(${value}, (item) => ${item})` }, ']'];
    }
    default:
      return [name, { code: value }];
  }
}

/** @returns one expression; literals that stand beside each other become one. */
function codeOf(pieces: readonly Piece[]): string {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') merged.splice(-1, 1, last + piece);
    else merged.push(piece);
  }
  return merged
    .map((piece) => (typeof piece === 'string' ? JSON.stringify(piece) : piece.code))
    .join(' + ');
}

function joined<T>(items: readonly T[], textOfItem: (item: T) => string): string {
  let text = '';
  for (const item of items) text += (text === '' ? '' : ',') + textOfItem(item);
  return text;
}
