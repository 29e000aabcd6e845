// Owns the checksum that every entry of the log carries: CRC-32 (the one of zlib and PNG) over the
// entry's number as eight little-endian bytes, then its body. With the number in it, a value that
// turns up under another number is as damaged as one with a flipped bit.

import * as zlib from 'node:zlib';

type Crc32 = (data: Uint8Array, value?: number) => number;

// Node has it since 20.15; below that the table does all the work, only slower.
const native: Crc32 | undefined = (zlib as { crc32?: Crc32 }).crc32;
// Up to here the loop is done before the call into the runtime has begun.
const LOOP_MAX_BYTES = 160;

const TABLE = new Int32Array(256);
for (let n = 0; n < 256; n++) {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb8_8320 : c >>> 1;
  TABLE[n] = c;
}

/** @returns the checksum of bytes from..to (exclusive) as the entry with this number. */
export function checksum(seq: number, bytes: Uint8Array, from: number, to: number): number {
  let crc = numberPrefix(seq);
  if (native !== undefined && to - from > LOOP_MAX_BYTES) {
    return native(bytes.subarray(from, to), ~crc >>> 0);
  }
  for (let at = from; at < to; at++) {
    crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[at] as number)) & 0xff] as number);
  }
  return ~crc >>> 0;
}

/** The running (inverted) state after the eight bytes of the number. */
function numberPrefix(seq: number): number {
  let crc = -1;
  let word = seq | 0;
  for (let i = 0; i < 8; i++) {
    if (i === 4) word = Math.floor(seq / 0x1_0000_0000);
    crc = (crc >>> 8) ^ (TABLE[(crc ^ word) & 0xff] as number);
    word >>>= 8;
  }
  return crc;
}
