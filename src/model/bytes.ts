// Owns the two cursors with which records and mailbox messages become bytes and back. It knows
// widths and lengths, never what a field means; a truncated or impossible input is a RangeError.
//
// Numbers are little-endian. A varint is seven bits a byte, low bits first, for 0 … 2^53 - 1. A
// string is a varint byte length and UTF-8; bytes are a varint length and the bytes themselves.

const FOUR_GROUPS = 0x1000_0000; // 2^28: four groups of seven bits fit the fast integer range.
const HIGH_END = 2 ** 25; // 28 + 25 bits are the 53 of a safe integer.
const ASCII_LOOP_MAX = 80; // Below this a loop beats the call into the runtime's UTF-8 encoder.
const EMPTY = Buffer.alloc(0);

/** A growing buffer; `reset` keeps the memory, so one writer serves many messages. */
export class ByteWriter {
  private buffer: Buffer;
  /** Bytes written so far. */
  length = 0;

  constructor(capacity = 256) {
    this.buffer = Buffer.allocUnsafeSlow(Math.max(16, capacity));
  }

  reset(): void {
    this.length = 0;
  }

  /** Goes on in new memory unless there is room. Views of what was written stay as they are. */
  makeRoom(size: number, capacity: number): void {
    if (this.buffer.length - this.length >= size) return;
    this.buffer = Buffer.allocUnsafeSlow(capacity);
    this.length = 0;
  }

  /** @returns a copy of what was written. */
  copy(): ArrayBuffer {
    return this.buffer.buffer.slice(0, this.length) as ArrayBuffer;
  }

  /** @returns what was written without copying it: valid until the next write or reset. */
  view(from = 0): Buffer {
    return this.buffer.subarray(from, this.length);
  }

  u8(value: number): void {
    if (this.length === this.buffer.length) this.grow(1);
    this.buffer[this.length++] = value;
  }

  bool(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  u32(value: number): void {
    this.setU32(this.claim(4), value);
  }

  /** Overwrites four bytes already written: a length or checksum that is known only later. */
  setU32(at: number, value: number): void {
    this.buffer.writeUInt32LE(value, at);
  }

  f64(value: number): void {
    const at = this.claim(8); // First: it may replace the buffer.
    this.buffer.writeDoubleLE(value, at);
  }

  /** @throws RangeError unless value is an integer from 0 to 2^53 - 1. */
  varint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`not a non-negative safe integer: ${value}`);
    }
    if (this.length + 8 > this.buffer.length) this.grow(8);
    const { buffer } = this;
    let at = this.length;
    let low = value;
    if (value >= FOUR_GROUPS) {
      const high = Math.floor(value / FOUR_GROUPS);
      low = value - high * FOUR_GROUPS;
      for (let group = 0; group < 4; group++, low >>>= 7) buffer[at++] = (low & 0x7f) | 0x80;
      low = high;
    }
    for (; low > 0x7f; low >>>= 7) buffer[at++] = (low & 0x7f) | 0x80;
    buffer[at++] = low;
    this.length = at;
  }

  /**
   * A lone surrogate becomes U+FFFD. A caller that must not lose one refuses the string before.
   */
  string(value: string): void {
    if (value.length <= ASCII_LOOP_MAX && this.ascii(value, this.length + 1)) {
      this.buffer[this.length - value.length - 1] = value.length;
      return;
    }
    this.varint(Buffer.byteLength(value));
    this.text(value);
  }

  /** Length-prefixed. */
  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.raw(value);
  }

  /** Without their length. */
  raw(value: Uint8Array): void {
    const at = this.claim(value.length);
    this.buffer.set(value, at);
  }

  /** Writes what another writer has, a few bytes, over bytes that were claimed. */
  put(at: number, { buffer, length }: ByteWriter): void {
    for (let i = 0; i < length; i += 1) this.buffer[at + i] = buffer[i] as number;
  }

  /** As `string`, but without the length. */
  text(value: string): void {
    if (value.length <= ASCII_LOOP_MAX && this.ascii(value, this.length)) return;
    const size = Buffer.byteLength(value);
    const at = this.claim(size);
    this.buffer.write(value, at, size, 'utf8');
  }

  /** Writes there unless a letter is beyond ASCII. @returns whether it has. */
  private ascii(value: string, start: number): boolean {
    const size = value.length;
    if (start + size > this.buffer.length) this.grow(size + 1);
    const { buffer } = this;
    for (let i = 0; i < size; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      buffer[start + i] = code;
    }
    this.length = start + size;
    return true;
  }

  /** Leaves so many bytes to be written later. @returns where they begin. */
  claim(size: number): number {
    const at = this.length;
    if (at + size > this.buffer.length) this.grow(size);
    this.length = at + size;
    return at;
  }

  private grow(size: number): void {
    let capacity = this.buffer.length * 2;
    while (capacity < this.length + size) capacity *= 2;
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}

/** Reads what a ByteWriter wrote. Every method throws RangeError when the input ends too early. */
export class ByteReader {
  private buffer: Buffer = EMPTY;
  /** Position of the next byte, in the buffer as given. */
  offset = 0;
  end = 0;

  constructor(bytes: Uint8Array = EMPTY, offset = 0, end = bytes.length) {
    this.reset(bytes, offset, end);
  }

  /** Starts anew at offset; end is exclusive. One reader serves many messages. */
  reset(bytes: Uint8Array, offset = 0, end = bytes.length): void {
    this.buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (end > bytes.length || offset > end) throw new RangeError('range outside the input');
    this.offset = offset;
    this.end = end;
  }

  get remaining(): number {
    return this.end - this.offset;
  }

  u8(): number {
    return this.buffer[this.take(1)] as number;
  }

  bool(): boolean {
    const value = this.u8();
    if (value > 1) throw new RangeError(`not a boolean: ${value}`);
    return value === 1;
  }

  u32(): number {
    return this.buffer.readUInt32LE(this.take(4));
  }

  f64(): number {
    return this.buffer.readDoubleLE(this.take(8));
  }

  varint(): number {
    const { buffer, end } = this;
    let at = this.offset;
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) throw truncated();
      const byte = buffer[at++] as number;
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.offset = at;
        return low;
      }
    }
    let high = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) throw truncated();
      const byte = buffer[at++] as number;
      high |= (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if (high >= HIGH_END) break;
      this.offset = at;
      return high * FOUR_GROUPS + low;
    }
    throw new RangeError('varint above 2^53 - 1');
  }

  string(): string {
    const size = this.varint();
    return this.buffer.toString('utf8', this.take(size), this.offset);
  }

  /** @returns a view into the input, not a copy: it lives and changes as the input does. */
  bytes(): Buffer {
    const size = this.varint();
    return this.buffer.subarray(this.take(size), this.offset);
  }

  /** @returns a copy that no change of the input reaches; small ones share the runtime's pool. */
  bytesCopy(): Buffer {
    return Buffer.from(this.bytes());
  }

  private take(size: number): number {
    const at = this.offset;
    if (at + size > this.end) throw truncated();
    this.offset = at + size;
    return at;
  }
}

const truncated = (): RangeError => new RangeError('input ends too early');
