// Owns one number per row, kept in fixed chunks of typed arrays: ten million tasks cost what their
// numbers cost, no object each, and growing never copies what is there.

const CHUNK_BITS = 14;
const CHUNK_ROWS = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_ROWS - 1;

type Chunk = Float64Array | Uint32Array | Uint16Array | Uint8Array;

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

/** Sequence numbers and times: exact to 2^53. */
export const f64Column = (): Column => new Column((length) => new Float64Array(length));
/** Rows, counts and interned indexes. */
export const u32Column = (): Column => new Column((length) => new Uint32Array(length));
export const u16Column = (): Column => new Column((length) => new Uint16Array(length));
export const u8Column = (): Column => new Column((length) => new Uint8Array(length));
