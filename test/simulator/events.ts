// Owns the order in which things happen in a simulated world: a queue of events by time, and among
// equals by the order in which they were planned. Time moves here and nowhere else.

type Happening = () => void | Promise<void>;
interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: Happening;
}

export class Events {
  /** True time in ms since the world began. */
  now = 0;
  private readonly heap: Event[] = [];
  private order = 0;

  get size(): number {
    return this.heap.length;
  }

  after(delayMs: number, run: Happening): void {
    this.order += 1;
    const event = { at: this.now + delayMs, order: this.order, run };
    let place = this.heap.length;
    this.heap.push(event);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (isBefore(this.heap[parent] as Event, event)) break;
      this.heap[place] = this.heap[parent] as Event;
      place = parent;
    }
    this.heap[place] = event;
  }

  /** Takes the next event out and moves time to it. */
  next(): Happening | undefined {
    const first = this.heap[0];
    const last = this.heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (first !== last) this.sink(last);
    // Time may have jumped beyond it meanwhile.
    this.now = Math.max(this.now, first.at);
    return first.run;
  }

  private sink(event: Event): void {
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.heap.length) break;
      const right = child + 1;
      if (
        right < this.heap.length &&
        isBefore(this.heap[right] as Event, this.heap[child] as Event)
      ) {
        child = right;
      }
      if (isBefore(event, this.heap[child] as Event)) break;
      this.heap[place] = this.heap[child] as Event;
      place = child;
    }
    this.heap[place] = event;
  }
}

const isBefore = (a: Event, b: Event): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order);
