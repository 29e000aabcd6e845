// Owns the pace at which a story is told. A story is played against the clocks of real processes,
// and a lease expires whether or not the learner has answered. So the story is played without a
// pause, its lines are kept, and a question holds up only the telling.

import type { Teller } from './play.ts';
import type { Fields } from './stage.ts';

/** The learner: reads lines, and is asked questions. */
export interface Learner {
  read(line: string): void;
  /** Shows a question. @returns when the learner has thought about it, however long that takes. */
  think(question: string): Promise<void>;
}

type Part = { readonly line: string } | { readonly question: string };

/** Takes what a story tells while it is played, and tells it to a learner. */
export class Telling implements Teller {
  readonly record: (record: Fields) => string;
  readonly #parts: Part[] = [];
  #isOver = false;
  #wake = (): void => {};

  /** @param record how a record reads */
  constructor(record: (record: Fields) => string) {
    this.record = record;
  }

  line(line: string): void {
    this.#add({ line });
  }

  /** @returns at once: the story goes on while the learner thinks. */
  async guess(question: string): Promise<void> {
    this.#add({ question });
  }

  /**
   * Tells a story from its first line to its last.
   * @param played resolves when the story has been played
   * @returns the value of `played`, after the last line
   * @throws the error that ended the story early, after the lines that were played until then
   */
  async tell<T>(played: Promise<T>, learner: Learner): Promise<T> {
    const over = (): void => {
      this.#isOver = true;
      this.#wake();
    };
    played.then(over, over);
    for (let next = 0; ; next += 1) {
      while (next === this.#parts.length && !this.#isOver) await this.#more();
      const part = this.#parts[next];
      if (part === undefined) return await played;
      if ('line' in part) learner.read(part.line);
      else await learner.think(part.question);
    }
  }

  #add(part: Part): void {
    this.#parts.push(part);
    this.#wake();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
