// Owns what the model says about retention (R32): when history leaves is the product's choice, what
// leaves, and that it leaves at last, is not.

import type { HistoryForgotten, LogRecord } from '../../../src/core/records.ts';
import { Violation } from '../checkers/violation.ts';
import type { Book } from './book.ts';
import type { ModelKnobs } from './decide.ts';
import type { ModelTask } from './tasks.ts';

/** Ticks that something may be due before it is called late. */
const PATIENCE = 20;

export class Forgetting {
  /** Nothing is forgotten before: the clock may be wrong (R6). */
  from = 0;
  private readonly book: Book;
  private readonly knobs: ModelKnobs;
  private ticksLate = 0;

  constructor(book: Book, knobs: ModelKnobs) {
    this.book = book;
    this.knobs = knobs;
  }

  /** @returns the record that a tick writes if it forgets now, which it does or not. */
  next(actual: LogRecord | undefined, now: number): HistoryForgotten | undefined {
    if (actual?.type !== 'HistoryForgotten') {
      const isLate = now >= this.from && this.through(now) !== undefined;
      this.ticksLate = isLate ? this.ticksLate + 1 : 0;
      if (this.ticksLate > PATIENCE) throw new Violation('liveness', 'nothing is forgotten');
      return undefined;
    }
    this.ticksLate = 0;
    if (now < this.from) throw new Violation('model', 'forgotten within the first hour');
    const through = this.through(now);
    if (through === undefined) throw new Violation('model', 'nothing is to be forgotten');
    const { totals } = this.book;
    return { type: 'HistoryForgotten', seq: 0, at: now, prev: 0, ...through, totals };
  }

  /** @returns how far the two kinds may be forgotten, or undefined: no further than they are. */
  private through(now: number): Through | undefined {
    const { book, knobs } = this;
    let { completedThrough, failedThrough } = book;
    const isDue = (task: ModelTask, keptMs: number): boolean =>
      keptMs > 0 && task.endAt < now - keptMs;
    for (const task of book.over.values()) {
      if (task.state === 'COMPLETED') {
        if (!isDue(task, knobs.retentionMs)) continue;
        completedThrough = Math.max(completedThrough, task.endRecord);
      } else if (isDue(task, knobs.retentionFailedMs)) {
        failedThrough = Math.max(failedThrough, task.endRecord);
      }
    }
    const isSame =
      completedThrough === book.completedThrough && failedThrough === book.failedThrough;
    return isSame ? undefined : { completedThrough, failedThrough };
  }
}

interface Through {
  readonly completedThrough: number;
  readonly failedThrough: number;
}
