// Owns one page of an environment's trees: where its nodes, keys and values lie. Each offset is
// checked before it is used: a damaged page throws an error and never causes a read outside the
// page.

import fs from 'node:fs';
import { PAGE_HEADER_BYTES, readWord } from './env-files.ts';

/** The file is not what its own pages say. */
export class PageDamaged extends Error {
  override readonly name = 'PageDamaged';
}

export const OVERFLOW = 4;
const BRANCH = 1;
const LEAF = 2;
const BIG_DATA = 1;
const KEY_BYTES = 8;
const NODE_HEADER_BYTES = 8;
/** Page number, transaction and number of pages of a value too large for its leaf. */
const REFERENCE_BYTES = 24;
const FLAGS_AT = 18;

export class Page {
  readonly bytes: Buffer;
  /** Nodes in the page. */
  count = 0;
  private number = 0;
  private upper = 0;
  private leaf = false;

  constructor(pageBytes: number) {
    this.bytes = Buffer.alloc(pageBytes);
  }

  /** Reads the page at this place of the tree; depth 1 is a leaf. */
  read(fd: number, number: number, depth: number, transaction: number): void {
    const { bytes } = this;
    readExactly(fd, bytes, bytes.length, number * bytes.length);
    this.number = number;
    this.leaf = depth === 1;
    assertPage(bytes, number, this.leaf ? LEAF : BRANCH, transaction);
    // Within a page all offsets are counted from the end of its header.
    const lower = PAGE_HEADER_BYTES + u16(bytes, 20);
    this.upper = PAGE_HEADER_BYTES + u16(bytes, 22);
    if (lower > this.upper || this.upper > bytes.length) throw this.damaged();
    this.count = (lower - PAGE_HEADER_BYTES) >> 1;
  }

  /** Which transaction wrote it. */
  get transaction(): number {
    return readWord(this.bytes, 8);
  }

  /** Where the node begins. Its key and its value, or the reference to it, lie within the page. */
  nodeAt(index: number): number {
    const { bytes } = this;
    const at = PAGE_HEADER_BYTES + u16(bytes, PAGE_HEADER_BYTES + 2 * index);
    if (at < this.upper || at + NODE_HEADER_BYTES > bytes.length) throw this.damaged();
    let end = at + NODE_HEADER_BYTES + u16(bytes, at + 6);
    if (this.leaf) {
      const flags = u16(bytes, at + 4);
      if (flags > BIG_DATA) throw this.damaged();
      end += flags === BIG_DATA ? REFERENCE_BYTES : this.size(at);
    }
    if (end > bytes.length) throw this.damaged();
    return at;
  }

  /** Keys are numbers of eight bytes, the greatest first. */
  key(at: number): number {
    const { bytes } = this;
    if (u16(bytes, at + 6) !== KEY_BYTES) throw this.damaged();
    return readKey(bytes, at + NODE_HEADER_BYTES);
  }

  child(at: number): number {
    return this.size(at) + u16(this.bytes, at + 4) * 0x1_0000_0000;
  }

  isLarge(at: number): boolean {
    return u16(this.bytes, at + 4) === BIG_DATA;
  }

  /** The first page of a large value, and how many there are. */
  reference(at: number): [number: number, count: number] {
    const dataAt = this.dataAt(at);
    return [readWord(this.bytes, dataAt), readWord(this.bytes, dataAt + 16)];
  }

  size(at: number): number {
    return (u16(this.bytes, at) | (u16(this.bytes, at + 2) << 16)) >>> 0;
  }

  dataAt(at: number): number {
    return at + NODE_HEADER_BYTES + u16(this.bytes, at + 6);
  }

  damaged(): PageDamaged {
    return new PageDamaged(`page ${this.number} is damaged`);
  }
}

/** @throws PageDamaged unless it is this page, of this kind, written up to this transaction. */
export function assertPage(bytes: Buffer, number: number, kind: number, transaction: number): void {
  if (readWord(bytes, 0) !== number || u16(bytes, FLAGS_AT) !== kind) {
    throw new PageDamaged(`page ${number} is damaged`);
  }
  if (readWord(bytes, 8) > transaction) {
    throw new PageDamaged(`page ${number} is newer than transaction ${transaction}`);
  }
}

export function readExactly(fd: number, into: Buffer, size: number, at: number): void {
  if (fs.readSync(fd, into, 0, size, at) < size) {
    throw new PageDamaged(`it is cut off before byte ${at + size}`);
  }
}

export function writeKey(key: number, target: Uint8Array, start: number): number {
  let high = Math.floor(key / 0x1_0000_0000);
  let low = key >>> 0;
  for (let i = 3; i >= 0; i--) {
    target[start + i] = high;
    target[start + 4 + i] = low;
    high >>>= 8;
    low >>>= 8;
  }
  return start + KEY_BYTES;
}

export function readKey(bytes: Uint8Array, at: number): number {
  return u32BigEndian(bytes, at) * 0x1_0000_0000 + u32BigEndian(bytes, at + 4);
}

const u16 = (b: Uint8Array, at: number): number => (b[at] as number) | ((b[at + 1] as number) << 8);

const u32BigEndian = (b: Uint8Array, at: number): number =>
  (((b[at] as number) << 24) |
    ((b[at + 1] as number) << 16) |
    ((b[at + 2] as number) << 8) |
    (b[at + 3] as number)) >>>
  0;
