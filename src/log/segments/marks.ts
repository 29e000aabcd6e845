// Owns the entries of a segment that are no records: its header (key 0), its seal (the key after
// its last record) and the mark where a restored log skips numbers. Like records they carry a
// checksum over key and bytes; the type code 0 tells them from records.
//
// Seal and skip stand at the number that the next record would have taken. A writer that does not
// know of them still appends at that number on the condition that it is free, and is refused.

import { ByteReader, ByteWriter } from '../../model/bytes.ts';
import { checksum } from '../checksum.ts';
import { LogCorrupt } from '../log.ts';

export const HEADER_KEY = 0;

export interface Header {
  readonly kind: 'header';
  readonly ordinal: number;
  /** 0 as written first; each rewrite that drops forgotten history raises it by one. */
  readonly generation: number;
  /** The numbers of this segment whose absence is declared, sorted and disjoint. */
  readonly dropped: readonly (readonly [from: number, to: number])[];
  /** The log's last number when records were last removed from here; 0: none ever were. */
  readonly removedAt: number;
}

/** The segment ends here and the log goes on in the successor. */
export interface Seal {
  readonly kind: 'seal';
  readonly count: number;
  /** Folded over the checksums of all records of the segment, in order. */
  readonly hash: number;
  readonly successor: number;
}

/** The numbers from this key to `to` are skipped: a restored log goes on after them. */
export interface Skip {
  readonly kind: 'skip';
  readonly to: number;
}

export type Mark = Header | Seal | Skip;

const CHECKSUM_BYTES = 4;
const MARK_CODE = 0;
const KINDS: readonly Mark['kind'][] = ['header', 'seal', 'skip'];

export function encodeMark(key: number, mark: Mark): Uint8Array {
  const out = new ByteWriter();
  out.u32(0);
  out.u8(MARK_CODE);
  out.u8(KINDS.indexOf(mark.kind));
  if (mark.kind === 'seal') {
    out.varint(mark.count);
    out.u32(mark.hash);
    out.varint(mark.successor);
  } else if (mark.kind === 'skip') {
    out.varint(mark.to);
  } else {
    writeHeader(out, mark);
  }
  out.setU32(0, checksum(key, out.view(), CHECKSUM_BYTES, out.length));
  return out.view();
}

function writeHeader(out: ByteWriter, header: Header): void {
  out.varint(header.ordinal);
  out.varint(header.generation);
  out.varint(header.dropped.length);
  let end = 0;
  for (const [from, to] of header.dropped) {
    out.varint(from - end);
    out.varint(to - from);
    end = to;
  }
  // Left out where it says nothing: the headers of a log that is not rewritten stay as they were.
  if (header.removedAt > 0) out.varint(header.removedAt);
}

/** Whether these are the bytes of a mark; their checksum is not looked at. */
export const isMark = (bytes: Uint8Array, start = 0, end = bytes.length): boolean =>
  end - start > CHECKSUM_BYTES && bytes[start + CHECKSUM_BYTES] === MARK_CODE;

/** @throws LogCorrupt naming the key when these are not the bytes of a mark written under it. */
export function decodeMark(key: number, bytes: Uint8Array, start = 0, end = bytes.length): Mark {
  try {
    const input = new ByteReader(bytes, start, end);
    if (input.u32() !== checksum(key, bytes, start + CHECKSUM_BYTES, end)) {
      throw new RangeError('checksum mismatch');
    }
    if (input.u8() !== MARK_CODE) throw new RangeError('it is a record');
    const kind = KINDS[input.u8()];
    if (kind === 'seal') {
      return { kind, count: input.varint(), hash: input.u32(), successor: input.varint() };
    }
    if (kind === 'skip') return { kind, to: input.varint() };
    if (kind === 'header') return readHeader(input);
    throw new RangeError('unknown kind');
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const what = key === HEADER_KEY ? 'the header of its segment' : 'the mark in its place';
    throw new LogCorrupt(key, `${what} is damaged (${error.message})`);
  }
}

function readHeader(input: ByteReader): Header {
  const ordinal = input.varint();
  const generation = input.varint();
  const dropped: [number, number][] = [];
  let end = 0;
  for (let left = input.varint(); left > 0; left--) {
    const from = end + input.varint();
    end = from + input.varint();
    dropped.push([from, end]);
  }
  const removedAt = input.remaining > 0 ? input.varint() : 0;
  return { kind: 'header', ordinal, generation, dropped, removedAt };
}

/** Counts records and folds their checksums, for the seal and for who verifies it. */
export class Tally {
  count = 0;
  hash = 0;

  add(sum: number): void {
    this.count += 1;
    this.hash = Math.imul(this.hash ^ sum, 0x0100_0193) >>> 0;
  }

  equals(seal: Seal): boolean {
    return this.count === seal.count && this.hash === seal.hash;
  }
}
