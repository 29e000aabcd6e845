// Owns the look at an environment's data file before LMDB maps it. LMDB believes every page number
// and offset that it finds; one beyond the file ends the process with a bus error or a segmentation
// fault instead of words. So every page that can be reached is looked at first, as plain bytes. What
// the entries say is not looked at: they have checksums.

import fs from 'node:fs';
import { dataFile, META, META_MAGIC, META_VERSION, PAGE_HEADER_BYTES } from './lmdb-files.ts';
import { LogError } from './log.ts';

interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: number;
  readonly roots: readonly { readonly page: number; readonly depth: number }[];
}

const NO_PAGE = -1;
const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;
const BIG_DATA = 1;
const NODE_HEADER_BYTES = 8;
const OVERFLOW_REFERENCE_BYTES = 24;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
/** A writer may be at work: the pages are believed when its transaction number stood still. */
const TRIES = 10;

/** @throws LogError LOG_IO in words when the file is missing, truncated, damaged or not ours. */
export function checkEnvironment(directory: string): void {
  const file = dataFile(directory);
  let fd: number;
  try {
    fd = fs.openSync(file, 'r');
  } catch (error) {
    throw refused(file, (error as Error).message);
  }
  try {
    check(file, fd);
  } finally {
    fs.closeSync(fd);
  }
}

function check(file: string, fd: number): void {
  for (let left = TRIES; ; left--) {
    const meta = newestMeta(file, fd);
    const problem = new PageCheck(fd, meta).problem();
    if (problem === undefined) return;
    if (newestMeta(file, fd).transaction === meta.transaction || left === 0) {
      throw refused(file, problem);
    }
  }
}

function newestMeta(file: string, fd: number): Meta {
  const first = readMeta(fd, 0);
  if (first === undefined) throw refused(file, 'its first meta page is damaged or cut off');
  const second = readMeta(fd, first.pageBytes);
  if (second === undefined || second.pageBytes !== first.pageBytes) {
    throw refused(file, 'its second meta page is damaged or cut off');
  }
  return second.transaction > first.transaction ? second : first;
}

function readMeta(fd: number, pageAt: number): Meta | undefined {
  const bytes = Buffer.alloc(META.end);
  if (fs.readSync(fd, bytes, 0, bytes.length, pageAt) < bytes.length) return undefined;
  if (bytes.readUInt32LE(META.magic) !== META_MAGIC) return undefined;
  if ((bytes.readUInt32LE(META.version) & 0xffff) !== META_VERSION) return undefined;
  const pageBytes = bytes.readUInt32LE(META.pageBytes);
  const powerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (!powerOfTwo || pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) return undefined;
  return {
    pageBytes,
    lastPage: readWord(bytes, META.lastPage),
    transaction: readWord(bytes, META.transaction),
    roots: [
      { page: readWord(bytes, META.freeRoot), depth: bytes.readUInt16LE(META.freeDepth) },
      { page: readWord(bytes, META.mainRoot), depth: bytes.readUInt16LE(META.mainDepth) },
    ],
  };
}

/** One walk over both trees of an environment. */
class PageCheck {
  private readonly fd: number;
  private readonly meta: Meta;
  private readonly pages: number;
  private readonly buffers: Buffer[] = [];
  private visited = 0;

  constructor(fd: number, meta: Meta) {
    this.fd = fd;
    this.meta = meta;
    this.pages = Math.floor(fs.fstatSync(fd).size / meta.pageBytes);
  }

  /** @returns what is wrong, or undefined. */
  problem(): string | undefined {
    for (const { page, depth } of this.meta.roots) {
      if (page === NO_PAGE) continue;
      if (depth < 1 || depth > 32) return `a tree of depth ${depth}`;
      const problem = this.page(page, depth);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  private page(number: number, depth: number): string | undefined {
    const outside = this.outside(number, 1);
    if (outside !== undefined) return outside;
    this.visited += 1;
    if (this.visited > this.pages) return 'its pages form a circle';
    const page = this.read(number, depth);
    const { pageBytes } = this.meta;
    const expected = depth === 1 ? LEAF : BRANCH;
    if (readWord(page, 0) !== number || (page.readUInt16LE(18) & 7) !== expected) {
      return `page ${number} is damaged`;
    }
    // Within a page all offsets are counted from the end of its header.
    const lower = PAGE_HEADER_BYTES + page.readUInt16LE(20);
    const upper = PAGE_HEADER_BYTES + page.readUInt16LE(22);
    if (lower > upper || upper > pageBytes) return `page ${number} is damaged`;
    for (let at = PAGE_HEADER_BYTES; at < lower; at += 2) {
      const nodeAt = PAGE_HEADER_BYTES + page.readUInt16LE(at);
      const problem =
        nodeAt < upper ? `page ${number} is damaged` : this.node(page, number, nodeAt, depth);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  private node(page: Buffer, number: number, at: number, depth: number): string | undefined {
    const { pageBytes } = this.meta;
    const damaged = `page ${number} is damaged`;
    if (at + NODE_HEADER_BYTES > pageBytes) return damaged;
    const low = page.readUInt32LE(at);
    const flags = page.readUInt16LE(at + 4);
    const dataAt = at + NODE_HEADER_BYTES + page.readUInt16LE(at + 6);
    if (depth > 1) {
      return dataAt > pageBytes ? damaged : this.page(low + flags * 0x1_0000_0000, depth - 1);
    }
    if ((flags & ~BIG_DATA) !== 0) return damaged;
    if (flags === 0) return dataAt + low > pageBytes ? damaged : undefined;
    if (dataAt + OVERFLOW_REFERENCE_BYTES > pageBytes) return damaged;
    return this.overflow(readWord(page, dataAt), readWord(page, dataAt + 16), low);
  }

  private overflow(number: number, count: number, bytes: number): string | undefined {
    const { pageBytes } = this.meta;
    if (count < 1 || PAGE_HEADER_BYTES + bytes > count * pageBytes) {
      return `page ${number} is damaged`;
    }
    const outside = this.outside(number, count);
    if (outside !== undefined) return outside;
    const header = this.read(number, 0, PAGE_HEADER_BYTES);
    const isOverflow = readWord(header, 0) === number && (header.readUInt16LE(18) & 7) === OVERFLOW;
    return isOverflow ? undefined : `page ${number} is damaged`;
  }

  private outside(number: number, count: number): string | undefined {
    if (number < 2 || number + count - 1 > this.meta.lastPage) return `there is no page ${number}`;
    if (number + count <= this.pages) return undefined;
    return `it is truncated: it has ${this.pages} pages and needs page ${number + count - 1}`;
  }

  /** One buffer for each depth: a parent is read on after its children. */
  private read(number: number, depth: number, bytes = this.meta.pageBytes): Buffer {
    const { pageBytes } = this.meta;
    const buffer = (this.buffers[depth] ??= Buffer.alloc(pageBytes));
    fs.readSync(this.fd, buffer, 0, bytes, number * pageBytes);
    return buffer;
  }
}

/** A 64-bit word as a number; all ones, LMDB's "no page", as -1. Greater ones lose no check. */
function readWord(bytes: Buffer, at: number): number {
  const high = bytes.readUInt32LE(at + 4);
  const low = bytes.readUInt32LE(at);
  return high === 0xffff_ffff && low === 0xffff_ffff ? NO_PAGE : high * 0x1_0000_0000 + low;
}

const refused = (file: string, why: string): LogError =>
  new LogError('LOG_IO', `cannot open the log's file ${file}: ${why}`);
