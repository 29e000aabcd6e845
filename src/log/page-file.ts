// Owns the reading of an environment's data file as plain bytes, without LMDB: what LMDB would
// answer to with a bus error or a segmentation fault is an error here. It writes nothing and takes
// no lock.
//
// A writer may be at work. It never changes a page that the newest meta page can reach, but uses
// freed ones again; as every page names the transaction that wrote it, a reader notices.

import fs from 'node:fs';
import { META, META_MAGIC, META_VERSION, PAGE_HEADER_BYTES, readWord } from './lmdb-files.ts';
import { assertPage, OVERFLOW, Page, PageDamaged, readExactly } from './page.ts';

interface Tree {
  readonly root: number;
  readonly depth: number;
}

interface Meta {
  readonly pageBytes: number;
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
}

/** Where an entry's bytes are: valid until the call returns. @returns false to stop. */
export type Visit = (key: number, bytes: Buffer, start: number, end: number) => boolean;

const NO_PAGE = -1;
const DEPTH_MAX = 32;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 32_768;

export class PageFile {
  private readonly fd: number;
  private meta: Meta;
  /** One page for each level of a tree: a parent is read on after its children. */
  private readonly levels: Page[] = [];
  private large = Buffer.alloc(0);
  /** How many pages the file has, where that matters: LMDB reads them through memory. */
  private filePages = Number.POSITIVE_INFINITY;

  /** @throws PageDamaged, and the error of the system when the file cannot be opened. */
  constructor(file: string) {
    this.fd = fs.openSync(file, 'r');
    try {
      this.meta = newestMeta(this.fd);
    } catch (error) {
      fs.closeSync(this.fd);
      throw error;
    }
  }

  /** Sees what was committed meanwhile. @returns whether anything was. */
  refresh(): boolean {
    const before = this.meta.transaction;
    this.meta = newestMeta(this.fd);
    return this.meta.transaction !== before;
  }

  /** Makes durable what is seen: its writer may not have come to that yet, or never will. */
  flush(): void {
    fs.fdatasyncSync(this.fd);
  }

  close(): void {
    fs.closeSync(this.fd);
  }

  /** Visits the entries from..to (inclusive) in ascending order of their keys. */
  scan(from: number, to: number, visit: Visit): void {
    const { root, depth } = this.meta.main;
    if (root !== NO_PAGE) this.scanPage(root, depth, from, to, visit);
  }

  /** The greatest key, -1 when there is none. */
  lastKey(): number {
    let { root: number, depth } = this.meta.main;
    if (number === NO_PAGE) return -1;
    for (; ; depth--) {
      const page = this.page(number, depth);
      if (page.count === 0) throw page.damaged();
      const at = page.nodeAt(page.count - 1);
      if (depth === 1) return page.key(at);
      number = page.child(at);
    }
  }

  /** Looks at every page that either tree can reach, and that no page is in use and free too. */
  check(): void {
    const { pageBytes, free, main, lastPage } = this.meta;
    this.filePages = Math.floor(fs.fstatSync(this.fd).size / pageBytes);
    const used = new Uint8Array(lastPage + 1);
    const lists: Buffer[] = [];
    if (main.root !== NO_PAGE) this.checkPage(main.root, main.depth, used);
    if (free.root !== NO_PAGE) this.checkPage(free.root, free.depth, used, lists);
    for (const list of lists) assertFree(used, list);
  }

  /** @param lists gets a copy of each value, where the values matter. */
  private checkPage(number: number, depth: number, used: Uint8Array, lists?: Buffer[]): void {
    const page = this.page(number, depth);
    take(used, number, 1);
    for (let i = 0; i < page.count; i++) {
      const at = page.nodeAt(i);
      if (depth > 1) {
        this.checkPage(page.child(at), depth - 1, used, lists);
        continue;
      }
      const size = lists === undefined ? 0 : page.size(at);
      const large = page.isLarge(at);
      const bytes = large ? this.readLarge(page, at, size) : page.bytes;
      const start = large ? PAGE_HEADER_BYTES : page.dataAt(at);
      if (large) take(used, ...page.reference(at));
      lists?.push(Buffer.from(bytes.subarray(start, start + size)));
    }
  }

  private scanPage(number: number, depth: number, from: number, to: number, visit: Visit): boolean {
    const page = this.page(number, depth);
    for (let i = firstIndex(page, depth, from); i < page.count; i++) {
      const at = page.nodeAt(i);
      if (depth > 1) {
        // A branch's first key is left out: all that is before the second lies under it.
        if (i > 0 && page.key(at) > to) return false;
        if (!this.scanPage(page.child(at), depth - 1, from, to, visit)) return false;
        continue;
      }
      const key = page.key(at);
      if (key > to) return false;
      const size = page.size(at);
      const start = page.isLarge(at) ? PAGE_HEADER_BYTES : page.dataAt(at);
      const bytes = page.isLarge(at) ? this.readLarge(page, at, size) : page.bytes;
      if (!visit(key, bytes, start, start + size)) return false;
    }
    return true;
  }

  private page(number: number, depth: number): Page {
    if (depth < 1 || depth > DEPTH_MAX) throw new PageDamaged('a tree is too deep');
    this.assertInside(number, 1);
    const page = (this.levels[depth] ??= new Page(this.meta.pageBytes));
    page.read(this.fd, number, depth, this.meta.transaction);
    return page;
  }

  /** Reads the header of a large value's pages and `size` bytes after it. */
  private readLarge(page: Page, at: number, size: number): Buffer {
    const [number, count] = page.reference(at);
    const needed = PAGE_HEADER_BYTES + page.size(at);
    const { pageBytes, transaction } = this.meta;
    if (count < 1 || needed > count * pageBytes) throw page.damaged();
    this.assertInside(number, count);
    const wanted = PAGE_HEADER_BYTES + size;
    if (this.large.length < wanted) this.large = Buffer.allocUnsafeSlow(wanted * 2);
    readExactly(this.fd, this.large, wanted, number * pageBytes);
    assertPage(this.large, number, OVERFLOW, transaction);
    return this.large;
  }

  private assertInside(number: number, count: number): void {
    if (number < 2 || number + count - 1 > this.meta.lastPage) {
      throw new PageDamaged(`there is no page ${number}`);
    }
    if (number + count > this.filePages) {
      throw new PageDamaged(`it is cut off: it has ${this.filePages} pages, not page ${number}`);
    }
  }
}

function take(used: Uint8Array, number: number, count: number): void {
  for (let n = number; n < number + count; n++) {
    if (used[n] === 1) throw new PageDamaged(`page ${n} is in use twice`);
    used[n] = 1;
  }
}

/** The list of freed pages as LMDB stores it: their count, then numbers; -n before one: n pages. */
function assertFree(used: Uint8Array, list: Buffer): void {
  const words = list.length < 8 ? 0 : readWord(list, 0);
  if (list.length < 8 * (words + 1)) throw new PageDamaged('its list of free pages is damaged');
  for (let i = 1; i <= words; i++) {
    const word = Number(list.readBigInt64LE(8 * i));
    if (word === 0) continue;
    if (word < 0) i += 1;
    const first = word < 0 && i <= words ? Number(list.readBigInt64LE(8 * i)) : word;
    const last = word < 0 ? first - word - 1 : first;
    if (first < 2 || last >= used.length) throw new PageDamaged(`there is no page ${last} to free`);
    if (used.subarray(first, last + 1).includes(1)) {
      throw new PageDamaged(`page ${first} is both in use and free`);
    }
  }
}

/** In a leaf the first node not below `from`, in a branch the one that may hold it. */
function firstIndex(page: Page, depth: number, from: number): number {
  let low = depth > 1 ? 1 : 0;
  let high = page.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const key = page.key(page.nodeAt(middle));
    if (depth > 1 ? key <= from : key < from) low = middle + 1;
    else high = middle;
  }
  return depth > 1 ? low - 1 : low;
}

function newestMeta(fd: number): Meta {
  const first = readMeta(fd, 0, 'first');
  const second = readMeta(fd, first.pageBytes, 'second');
  if (second.pageBytes !== first.pageBytes) throw new PageDamaged('its meta pages disagree');
  return second.transaction > first.transaction ? second : first;
}

function readMeta(fd: number, pageAt: number, which: string): Meta {
  const bytes = Buffer.alloc(META.end);
  readExactly(fd, bytes, bytes.length, pageAt);
  const pageBytes = bytes.readUInt32LE(META.pageBytes);
  const sound =
    bytes.readUInt32LE(META.magic) === META_MAGIC &&
    (bytes.readUInt32LE(META.version) & 0xffff) === META_VERSION &&
    (pageBytes & (pageBytes - 1)) === 0 &&
    pageBytes >= PAGE_BYTES_MIN &&
    pageBytes <= PAGE_BYTES_MAX;
  if (!sound) throw new PageDamaged(`its ${which} meta page is damaged`);
  return {
    pageBytes,
    free: { root: readWord(bytes, META.freeRoot), depth: bytes.readUInt16LE(META.freeDepth) },
    main: { root: readWord(bytes, META.mainRoot), depth: bytes.readUInt16LE(META.mainDepth) },
    lastPage: readWord(bytes, META.lastPage),
    transaction: readWord(bytes, META.transaction),
  };
}
