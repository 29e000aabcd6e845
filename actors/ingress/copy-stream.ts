// Owns a copy of the log on its way to another machine. Each chunk is asked for when the one before
// has been taken, so a slow receiver holds one chunk here and nothing anywhere else.

import { Readable } from 'node:stream';

/** @returns undefined: the log cannot be read any more. */
export type AskChunk = () => Promise<Uint8Array | undefined>;

export class CopyStream extends Readable {
  readonly #ask: AskChunk;
  readonly #ended: () => void;
  #first: Uint8Array | undefined;

  /**
   * @param first a chunk that was asked for already
   * @param ended called once, whatever became of it
   */
  constructor(ask: AskChunk, first: Uint8Array, ended: () => void) {
    super({ highWaterMark: 1 });
    this.#ask = ask;
    this.#first = first;
    this.#ended = ended;
  }

  override _read(): void {
    const first = this.#first;
    this.#first = undefined;
    if (first === undefined) void this.#more();
    else this.push(Buffer.from(first));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#ended();
    done(error);
  }

  async #more(): Promise<void> {
    const chunk = await this.#ask();
    if (this.destroyed) return;
    // Cut off, so that nobody takes a part for the whole.
    if (chunk === undefined) this.destroy(new Error('the log cannot be read on'));
    else this.push(chunk.length === 0 ? null : Buffer.from(chunk));
  }
}
