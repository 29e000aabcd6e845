// Owns what a MemoryLog's "device" holds: the durable entries, shared by all that open it. Tests
// damage it here; the log above must notice.

import { DroppedRanges } from './segments/dropped-ranges.ts';

export class MemoryStore {
  /** The stored bytes of each record by its number. Tests may change or remove them. */
  readonly entries = new Map<number, Uint8Array>();
  readonly dropped = new DroppedRanges();
  /** By the first record after each gap of a restored log: how many numbers it skipped. */
  readonly skips = new Map<number, number>();
  last = 0;
  /** By each record that was removed: how far the log went then. */
  readonly removals = new Map<number, number>();
  bytes = 0;

  /**
   * One atomic commit, on the condition that `skippedFrom` is the next number.
   * @param skippedFrom equal to first, or the first of the numbers that a restored log skips.
   * @returns false, with nothing written, when it is not.
   */
  commit(first: number, skippedFrom: number, entries: readonly Uint8Array[]): boolean {
    if (skippedFrom !== this.last + 1) return false;
    if (first > skippedFrom) {
      this.dropped.add(skippedFrom, first - 1);
      this.skips.set(first, first - skippedFrom);
    }
    let seq = first;
    for (const bytes of entries) {
      this.entries.set(seq, bytes);
      this.bytes += bytes.length;
      seq += 1;
    }
    this.last = seq - 1;
    return true;
  }

  /** Removes a record for good; its number becomes dropped. */
  drop(seq: number): void {
    this.bytes -= this.entries.get(seq)?.length ?? 0;
    this.entries.delete(seq);
    this.dropped.add(seq, seq);
    this.removals.set(seq, this.last);
  }

  /** A copy as it stands: what a crash at this moment leaves, as commits are atomic. */
  copy(): MemoryStore {
    const other = new MemoryStore();
    for (const [seq, bytes] of this.entries) other.entries.set(seq, bytes.slice());
    for (const [from, to] of this.dropped.ranges) other.dropped.add(from, to);
    for (const [seq, skipped] of this.skips) other.skips.set(seq, skipped);
    other.last = this.last;
    for (const [seq, at] of this.removals) other.removals.set(seq, at);
    other.bytes = this.bytes;
    return other;
  }
}
