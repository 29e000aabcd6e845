// Owns the order in which lease requests that wait for several queues are looked at together: by
// arrival (R20), each request once. It serves no request and changes nothing.

import type { Parked, ParkedRequests } from './parked.ts';

interface Line {
  readonly queue: string;
  readonly rest: Iterator<Parked>;
  head: Parked | undefined;
}

export class Askers {
  private readonly parked: ParkedRequests;
  private readonly lines = new Map<string, Line>();

  constructor(parked: ParkedRequests) {
    this.parked = parked;
  }

  has(queue: string): boolean {
    return this.lines.has(queue);
  }

  add(queue: string): void {
    const rest = this.parked.askersOf(queue)[Symbol.iterator]();
    this.lines.set(queue, { queue, rest, head: next(rest) });
  }

  /**
   * @param isWorthIt whether anybody can be served from a queue; if not, it is looked at no more.
   * @returns the oldest request of the queues that was not passed and is parked still.
   */
  oldest(isWorthIt: (queue: string) => boolean): Parked | undefined {
    let oldest: Parked | undefined;
    for (const line of this.lines.values()) {
      if (!isWorthIt(line.queue)) {
        line.head = undefined;
        continue;
      }
      while (line.head !== undefined && !this.parked.has(line.head)) line.head = next(line.rest);
      const { head } = line;
      if (head !== undefined && (oldest === undefined || head.arrival < oldest.arrival)) {
        oldest = head;
      }
    }
    return oldest;
  }

  /** It is not served now: whoever comes after it is looked at. */
  pass(parked: Parked): void {
    for (const line of this.lines.values()) {
      if (line.head === parked) line.head = next(line.rest);
    }
  }
}

function next(rest: Iterator<Parked>): Parked | undefined {
  const result = rest.next();
  return result.done === true ? undefined : result.value;
}
