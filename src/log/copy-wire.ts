// Owns the form in which a log travels to a machine that makes a copy of it: frames of a kind, a
// length and bytes. A log begins, goes on with segments, each followed by its rows as they are
// stored, and ends. What does not end was cut off.

import type { Entry } from './lmdb/env.ts';
import { LogError } from './log.ts';

export interface Begin {
  /** Of this form. */
  readonly format: number;
  /** The last record that will come. */
  readonly last: number;
  /** The cluster of whose log this is a copy, and the random names of that log and of the copy. */
  readonly cluster?: {
    readonly cluster: string;
    readonly log: string;
    /** Absent: the sender is an older build. */
    readonly mirror?: string;
  };
}

export interface Part {
  readonly ordinal: number;
  readonly generation: number;
  readonly dropped: readonly (readonly [from: number, to: number])[];
  readonly removedAt: number;
}

export interface End {
  readonly leftBehind: number;
  readonly goneBy: number;
}

export type Frame =
  | { readonly kind: 'begin'; readonly begin: Begin }
  | { readonly kind: 'part'; readonly part: Part }
  | { readonly kind: 'rows'; readonly rows: readonly Entry[] }
  | { readonly kind: 'end'; readonly end: End };

export const FORMAT = 1;
const KINDS = ['begin', 'part', 'rows', 'end'] as const;
const HEAD_BYTES = 5;
/** A record has 64 MiB of payload at most; its names and the rows before it add a little. */
const FRAME_MAX_BYTES = 128 * 1024 * 1024;
const KEY_BYTES = 8;
const ROW_HEAD_BYTES = KEY_BYTES + 4;

export function encodeFrame(frame: Frame): Buffer {
  if (frame.kind === 'rows') return framed('rows', rowsBytes(frame.rows));
  const { kind } = frame;
  const said = kind === 'begin' ? frame.begin : kind === 'part' ? frame.part : frame.end;
  return framed(kind, Buffer.from(JSON.stringify(said)));
}

function framed(kind: Frame['kind'], bytes: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(KINDS.indexOf(kind));
  head.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

function rowsBytes(rows: readonly Entry[]): Buffer {
  const parts = rows.flatMap(([key, bytes]) => {
    const head = Buffer.alloc(ROW_HEAD_BYTES);
    head.writeBigUInt64LE(BigInt(key));
    head.writeUInt32LE(bytes.length, KEY_BYTES);
    return [head, bytes];
  });
  return Buffer.concat(parts);
}

/** @throws LogError LOG_IO when these are no frames, or end within one. */
export async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let wanted = HEAD_BYTES;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    // A large frame comes in many chunks: they are joined once, when all of them are there.
    if (bytes < wanted) continue;
    let held = Buffer.concat(parts);
    for (wanted = lengthIn(held); wanted <= held.length; wanted = lengthIn(held)) {
      yield decode(held.readUInt8(), held.subarray(HEAD_BYTES, wanted));
      held = held.subarray(wanted);
    }
    parts = [held];
    bytes = held.length;
  }
  if (bytes > 0) throw new LogError('LOG_IO', 'it was cut off');
}

/** @returns the bytes of the first frame, or of its head as long as that is not there. */
function lengthIn(held: Buffer): number {
  if (held.length < HEAD_BYTES) return HEAD_BYTES;
  const bytes = held.readUInt32LE(1);
  if (held.readUInt8() >= KINDS.length || bytes > FRAME_MAX_BYTES) throw noLog();
  return HEAD_BYTES + bytes;
}

function decode(kind: number, bytes: Buffer): Frame {
  try {
    const name = KINDS[kind];
    if (name === 'rows') return { kind: name, rows: rowsIn(bytes) };
    const said = JSON.parse(bytes.toString('utf8')) as object;
    if (name === 'begin') return { kind: name, begin: said as Begin };
    if (name === 'part') return { kind: name, part: partIn(said as Part) };
    return { kind: 'end', end: said as End };
  } catch (error) {
    if (error instanceof LogError) throw error;
    throw noLog();
  }
}

/** The numbers become a name in a directory. */
function partIn(part: Part): Part {
  const { ordinal, generation, dropped, removedAt } = part;
  const numbers = [ordinal, generation, removedAt, ...dropped.flat()];
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) throw noLog();
  return { ordinal, generation, dropped, removedAt };
}

function rowsIn(bytes: Buffer): Entry[] {
  const rows: Entry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const key = Number(bytes.readBigUInt64LE(at));
    const start = at + ROW_HEAD_BYTES;
    const end = start + bytes.readUInt32LE(at + KEY_BYTES);
    if (end > bytes.length || !Number.isSafeInteger(key)) throw noLog();
    rows.push([key, bytes.subarray(start, end)]);
    at = end;
  }
  return rows;
}

const noLog = (): LogError => new LogError('LOG_IO', 'what comes from there is no log');
