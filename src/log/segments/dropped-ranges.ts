// Owns the set of numbers whose absence is declared, as sorted disjoint ranges. It does not know
// why they are absent: forgotten history, or numbers that a restored log skipped.

import type { DroppedSet } from '../log.ts';

type Range = readonly [from: number, to: number];

/** The part of the ranges that lies within from..to. */
export const clipped = (
  ranges: DroppedSet['ranges'],
  from: number,
  to: number,
): DroppedSet['ranges'] =>
  ranges
    .map(([first, last]) => [Math.max(first, from), Math.min(last, to)] as const)
    .filter(([first, last]) => first <= last);

export class DroppedRanges implements DroppedSet {
  private readonly sorted: Range[];

  /** @param ranges sorted and disjoint. */
  constructor(ranges: DroppedSet['ranges'] = []) {
    this.sorted = [...ranges];
  }

  get ranges(): readonly (readonly [from: number, to: number])[] {
    return this.sorted;
  }

  has(seq: number): boolean {
    return this.endOfRange(seq) !== 0;
  }

  /** @returns the last number of the range that holds this number, 0 when none does. */
  endOfRange(seq: number): number {
    const range = this.sorted[this.firstEndingAtOrAfter(seq)];
    return range !== undefined && range[0] <= seq ? range[1] : 0;
  }

  /** @returns the number itself, or the first after it that is not dropped. */
  present(seq: number): number {
    const end = this.endOfRange(seq);
    return end === 0 ? seq : end + 1;
  }

  /** @returns the number itself, or the last before it that is not dropped. */
  presentBefore(seq: number): number {
    const range = this.sorted[this.firstEndingAtOrAfter(seq)];
    return range !== undefined && range[0] <= seq ? range[0] - 1 : seq;
  }

  /** Adds from..to; ranges that touch or overlap become one. */
  add(from: number, to: number): void {
    const at = this.firstEndingAtOrAfter(from - 1);
    let [first, last] = [from, to];
    let after = at;
    for (; after < this.sorted.length; after++) {
      const range = this.sorted[after] as Range;
      if (range[0] > to + 1) break;
      first = Math.min(first, range[0]);
      last = Math.max(last, range[1]);
    }
    // Most often one range goes on: it has its place already.
    if (after - at === 1) this.sorted[at] = [first, last];
    else this.sorted.splice(at, after - at, [first, last]);
  }

  /**
   * Adds ranges that are sorted and disjoint. Those behind all others are shared, not copied: a log
   * of years has many, its segments hold them already, and all are gathered at each new segment.
   */
  addAll(ranges: DroppedSet['ranges']): void {
    for (const range of ranges) {
      const last = this.sorted.at(-1);
      if (last === undefined || range[0] > last[1] + 1) this.sorted.push(range);
      else this.add(range[0], range[1]);
    }
  }

  clear(): void {
    this.sorted.length = 0;
  }

  private firstEndingAtOrAfter(seq: number): number {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sorted[middle] as Range)[1] < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
