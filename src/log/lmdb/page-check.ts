// Owns the check of a whole data file before LMDB maps it. Every page that either of its trees can
// reach lies in the file and is used once; no page is both in use and free; no entry of the newest
// commit is hidden. The contents of the entries are not checked here: they have checksums.

import { PAGE_HEADER_BYTES, readWord } from './env-files.ts';
import { PageDamaged } from './page.ts';
import type { PageFile } from './page-file.ts';
import { NO_PAGE } from './page-meta.ts';

/** LMDB counts pages up to its last one; some of those may be free and were never written. */
const UNWRITTEN_MAX = 65_536;
const WORD_BYTES = 8;

/** @throws PageDamaged when the file could mislead LMDB. */
export function checkPages(file: PageFile): void {
  new PageCheck(file).check();
}

class PageCheck {
  private readonly file: PageFile;
  private readonly pages: number;
  private readonly used: Uint8Array;
  private readonly freeLists: Buffer[] = [];
  private entries = 0;

  constructor(file: PageFile) {
    const { lastPage } = file.meta;
    this.file = file;
    this.pages = file.pages;
    if (lastPage > this.pages + UNWRITTEN_MAX) throw this.cutOff(lastPage);
    this.used = new Uint8Array(lastPage + 1);
  }

  check(): void {
    const { free, main, mainEntries, transaction } = this.file.meta;
    if (main.root !== NO_PAGE) {
      // Every commit of ours adds an entry, and so writes the root anew.
      if (this.file.page(main.root, main.depth).transaction !== transaction) {
        throw new PageDamaged('its meta page names a root that is not the newest');
      }
      this.walk(main.root, main.depth, false);
    }
    if (this.entries !== mainEntries) {
      throw new PageDamaged(`it shows ${this.entries} entries of ${mainEntries}`);
    }
    if (free.root !== NO_PAGE) this.walk(free.root, free.depth, true);
    for (const list of this.freeLists) this.assertFree(list);
  }

  private walk(number: number, depth: number, isFreeList: boolean): void {
    const page = this.file.page(number, depth);
    this.take(number, 1);
    for (let i = 0; i < page.count; i++) {
      const at = page.nodeAt(i);
      if (depth > 1) {
        this.walk(page.child(at), depth - 1, isFreeList);
        continue;
      }
      const large = page.isLarge(at);
      const size = isFreeList ? page.size(at) : 0;
      const bytes = large ? this.file.readLarge(page, at, size) : page.bytes;
      if (large) this.take(...page.reference(at));
      const start = large ? PAGE_HEADER_BYTES : page.dataAt(at);
      if (isFreeList) this.freeLists.push(Buffer.from(bytes.subarray(start, start + size)));
      else this.entries += 1;
    }
  }

  private take(number: number, count: number): void {
    if (number + count > this.pages) throw this.cutOff(number + count - 1);
    for (let n = number; n < number + count; n++) {
      if (this.used[n] === 1) throw new PageDamaged(`page ${n} is in use twice`);
      this.used[n] = 1;
    }
  }

  /**
   * A list as LMDB stores it: the count of words, then page numbers. -n before a number: n pages.
   */
  private assertFree(list: Buffer): void {
    const words = list.length < WORD_BYTES ? 0 : readWord(list, 0);
    if (list.length < WORD_BYTES * (words + 1)) {
      throw new PageDamaged('its list of free pages is damaged');
    }
    for (let i = 1; i <= words; i++) {
      const word = Number(list.readBigInt64LE(WORD_BYTES * i));
      if (word === 0) continue;
      if (word < 0) i += 1;
      const first = word > 0 || i > words ? word : Number(list.readBigInt64LE(WORD_BYTES * i));
      const last = word > 0 ? first : first - word - 1;
      if (
        first < 2 ||
        last >= this.used.length ||
        this.used.subarray(first, last + 1).includes(1)
      ) {
        throw new PageDamaged(`page ${first} is listed as free and cannot be`);
      }
    }
  }

  private cutOff(page: number): PageDamaged {
    return new PageDamaged(`it is cut off: it has ${this.pages} pages and needs page ${page}`);
  }
}
