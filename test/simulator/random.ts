// Owns the dice: streams of numbers that follow from a seed and a name alone, so that taking one
// kind of fault out of a run leaves the throws of all others as they were.

export class Random {
  // Signed words: the engine keeps them in place, and an unsigned one may need a box.
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: number, name = '') {
    this.a = seed | 0;
    this.b = Math.floor(seed / 2 ** 32) | 0;
    this.c = 0x9e3779b9 | 0;
    for (let i = 0; i < name.length; i += 1) {
      this.c = Math.imul(this.c ^ name.charCodeAt(i), 0x01000193);
    }
    for (let i = 0; i < 12; i += 1) this.next();
  }

  /** @returns an unsigned 32-bit number (the generator sfc32). */
  next(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** @returns a whole number from 0 to below the limit. */
  below(limit: number): number {
    return Math.floor((this.next() / 2 ** 32) * limit);
  }

  /** @returns a whole number from the first to the last, both possible. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() / 2 ** 32 < probability;
  }

  /** @returns how often something so likely does not happen before it does: one throw for all. */
  until(probability: number): number {
    if (probability <= 0) return Number.POSITIVE_INFINITY;
    if (probability >= 1) return 0;
    return Math.floor(Math.log(1 - this.next() / 2 ** 32) / Math.log(1 - probability));
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** @returns one of the keys, each as likely as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const keys = Object.keys(weights) as K[];
    let left = (this.next() / 2 ** 32) * keys.reduce((sum, key) => sum + weights[key], 0);
    for (const key of keys) {
      left -= weights[key];
      if (left < 0) return key;
    }
    return keys.at(-1) as K;
  }
}
