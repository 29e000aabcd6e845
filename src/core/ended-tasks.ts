// Owns the ended tasks in the order in which they ended, so that forgetting takes them from the
// front. Completed ones and the others are apart: they are kept for different times.

import type { TaskTable } from './task-table.ts';
import { NONE } from './task-table.ts';

/** One line of ended tasks, linked through their rows. */
export class EndedLine {
  private first = NONE;
  private last = NONE;
  size = 0;

  get head(): number {
    return this.first;
  }

  push(table: TaskTable, row: number): void {
    table.setLinks(row, NONE, NONE);
    if (this.last === NONE) this.first = row;
    else table.setNext(this.last, row);
    this.last = row;
    this.size += 1;
  }

  /** Takes the front while its end record is not greater than `through`. */
  takeThrough(table: TaskTable, through: number): number {
    const row = this.first;
    if (row === NONE || table.endRecord(row) > through) return NONE;
    this.first = table.next(row);
    if (this.first === NONE) this.last = NONE;
    this.size -= 1;
    return row;
  }
}

export class EndedTasks {
  readonly completed = new EndedLine();
  readonly failed = new EndedLine();
  /** Rows that are due but stay, because the task that they were redriven from is remembered. */
  readonly held = new Set<number>();
}
