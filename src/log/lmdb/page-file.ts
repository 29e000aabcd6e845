// Owns the reading of an environment's data file as plain bytes, without LMDB: what LMDB would
// answer to with a bus error or a segmentation fault is an error here. It writes nothing and takes
// no lock.
//
// A writer may be at work. It never changes a page that the newest meta page can reach, but uses
// freed ones again; as every page names the transaction that wrote it, a reader notices.

import fs from 'node:fs';
import { PAGE_BYTES, PAGE_HEADER_BYTES } from './env-files.ts';
import { assertPage, OVERFLOW, Page, PageDamaged, readExactly } from './page.ts';
import { type Meta, NO_PAGE, readNewestMeta } from './page-meta.ts';

/** Where an entry's bytes are: valid until the call returns. @returns false to stop. */
export type Visit = (key: number, bytes: Buffer, start: number, end: number) => boolean;

const DEPTH_MAX = 32;

export class PageFile {
  private readonly fd: number;
  /** Of what is seen; `refresh` replaces it. */
  meta: Meta;
  /** One page for each level of a tree: a parent is read on after its children. */
  private readonly levels: Page[] = [];
  private large = Buffer.alloc(0);

  /** @throws PageDamaged, and the error of the system when the file cannot be opened. */
  constructor(file: string) {
    this.fd = fs.openSync(file, 'r');
    try {
      this.meta = readNewestMeta(this.fd);
    } catch (error) {
      fs.closeSync(this.fd);
      throw error;
    }
  }

  /** Sees what was committed meanwhile. @returns whether anything was. */
  refresh(): boolean {
    const before = this.meta.transaction;
    this.meta = readNewestMeta(this.fd);
    return this.meta.transaction !== before;
  }

  /** Makes durable what is seen: its writer may not have come to that yet, or never will. */
  flush(): void {
    fs.fdatasyncSync(this.fd);
  }

  close(): void {
    fs.closeSync(this.fd);
  }

  /** Whole pages in the file. */
  get pages(): number {
    return Math.floor(fs.fstatSync(this.fd).size / PAGE_BYTES);
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

  /** One page of a tree, valid until another of the same depth is asked for. */
  page(number: number, depth: number): Page {
    if (depth < 1 || depth > DEPTH_MAX) throw new PageDamaged('a tree is too deep');
    this.assertInside(number, 1);
    const page = (this.levels[depth] ??= new Page(PAGE_BYTES));
    page.read(this.fd, number, depth, this.meta.transaction);
    return page;
  }

  /** Reads the header of a large value's pages and `size` bytes after it. */
  readLarge(page: Page, at: number, size: number): Buffer {
    const [number, count] = page.reference(at);
    const needed = PAGE_HEADER_BYTES + page.size(at);
    const { transaction } = this.meta;
    if (count < 1 || needed > count * PAGE_BYTES) throw page.damaged();
    this.assertInside(number, count);
    const wanted = PAGE_HEADER_BYTES + size;
    if (this.large.length < wanted) this.large = Buffer.allocUnsafeSlow(wanted * 2);
    readExactly(this.fd, this.large, wanted, number * PAGE_BYTES);
    assertPage(this.large, number, OVERFLOW, transaction);
    return this.large;
  }

  private assertInside(number: number, count: number): void {
    if (number < 2 || number + count - 1 > this.meta.lastPage) {
      throw new PageDamaged(`there is no page ${number}`);
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
