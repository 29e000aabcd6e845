// The look at a data file's pages, on files that are told, not stored: which page is used where,
// and which are free. That stored ones are read right is shown by every test of the log.

import { expect } from 'chai';
import { PageDamaged } from '../../src/log/lmdb/page.ts';
import { checkPages } from '../../src/log/lmdb/page-check.ts';
import type { PageFile } from '../../src/log/lmdb/page-file.ts';

interface Told {
  readonly transaction?: number;
  /** Of a branch: its children. */
  readonly children?: readonly number[];
  /** Of a leaf: an entry each, with the run of pages that holds a large one. */
  readonly entries?: readonly (undefined | readonly [page: number, count: number])[];
  /** Of a leaf of the free list: the words of its one entry. */
  readonly free?: readonly number[];
}

const NONE = -1;
/** Pages 0 and 1 are the metas; 2 is the root, 3 and 4 its leaves, 5 and 6 a large entry, 7 the
 * list of the free ones: 8, and the run 9 to 11. */
const SOUND: Readonly<Record<number, Told>> = {
  2: { transaction: 9, children: [3, 4] },
  3: { entries: [undefined, [5, 2]] },
  4: { entries: [undefined] },
  7: { free: [3, 8, -3, 9] },
};

function fileOf(pages: Readonly<Record<number, Told>>, more: object = {}): PageFile {
  const meta = {
    lastPage: 11,
    free: { root: 7, depth: 1 },
    main: { root: 2, depth: 2 },
    mainEntries: 3,
    transaction: 9,
  };
  const page = (number: number) => {
    const { transaction = 1, children = [], entries = [], free } = pages[number] as Told;
    const words = BigInt64Array.from((free ?? []).map(BigInt));
    return {
      transaction,
      count: free === undefined ? children.length + entries.length : 1,
      bytes: Buffer.from(words.buffer),
      nodeAt: (place: number) => place,
      child: (at: number) => children[at],
      isLarge: (at: number) => entries[at] !== undefined,
      reference: (at: number) => entries[at],
      size: () => words.byteLength,
      dataAt: () => 0,
    };
  };
  const told = { meta: { ...meta, ...more }, pages: 12, page, readLarge: () => Buffer.alloc(0) };
  return told as unknown as PageFile;
}

describe('the look at a data file’s pages', () => {
  const refused = (pages: Readonly<Record<number, Told>>, words: RegExp, more: object = {}) =>
    expect(() => checkPages(fileOf({ ...SOUND, ...pages }, more))).to.throw(PageDamaged, words);

  it('finds nothing where each page is used once or free', () => {
    checkPages(fileOf(SOUND));
    checkPages(fileOf(SOUND, { free: { root: NONE, depth: 0 } }));
    checkPages(fileOf({}, { main: { root: NONE }, free: { root: NONE }, mainEntries: 0 }));
  });

  it('refuses a page that is used twice', () => {
    refused({ 2: { transaction: 9, children: [3, 3] } }, /page 3 is in use twice/);
    refused({ 4: { entries: [[6, 1]] } }, /page 6 is in use twice/);
    refused({ 4: { entries: [[4, 1]] } }, /page 4 is in use twice/);
  });

  it('refuses a page that is used and free', () => {
    refused({ 7: { free: [1, 3] } }, /page 3 is listed as free/);
    refused({ 7: { free: [1, 7] } }, /page 7 is listed as free/);
    refused({ 7: { free: [2, -2, 6] } }, /page 6 is listed as free/);
    refused({ 7: { free: [2, -2, 4] } }, /page 4 is listed as free/);
  });

  it('refuses free pages that cannot be, and a list that is cut off', () => {
    refused({ 7: { free: [1, 1] } }, /page 1 is listed as free/);
    refused({ 7: { free: [1, 12] } }, /page 12 is listed as free/);
    refused({ 7: { free: [2, -4, 9] } }, /page 9 is listed as free/);
    refused({ 7: { free: [3, 8] } }, /list of free pages is damaged/);
  });

  it('refuses pages beyond the file, hidden entries, and a root that is not the newest', () => {
    refused({ 4: { entries: [[11, 2]] } }, /has 12 pages and needs page 12/);
    refused({}, /shows 3 entries of 4/, { mainEntries: 4 });
    refused({}, /not the newest/, { transaction: 10 });
    refused({}, /cut off/, { lastPage: 70_000 });
  });
});
