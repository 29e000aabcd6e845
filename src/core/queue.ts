// Owns the order in which the waiting tasks of one queue are leased: by (eligible_at, number of the
// record that made it WAITING), and by nothing else (R19). Tasks that are eligible
// from their record on arrive in this order already and form a list; those with a later time form a
// heap. Links and heap places live in the task's row, so that any task can leave at once.

import { TASK_STATES } from '../model/request.ts';
import { NONE, type TaskTable } from './task-table.ts';

export class Queue {
  readonly name: string;
  /** All remembered tasks, and how many of them are in each state (by index in TASK_STATES). */
  tasks = 0;
  readonly counts: number[] = TASK_STATES.map(() => 0);
  private head = NONE;
  private tail = NONE;
  listed = 0;
  private readonly heap: number[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get delayed(): number {
    return this.heap.length;
  }

  /** @returns the first row in the order whose time has come, or NONE. */
  firstEligible(table: TaskTable, now: number): number {
    // A task whose time has come stays in the heap and is compared from there. So the order does
    // not depend on when a tick looked (R19).
    const top = this.heap[0];
    const due = top !== undefined && table.eligibleAt(top) <= now ? top : NONE;
    if (this.head === NONE) return due;
    if (due === NONE) return this.head;
    return before(table, due, this.head) ? due : this.head;
  }

  /** @returns when the next task that is not eligible yet becomes so; undefined: there is none. */
  nextEligibleAt(table: TaskTable): number | undefined {
    const top = this.heap[0];
    return top === undefined ? undefined : table.eligibleAt(top);
  }

  /** The same, counted from now: what was delayed may be eligible by now and not leased yet. */
  nextDelayedAt(table: TaskTable, now: number): number | undefined {
    let next = Number.POSITIVE_INFINITY;
    this.visitHeap((row) => {
      const at = table.eligibleAt(row);
      if (at > now) next = Math.min(next, at);
      return at <= now;
    });
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  /** Appends a row whose eligible_at is its record's own time: never before the list's last. */
  append(table: TaskTable, row: number): void {
    table.setLinks(row, NONE, this.tail);
    if (this.tail === NONE) this.head = row;
    else table.setNext(this.tail, row);
    this.tail = row;
    this.listed += 1;
  }

  /** Adds a row whose eligible_at is later than its record. */
  delay(table: TaskTable, row: number): void {
    this.heap.push(row);
    this.rise(table, this.heap.length - 1, row);
  }

  remove(table: TaskTable, row: number): void {
    if (table.isDelayed(row)) this.removeDelayed(table, row);
    else this.removeListed(table, row);
  }

  /** How many tasks are eligible now. Cost: as many as are due in the heap. */
  eligible(table: TaskTable, now: number): number {
    return this.listed + this.countHeap((row) => table.eligibleAt(row) <= now, Infinity);
  }

  /** How many tasks stand before this row in the order, counting to `limit` at most. */
  ahead(table: TaskTable, row: number, limit: number): number {
    let count = 0;
    for (let other = this.head; other !== NONE && count < limit; other = table.next(other)) {
      if (!before(table, other, row)) break;
      count += 1;
    }
    return count + this.countHeap((other) => before(table, other, row), limit - count);
  }

  /** The rows in no particular order; for digests and invariants. */
  *rows(table: TaskTable): Generator<number> {
    for (let row = this.head; row !== NONE; row = table.next(row)) yield row;
    yield* this.heap;
  }

  private countHeap(holds: (row: number) => boolean, limit: number): number {
    let count = 0;
    this.visitHeap((row) => {
      if (count >= limit || !holds(row)) return false;
      count += 1;
      return true;
    });
    return count;
  }

  /**
   * @param holds asked for the rows below a row only where it held for that row: for later rows it
   *   holds no more, because the heap is in the same order
   */
  private visitHeap(holds: (row: number) => boolean): void {
    const places = [0];
    for (let place = places.pop(); place !== undefined; place = places.pop()) {
      const row = this.heap[place];
      if (row !== undefined && holds(row)) places.push(2 * place + 1, 2 * place + 2);
    }
  }

  private removeListed(table: TaskTable, row: number): void {
    const next = table.next(row);
    const previous = table.previous(row);
    if (previous === NONE) this.head = next;
    else table.setNext(previous, next);
    if (next === NONE) this.tail = previous;
    else table.setPrevious(next, previous);
    this.listed -= 1;
  }

  private removeDelayed(table: TaskTable, row: number): void {
    const place = table.heapPlace(row);
    const last = this.heap.pop() as number;
    if (last === row) return;
    this.rise(table, place, last);
    this.sink(table, table.heapPlace(last), last);
  }

  private rise(table: TaskTable, from: number, row: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.heap[parent] as number;
      if (before(table, above, row)) break;
      this.heap[place] = above;
      table.setHeapPlace(above, place);
      place = parent;
    }
    this.heap[place] = row;
    table.setHeapPlace(row, place);
  }

  private sink(table: TaskTable, from: number, row: number): void {
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.heap.length) break;
      const right = child + 1;
      if (
        right < this.heap.length &&
        before(table, this.heap[right] as number, this.heap[child] as number)
      ) {
        child = right;
      }
      const below = this.heap[child] as number;
      if (before(table, row, below)) break;
      this.heap[place] = below;
      table.setHeapPlace(below, place);
      place = child;
    }
    this.heap[place] = row;
    table.setHeapPlace(row, place);
  }
}

/** @returns whether one waiting row is leased before another. */
export function before(table: TaskTable, row: number, other: number): boolean {
  const difference = table.eligibleAt(row) - table.eligibleAt(other);
  return difference === 0 ? table.place(row) < table.place(other) : difference < 0;
}
