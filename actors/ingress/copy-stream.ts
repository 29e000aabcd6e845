// Owns a copy of the log on its way to another machine. Each chunk is asked for when the one before
// has been taken, so a slow receiver holds one chunk here. But a copy holds files of the log open,
// and with them the room of those that were removed meanwhile. So it ends with a receiver that
// takes nothing any more.

import { Readable } from 'node:stream';

/** @returns undefined: the log cannot be read any more. */
export type AskChunk = () => Promise<Uint8Array | undefined>;

/** A receiver that takes nothing for so long is gone, although its connection stands. */
const TAKEN_WITHIN_MS = 600_000;

export class CopyStream extends Readable {
  readonly #ask: AskChunk;
  readonly #ended: () => void;
  readonly #takenWithinMs: number;
  #first: Uint8Array | undefined;
  #late: NodeJS.Timeout | undefined;

  /**
   * @param first a chunk that was asked for already
   * @param ended called once, whatever became of it
   */
  constructor(
    ask: AskChunk,
    first: Uint8Array,
    ended: () => void,
    takenWithinMs = TAKEN_WITHIN_MS,
  ) {
    super({ highWaterMark: 1 });
    this.#ask = ask;
    this.#first = first;
    this.#ended = ended;
    this.#takenWithinMs = takenWithinMs;
  }

  override _read(): void {
    clearTimeout(this.#late);
    const first = this.#first;
    this.#first = undefined;
    if (first === undefined) void this.#more();
    else this.#give(first);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#late);
    this.#ended();
    done(error);
  }

  async #more(): Promise<void> {
    const chunk = await this.#ask();
    if (this.destroyed) return;
    // Cut off, so that nobody takes a part for the whole.
    if (chunk === undefined) this.destroy(new Error('the log cannot be read on'));
    else if (chunk.length === 0) this.push(null);
    else this.#give(chunk);
  }

  #give(chunk: Uint8Array): void {
    const late = (): void => void this.destroy(new Error('the receiver takes nothing any more'));
    this.#late = setTimeout(late, this.#takenWithinMs).unref();
    this.push(Buffer.from(chunk));
  }
}
