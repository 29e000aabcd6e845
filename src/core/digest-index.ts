// Owns the way from a request id to its task, and the digest of the submitted content: 128-bit
// digests in columns beside the task's row, and lists of rows by digest. One list is added at a
// time (linear hashing). So no request waits while a whole table is copied, and no old table is
// left behind.

import { type Column, u32Column } from './columns.ts';

/**
 * 128 bits as four unsigned 32-bit words. Request ids are known by these alone: 16 bytes
 * of a SHA-256, however long the id.
 */
export type Digest = readonly [number, number, number, number];

/** Rows in a list on average: each costs a look, fewer cost memory. */
const ROWS_A_LIST = 2;
/** Links are rows plus one, so that a column that was never set ends a list. */
const END = 0;

export class DigestIndex {
  private readonly words: readonly Column[] = Array.from({ length: 4 }, u32Column);
  private readonly contents: readonly Column[] = Array.from({ length: 4 }, u32Column);
  private readonly firsts = u32Column();
  private readonly nexts = u32Column();
  private lists = 1;
  size = 0;

  /** @returns the row that was added under the digest, or -1. */
  find(digest: Digest): number {
    let link = this.firsts.get(this.listOf(digest[0]));
    while (link !== END && !this.matches(link - 1, digest)) link = this.nexts.get(link - 1);
    return link - 1;
  }

  /** @returns both digests of a row that has an entry, else undefined. */
  digestAt(row: number): readonly number[] | undefined {
    const digest: Digest = [
      this.word(0, row),
      this.word(1, row),
      this.word(2, row),
      this.word(3, row),
    ];
    if (this.find(digest) !== row) return undefined;
    return [...digest, ...this.contents.map((column) => column.get(row))];
  }

  /** @returns whether the row's task was submitted with this content. */
  hasContent(row: number, content: Digest): boolean {
    return content.every((word, index) => (this.contents[index] as Column).get(row) === word);
  }

  add(digest: Digest, row: number, content: Digest): void {
    for (let i = 0; i < 4; i += 1) {
      (this.words[i] as Column).set(row, digest[i] as number);
      (this.contents[i] as Column).set(row, content[i] as number);
    }
    this.put(row);
    this.size += 1;
    if (this.size > this.lists * ROWS_A_LIST) this.grow();
  }

  /** Removes a row's entry if it has one. */
  removeIfPresent(row: number): void {
    const list = this.listOf(this.word(0, row));
    let before = END;
    for (let link = this.firsts.get(list); link !== row + 1; link = this.nexts.get(link - 1)) {
      if (link === END) return;
      before = link;
    }
    const after = this.nexts.get(row);
    if (before === END) this.firsts.set(list, after);
    else this.nexts.set(before - 1, after);
    this.size -= 1;
  }

  private word(index: number, row: number): number {
    return (this.words[index] as Column).get(row);
  }

  private matches(row: number, digest: Digest): boolean {
    return (
      this.word(0, row) === digest[0] &&
      this.word(1, row) === digest[1] &&
      this.word(2, row) === digest[2] &&
      this.word(3, row) === digest[3]
    );
  }

  private put(row: number): void {
    const list = this.listOf(this.word(0, row));
    this.nexts.set(row, this.firsts.get(list));
    this.firsts.set(list, row + 1);
  }

  /** Adds one list. About half of the rows in the list that it splits move to it. */
  private grow(): void {
    const parted = this.lists - powerBelow(this.lists);
    let link = this.firsts.get(parted);
    this.firsts.set(parted, END);
    this.lists += 1;
    while (link !== END) {
      const next = this.nexts.get(link - 1);
      this.put(link - 1);
      link = next;
    }
  }

  /** By as many low bits as there are lists for; one bit fewer where that list is not there yet. */
  private listOf(word: number): number {
    const power = powerBelow(this.lists);
    const list = word % (2 * power);
    return list < this.lists ? list : list - power;
  }
}

/** @returns the greatest power of two that is not greater. */
const powerBelow = (count: number): number => 2 ** (31 - Math.clz32(count));

/** @returns the first 16 bytes as a digest. */
export function digestOf(bytes: Uint8Array): Digest {
  const word = (at: number): number =>
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0;
  return [word(0), word(4), word(8), word(12)];
}
