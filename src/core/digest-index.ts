// Owns the way from a request id to its task, and what was submitted under it: 128-bit digests in
// columns beside the task's row, and an open-addressing table cut into shards, so that growing one
// shard never holds a request up.

import { type Column, u32Column } from './columns.ts';

/** 128 bits as four unsigned 32-bit words. */
export type Digest = readonly [number, number, number, number];

const SHARDS = 1024;
const EMPTY = 0;

export class DigestIndex {
  private readonly words: readonly Column[] = Array.from({ length: 4 }, u32Column);
  private readonly contents: readonly Column[] = Array.from({ length: 4 }, u32Column);
  private readonly slots: Uint32Array[] = Array.from({ length: SHARDS }, () => new Uint32Array(8));
  private readonly used = new Uint32Array(SHARDS);
  size = 0;

  /** @returns the row that was added under the digest, or -1. */
  find(digest: Digest): number {
    const table = this.slots[shardOf(digest[0])] as Uint32Array;
    const mask = table.length - 1;
    for (let slot = digest[1] & mask; ; slot = (slot + 1) & mask) {
      const entry = table[slot] as number;
      if (entry === EMPTY) return -1;
      if (this.matches(entry - 1, digest)) return entry - 1;
    }
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
    const shard = shardOf(digest[0]);
    if (((this.used[shard] as number) + 1) * 4 > (this.slots[shard] as Uint32Array).length * 3) {
      this.grow(shard);
    }
    this.place(this.slots[shard] as Uint32Array, row);
    this.used[shard] = (this.used[shard] as number) + 1;
    this.size += 1;
  }

  /** Removes a row's entry if it has one; the entries behind it close the hole. */
  removeIfPresent(row: number): void {
    const shard = shardOf(this.word(0, row));
    const table = this.slots[shard] as Uint32Array;
    const mask = table.length - 1;
    let hole = this.word(1, row) & mask;
    while (table[hole] !== row + 1) {
      if (table[hole] === EMPTY) return;
      hole = (hole + 1) & mask;
    }
    for (let slot = (hole + 1) & mask; table[slot] !== EMPTY; slot = (slot + 1) & mask) {
      const entry = table[slot] as number;
      const home = this.word(1, entry - 1) & mask;
      // An entry may move into the hole unless its home lies behind the hole (cyclically).
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        table[hole] = entry;
        hole = slot;
      }
    }
    table[hole] = EMPTY;
    this.used[shard] = (this.used[shard] as number) - 1;
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

  private place(table: Uint32Array, row: number): void {
    const mask = table.length - 1;
    let slot = this.word(1, row) & mask;
    while (table[slot] !== EMPTY) slot = (slot + 1) & mask;
    table[slot] = row + 1;
  }

  private grow(shard: number): void {
    const old = this.slots[shard] as Uint32Array;
    const table = new Uint32Array(old.length * 2);
    for (const entry of old) if (entry !== EMPTY) this.place(table, entry - 1);
    this.slots[shard] = table;
  }
}

const shardOf = (word: number): number => word & (SHARDS - 1);

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
