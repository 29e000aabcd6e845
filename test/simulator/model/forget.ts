// Owns what the model says about retention (R32): when history leaves is the product's choice, what
// leaves, and that it leaves at last, is not.

import type { HistoryForgotten, LogRecord } from '../../../src/model/records.ts';
import { Violation } from '../checkers/violation.ts';
import type { Book } from './book.ts';
import type { ModelKnobs } from './decide.ts';

const HOUR_MS = 3_600_000;
/** Ticks that something may be due before it is called late. */
const PATIENCE = 20;

export class Forgetting {
  /**
   * Whether the log no longer has this record. Replay cannot tell then whether the start after it
   * came a day later, and waits in any case.
   */
  isGone: (seq: number) => boolean = () => false;
  private readonly book: Book;
  private readonly knobs: ModelKnobs;
  private ticksLate = 0;
  private tickedAt = 0;
  /** Until then nothing more is due, as the last look at everything found. */
  private quietUntil = Number.NEGATIVE_INFINITY;

  constructor(book: Book, knobs: ModelKnobs) {
    this.book = book;
    this.knobs = knobs;
  }

  /** @returns the record that a tick writes if it forgets now, which it does or not. */
  next(actual: LogRecord | undefined, now: number): HistoryForgotten | undefined {
    if (actual?.type !== 'HistoryForgotten') {
      const isLate = now >= this.duesFrom() && this.through(now) !== undefined;
      // A clock that stands still brings nothing about.
      if (!isLate) this.ticksLate = 0;
      else if (now > this.tickedAt) this.ticksLate += 1;
      this.tickedAt = now;
      if (this.ticksLate > PATIENCE) throw new Violation('liveness', 'nothing is forgotten');
      return undefined;
    }
    this.ticksLate = 0;
    if (now < this.cautiousUntil()) throw new Violation('model', 'forgotten within the first hour');
    const through = this.through(now);
    if (through === undefined) throw new Violation('model', 'nothing is to be forgotten');
    const { totals } = this.book;
    return { type: 'HistoryForgotten', seq: 0, at: now, prev: 0, ...through, totals };
  }

  /** Nothing is forgotten before: the clock may be wrong (R6). */
  private cautiousUntil(): number {
    return hourAfter(this.book.starts.findLast(({ isLate }) => isLate));
  }

  /** What may be forgotten must be from then on. */
  private duesFrom(): number {
    return hourAfter(this.book.starts.findLast((one) => one.isLate || this.isGone(one.seq - 1)));
  }

  /** Records were taken back: what they had forgotten is due again. */
  takenBack(): void {
    this.quietUntil = Number.NEGATIVE_INFINITY;
  }

  /** @returns whether a look at everything finds what should not be there yet. */
  broken(now: number): boolean {
    return now <= this.quietUntil && this.look(now).through !== undefined;
  }

  /** @returns how far the two kinds may be forgotten, or undefined: no further than they are. */
  private through(now: number): Through | undefined {
    if (now <= this.quietUntil) return undefined;
    const { through, quietUntil } = this.look(now);
    this.quietUntil = quietUntil;
    return through;
  }

  private look(now: number): { through: Through | undefined; quietUntil: number } {
    const { book, knobs } = this;
    let { completedThrough, failedThrough } = book;
    // What ends from now on is kept from now on.
    let quietUntil = now + Math.min(keptFor(knobs.retentionMs), keptFor(knobs.retentionFailedMs));
    for (const task of book.over.values()) {
      const isCompleted = task.state === 'COMPLETED';
      const through = isCompleted ? book.completedThrough : book.failedThrough;
      if (task.endRecord <= through) continue;
      const dueAfter =
        task.endAt + keptFor(isCompleted ? knobs.retentionMs : knobs.retentionFailedMs);
      if (now <= dueAfter) quietUntil = Math.min(quietUntil, dueAfter);
      else if (isCompleted) completedThrough = Math.max(completedThrough, task.endRecord);
      else failedThrough = Math.max(failedThrough, task.endRecord);
    }
    const isSame =
      completedThrough === book.completedThrough && failedThrough === book.failedThrough;
    return isSame
      ? { through: undefined, quietUntil }
      : { through: { completedThrough, failedThrough }, quietUntil: Number.NEGATIVE_INFINITY };
  }
}

const hourAfter = (start: { readonly at: number } | undefined): number =>
  start === undefined ? Number.NEGATIVE_INFINITY : start.at + HOUR_MS;

/** 0 keeps for ever. */
const keptFor = (keptMs: number): number => (keptMs > 0 ? keptMs : Number.POSITIVE_INFINITY);

interface Through {
  readonly completedThrough: number;
  readonly failedThrough: number;
}
