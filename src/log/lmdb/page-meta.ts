// Owns the two meta pages with which a data file begins: which of them counts, and whether they
// can be believed. They carry no checksum, so they are compared with everything that is known
// about them.

import {
  INTEGER_KEYS_FLAG,
  META,
  META_MAGIC,
  META_VERSION,
  PAGE_BYTES,
  readWord,
} from './env-files.ts';
import { PageDamaged, readExactly } from './page.ts';

interface Tree {
  /** Page number, NO_PAGE when the tree is empty. */
  readonly root: number;
  readonly depth: number;
}

export interface Meta {
  readonly free: Tree;
  readonly main: Tree;
  readonly mainEntries: number;
  readonly lastPage: number;
  readonly transaction: number;
}

export const NO_PAGE = -1;
/** How often in a row a writer may commit between our looks at the one page and at the other. */
const TRIES = 20;

/** @throws PageDamaged when the two do not belong together or one is no meta page. */
export function readNewestMeta(fd: number): Meta {
  for (let left = TRIES; ; left--) {
    const pages = Buffer.alloc(PAGE_BYTES + META.end);
    readExactly(fd, pages, pages.length, 0);
    const first = parse(pages, 'first');
    const second = parse(pages.subarray(PAGE_BYTES), 'second');
    if (areNeighbours(first.transaction, second.transaction)) {
      return second.transaction > first.transaction ? second : first;
    }
    if (left === 0) throw new PageDamaged('its meta pages do not belong together');
  }
}

/** Commits alternate between the pages: even ones to the first, odd ones to the second. */
function areNeighbours(first: number, second: number): boolean {
  if (first === 0 && second === 0) return true; // As we made it.
  return first % 2 === 0 && second % 2 === 1 && Math.abs(first - second) === 1;
}

function parse(page: Buffer, which: string): Meta {
  const sound =
    page.readUInt32LE(META.magic) === META_MAGIC &&
    page.readUInt32LE(META.version) === META_VERSION &&
    page.readUInt32LE(META.pageBytes) === PAGE_BYTES &&
    page.readUInt16LE(META.freeFlags) === INTEGER_KEYS_FLAG &&
    page.readUInt16LE(META.mainFlags) === 0;
  if (!sound) throw new PageDamaged(`its ${which} meta page is damaged`);
  return {
    free: { root: readWord(page, META.freeRoot), depth: page.readUInt16LE(META.freeDepth) },
    main: { root: readWord(page, META.mainRoot), depth: page.readUInt16LE(META.mainDepth) },
    mainEntries: readWord(page, META.mainEntries),
    lastPage: readWord(page, META.lastPage),
    transaction: readWord(page, META.transaction),
  };
}
