// Owns a binary heap whose items know their place, so that any item can move or leave at once.

export interface Placed {
  /** The item's place in its heap; written by the heap alone. */
  place: number;
}

export class Heap<T extends Placed> {
  private readonly items: T[] = [];
  private readonly before: (item: T, other: T) => boolean;

  /** @param before a strict total order. */
  constructor(before: (item: T, other: T) => boolean) {
    this.before = before;
  }

  get size(): number {
    return this.items.length;
  }

  get first(): T | undefined {
    return this.items[0];
  }

  add(item: T): void {
    this.items.push(item);
    this.rise(this.items.length - 1, item);
  }

  /** The item's order has changed. */
  moved(item: T): void {
    this.rise(item.place, item);
    this.sink(item.place, item);
  }

  remove(item: T): void {
    const last = this.items.pop() as T;
    if (last === item) return;
    this.rise(item.place, last);
    this.sink(last.place, last);
  }

  private rise(from: number, item: T): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.items[parent] as T;
      if (this.before(above, item)) break;
      this.put(place, above);
      place = parent;
    }
    this.put(place, item);
  }

  private sink(from: number, item: T): void {
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      const left = this.items[child];
      if (left === undefined) break;
      const right = this.items[child + 1];
      if (right !== undefined && this.before(right, left)) child += 1;
      const below = this.items[child] as T;
      if (this.before(item, below)) break;
      this.put(place, below);
      place = child;
    }
    this.put(place, item);
  }

  private put(place: number, item: T): void {
    this.items[place] = item;
    item.place = place;
  }
}
