// Owns one number per row, kept in fixed chunks of typed arrays: ten million tasks cost what their
// numbers cost, no object each, and growing never copies what is there.

import { invariant } from '../model/assert.ts';

const CHUNK_BITS = 14;
const CHUNK_ROWS = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_ROWS - 1;

type Chunk = Uint32Array | Uint16Array | Uint8Array;

export class Column {
  private readonly chunks: Chunk[] = [];
  private readonly make: (length: number) => Chunk;

  constructor(make: (length: number) => Chunk) {
    this.make = make;
  }

  /** @returns the row's number; 0 where none was ever set. */
  get(row: number): number {
    const chunk = this.chunks[row >>> CHUNK_BITS];
    return chunk === undefined ? 0 : (chunk[row & CHUNK_MASK] as number);
  }

  set(row: number, value: number): void {
    let chunk = this.chunks[row >>> CHUNK_BITS];
    if (chunk === undefined) {
      chunk = this.make(CHUNK_ROWS);
      this.chunks[row >>> CHUNK_BITS] = chunk;
    }
    chunk[row & CHUNK_MASK] = value;
  }
}

/**
 * Sequence numbers and times below 2^48, in six bytes: at a hundred thousand records a second that
 * is ninety years of them, and as milliseconds the year 10 889. A row has four such numbers: the
 * eight bytes of a Float64Array would make each task eight bytes larger.
 */
export class WideColumn {
  private readonly chunks: Uint16Array[] = [];

  get(row: number): number {
    const chunk = this.chunks[row >>> CHUNK_BITS];
    if (chunk === undefined) return 0;
    const at = (row & CHUNK_MASK) * 3;
    // By multiplication: a shift would cut the number to 32 bits.
    const high = (chunk[at + 1] as number) * 2 ** 16 + (chunk[at + 2] as number) * 2 ** 32;
    return (chunk[at] as number) + high;
  }

  set(row: number, value: number): void {
    invariant(value < 2 ** 48, value, 'is no number of a record, and no time');
    let chunk = this.chunks[row >>> CHUNK_BITS];
    if (chunk === undefined) {
      chunk = new Uint16Array(CHUNK_ROWS * 3);
      this.chunks[row >>> CHUNK_BITS] = chunk;
    }
    const at = (row & CHUNK_MASK) * 3;
    // What is stored is the last sixteen bits of the whole number.
    chunk[at] = value;
    chunk[at + 1] = value / 2 ** 16;
    chunk[at + 2] = value / 2 ** 32;
  }
}

/** Rows, counts and interned indexes. */
export const u32Column = (): Column => new Column((length) => new Uint32Array(length));
export const u16Column = (): Column => new Column((length) => new Uint16Array(length));
export const u8Column = (): Column => new Column((length) => new Uint8Array(length));
