// Owns how a Request lies in the mailbox: as bytes. Bytes cross threads ten times cheaper than
// objects, and a deeply nested object might be lost on the way. Both ends are of one build, so
// this form has no version and is never stored.

import { ByteReader, ByteWriter } from '../model/bytes.ts';
import { operationsThat } from '../model/operations.ts';
import type { Op, Request } from '../model/request.ts';
import { compile } from './compile.ts';
import { MEMBERS, type Member } from './members.ts';

const OPS = operationsThat(({ coordinator }) => coordinator !== undefined) as readonly Op[];
const CODES = Object.fromEntries(OPS.map((op, code) => [op, code])) as Record<Op, number>;

const writer = new ByteWriter(1_024);
const reader = new ByteReader();
const names = { writer, reader, writeList, readList, writeMetadata, readMetadata, wordAt };

/** @returns a view that the next call overwrites: the mailbox copies it at once. */
export function encodeRequest(request: Request): Uint8Array {
  writer.reset();
  (WRITERS[CODES[request.op]] as (typeof WRITERS)[number])(request);
  return writer.view();
}

/**
 * @param bytes the message is the part from..to (exclusive)
 * @returns the request; its payload, result and content hash are views into these bytes
 * @throws RangeError when encodeRequest did not make the message
 */
export function decodeRequest(bytes: Uint8Array, from = 0, to = bytes.length): Request {
  reader.reset(bytes, from, to);
  const read = READERS[reader.u8()];
  if (read === undefined) throw new RangeError('unknown op');
  const request = read();
  if (reader.remaining !== 0) throw new RangeError(`${reader.remaining} bytes after a request`);
  return request;
}

/** By the op's place in the list. */
const WRITERS = OPS.map((op, code): ((request: Request) => void) => {
  const lines = MEMBERS[op].map((member) => {
    const value = `request.${member.name}`;
    const { write } = wayOf(member, value);
    if (isThere(member)) return `${write};`;
    return `writer.bool(${value} !== undefined); if (${value} !== undefined) ${write};`;
  });
  return compile(names, 'request', `writer.u8(${code});\n${lines.join('\n')}`);
});

const READERS = OPS.map((op): (() => Request) => {
  const lines = MEMBERS[op].map((member) => {
    const { read } = wayOf(member, '');
    const value = isThere(member) ? read : `reader.bool() ? ${read} : undefined`;
    return `const ${member.name} = ${value};`;
  });
  const request = `{ op: '${op}', ${MEMBERS[op].map(({ name }) => name).join(', ')} }`;
  return compile(names, '', `${lines.join('\n')}\nreturn ${request};`);
});

function isThere({ field: { presence } }: Member): boolean {
  return presence === 'required' || presence === 'filled';
}

/** @returns the expressions that write a value and read it. */
function wayOf({ field: { kind, words } }: Member, value: string): { write: string; read: string } {
  const by = (method: string) => ({
    write: `writer.${method}(${value})`,
    read: `reader.${method}()`,
  });
  switch (kind) {
    case 'number':
    case 'task':
    case 'lease':
    case 'place':
      return by('varint');
    case 'fraction':
      return by('f64');
    case 'flag':
      return by('bool');
    case 'bytes':
      return by('bytes');
    case 'word': {
      const list = JSON.stringify(words);
      return {
        write: `writer.u8(${list}.indexOf(${value}))`,
        read: `wordAt(${list}, reader.u8())`,
      };
    }
    case 'names':
      return { write: `writeList(${value})`, read: 'readList()' };
    case 'metadata':
      return { write: `writeMetadata(${value})`, read: 'readMetadata()' };
    default:
      return by('string');
  }
}

function wordAt(words: readonly string[], index: number): string {
  const word = words[index];
  if (word === undefined) throw new RangeError(`no choice ${index}`);
  return word;
}

function writeList(list: readonly string[]): void {
  writer.varint(list.length);
  for (const name of list) writer.string(name);
}

function readList(): string[] {
  // Of its very length: a list that grows begins with room for seventeen names.
  const list = new Array<string>(reader.varint());
  for (let at = 0; at < list.length; at += 1) list[at] = reader.string();
  return list;
}

function writeMetadata(metadata: Readonly<Record<string, string>>): void {
  const entries = Object.entries(metadata);
  writer.varint(entries.length);
  for (const [key, value] of entries) {
    writer.string(key);
    writer.string(value);
  }
}

function readMetadata(): Record<string, string> {
  const entries: [string, string][] = [];
  for (let left = reader.varint(); left > 0; left -= 1) {
    entries.push([reader.string(), reader.string()]);
  }
  return Object.fromEntries(entries);
}
