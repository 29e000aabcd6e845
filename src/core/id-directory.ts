// Owns the way from a task's id to its row, and the ids in ascending order. Ids are handed out in
// ascending order, so a bucket of neighbouring ids is a list that only grows at its end. It needs
// no hashing and never pauses to rehash, and `tasks` lists come out in order.

const BUCKET_BITS = 11;
const BUCKET_IDS = 2 ** BUCKET_BITS;

interface Bucket {
  rows: Uint32Array;
  length: number;
}

export class IdDirectory {
  private readonly buckets = new Map<number, Bucket>();
  private readonly idOf: (row: number) => number;
  private lastBucket = -1;

  /** @param idOf reads the id back from a row, so that ids are stored once. */
  constructor(idOf: (row: number) => number) {
    this.idOf = idOf;
  }

  /** Adds an id greater than every one before. */
  add(id: number, row: number): void {
    const key = Math.floor(id / BUCKET_IDS);
    let bucket = this.buckets.get(key);
    if (bucket === undefined) {
      bucket = { rows: new Uint32Array(4), length: 0 };
      this.buckets.set(key, bucket);
      this.lastBucket = key;
    } else if (bucket.length === bucket.rows.length) {
      const grown = new Uint32Array(bucket.length * 2);
      grown.set(bucket.rows);
      bucket.rows = grown;
    }
    bucket.rows[bucket.length] = row;
    bucket.length += 1;
  }

  /** @returns the row of an id, or -1. */
  find(id: number): number {
    const bucket = this.buckets.get(Math.floor(id / BUCKET_IDS));
    if (bucket === undefined) return -1;
    const place = this.placeIn(bucket, id);
    const row = bucket.rows[place];
    return place < bucket.length && row !== undefined && this.idOf(row) === id ? row : -1;
  }

  remove(id: number): void {
    const key = Math.floor(id / BUCKET_IDS);
    const bucket = this.buckets.get(key);
    if (bucket === undefined) return;
    const place = this.placeIn(bucket, id);
    if (place >= bucket.length || this.idOf(bucket.rows[place] as number) !== id) return;
    bucket.rows.copyWithin(place, place + 1, bucket.length);
    bucket.length -= 1;
    if (bucket.length === 0) this.buckets.delete(key);
    else if (bucket.length * 4 <= bucket.rows.length) {
      bucket.rows = bucket.rows.slice(0, bucket.length * 2);
    }
  }

  /** Rows in ascending order of their ids, from the first id greater than `after`. */
  *rowsAfter(after: number): Generator<number> {
    const from = Math.floor((after + 1) / BUCKET_IDS);
    const keys = this.keysFrom(from);
    for (const key of keys) {
      const bucket = this.buckets.get(key);
      if (bucket === undefined) continue;
      let place = key === from ? this.placeIn(bucket, after + 1) : 0;
      for (; place < bucket.length; place += 1) yield bucket.rows[place] as number;
    }
  }

  /** Rows in descending order of their ids, from the first id less than `before`. */
  *rowsBefore(before: number): Generator<number> {
    // The map's keys ascend: ids are handed out in ascending order.
    const keys = [...this.buckets.keys()];
    for (let at = keys.length - 1; at >= 0; at -= 1) {
      const key = keys[at] as number;
      if (key * BUCKET_IDS >= before) continue;
      const bucket = this.buckets.get(key);
      if (bucket === undefined) continue;
      for (let place = this.placeIn(bucket, before) - 1; place >= 0; place -= 1) {
        yield bucket.rows[place] as number;
      }
    }
  }

  /** Walks by number where buckets are dense, by the map's (ascending) keys where they are not. */
  private *keysFrom(from: number): Generator<number> {
    if (this.lastBucket - from > this.buckets.size * 4) {
      for (const key of this.buckets.keys()) if (key >= from) yield key;
      return;
    }
    for (let key = from; key <= this.lastBucket; key += 1) yield key;
  }

  /** @returns the first place whose id is not less than `id`. */
  private placeIn(bucket: Bucket, id: number): number {
    let low = 0;
    let high = bucket.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.idOf(bucket.rows[middle] as number) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
