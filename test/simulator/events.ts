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
  /** What was planned for the time at which it was planned: most of all, and in order as it is. */
  private readonly soon: Event[] = [];
  private soonTaken = 0;
  private order = 0;

  after(delayMs: number, run: Happening): void {
    this.order += 1;
    if (delayMs === 0) {
      this.soon.push({ at: this.now, order: this.order, run });
      return;
    }
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
    const soon = this.soon[this.soonTaken];
    // Of two for the same time the one in the heap was planned before that time had come.
    if (soon !== undefined && (first === undefined || soon.at < first.at)) return this.takeSoon();
    const last = this.heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (first !== last) this.sink(last);
    // Time may have jumped beyond it meanwhile.
    this.now = Math.max(this.now, first.at);
    return first.run;
  }

  private takeSoon(): Happening {
    const { run } = this.soon[this.soonTaken] as Event;
    this.soonTaken += 1;
    if (this.soonTaken === this.soon.length) {
      this.soon.length = 0;
      this.soonTaken = 0;
    }
    return run;
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
