// Owns the JSON text of every answer, the same over HTTP, in a batch and on the socket. This file
// decides nothing: it writes the fields of the Response and no others. The text is written piece by
// piece to where it is sent from: pieces that are joined first are garbage a moment later.

import type { AnswerField, AnswerFields } from '../model/answer-fields.ts';
import * as a from '../model/answer-table.ts';
import { ByteWriter } from '../model/bytes.ts';
import { REASONS, type Refusal } from '../model/refusal.ts';
import { camelOf } from '../model/request-fields.ts';
import type { Response } from '../model/response.ts';
import { compile } from './compile.ts';
import { bytesMember } from './payload-bytes.ts';

/** A literal text, or a statement that writes one. */
type Piece = string | { readonly code: string };
type Write = (out: ByteWriter, answer: object) => void;

/** Writes one JSON object, without line feeds. */
export function writeBody(out: ByteWriter, response: Response): void {
  switch (response.kind) {
    case 'refusal':
      return out.text(formatRefusal(response));
    case 'standing':
      return out.text(JSON.stringify(response));
    case 'overview':
      return out.text(JSON.stringify(response.body));
    default:
      return WRITERS[response.kind](out, response);
  }
}

/** @returns the same as text. */
export const format = (response: Response): string => textBy(writeBody, response);

const WRITERS = {
  submitted: writerOf(whole(membersOf(a.submitted))),
  leased: writerOf(whole(membersOf(a.leased))),
  heartbeat: writerOf(whole(membersOf(a.heartbeat))),
  committed: writerOf(whole(membersOf(a.committed))),
  redriven: writerOf(whole(membersOf(a.redriven))),
  task: writerOf(whole([...membersOf(a.summary, 'answer.task'), ...membersOf(a.taskBytes)])),
  tasks: writerOf(whole(membersOf(a.tasks))),
};
const writeRefusalMembers = writerOf(membersOf(a.refusal));

function textBy<T>(write: (out: ByteWriter, answer: T) => void, answer: T): string {
  const out = new ByteWriter();
  write(out, answer);
  return out.view().toString();
}

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
  return `${head}${textBy(writeRefusalMembers, refusal)}}`;
}

function writerOf(pieces: readonly Piece[]): Write {
  return compile({ bytesMember, writeList }, 'out, answer', codeOf(pieces));
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
    return [{ code: `if (${isThere}) { ${codeOf(member)} }` }];
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
      return [`${name}"`, textOf(value), '"'];
    case 'task':
      return [`${name}"T`, textOf(value), '"'];
    case 'lease':
      return [`${name}"L`, textOf(value), '"'];
    case 'next':
      return [name, textOf(`(${value} === null ? null : '"T' + ${value} + '"')`)];
    case 'json':
      return [name, textOf(`JSON.stringify(${value})`)];
    case 'bytes':
      return [',', textOf(`bytesMember('${wire}', ${value}, answer.base64)`)];
    case 'object':
      return [name, ...whole(membersOf(fields, value))];
    case 'list': {
      const item = codeOf(whole(membersOf(fields, 'item')));
      return [`${name}[`, { code: `writeList(out, ${value}, (item) => { ${item} });` }, ']'];
    }
    default:
      return [name, textOf(value)];
  }
}

function textOf(expression: string): Piece {
  return { code: `out.text(String(${expression}));` };
}

/** @returns statements; literals that stand beside each other become one. */
function codeOf(pieces: readonly Piece[]): string {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') merged.splice(-1, 1, last + piece);
    else merged.push(piece);
  }
  return merged
    .map((piece) =>
      typeof piece === 'string' ? `out.text(${JSON.stringify(piece)});` : piece.code,
    )
    .join('\n');
}

function writeList<T>(out: ByteWriter, items: readonly T[], write: (item: T) => void): void {
  for (let at = 0; at < items.length; at += 1) {
    if (at > 0) out.text(',');
    write(items[at] as T);
  }
}
