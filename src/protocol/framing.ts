// Owns the cutting of a byte stream into lines, for both ends of the socket. A reader holds at
// most one unfinished line, of bounded length, and does not look into lines.

export const NEWLINE = 0x0a;

/** Takes one line, without its newline; false ends the work on the chunk at hand. */
export type LineSink = (line: Buffer) => boolean;

export class LineReader {
  /** Bytes of the unfinished line, in the pieces in which they came. */
  #parts: Buffer[] = [];
  #partialBytes = 0;
  #skipping = false;
  /** The limit of the line that is being read, by its first byte. */
  #maxBytes = 0;
  readonly #limitOf: (first: number) => number;
  readonly #onTooLong: (maxBytes: number) => void;

  /** `onTooLong` is told once for each line beyond its limit; the rest of it is thrown away. */
  constructor(limitOf: (first: number) => number, onTooLong: (maxBytes: number) => void) {
    this.#limitOf = limitOf;
    this.#onTooLong = onTooLong;
  }

  /** Whether bytes of a line are held (or thrown away) whose end has not come yet. */
  get midLine(): boolean {
    return this.#partialBytes > 0 || this.#skipping;
  }

  /**
   * Hands each whole line to the sink, as a view of the chunk. A sink that keeps a line longer
   * than the call must copy it.
   * @returns the rest of the chunk when the sink returned false; undefined when all of it was read
   */
  push(chunk: Buffer, sink: LineSink): Buffer | undefined {
    let from = 0;
    while (from < chunk.length) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end < 0) {
        this.#keep(chunk.subarray(from));
        return undefined;
      }
      const line = this.#finish(chunk.subarray(from, end));
      from = end + 1;
      if (line !== undefined && !sink(line)) {
        return from < chunk.length ? chunk.subarray(from) : undefined;
      }
    }
    return undefined;
  }

  /** Gives back what stands unfinished and forgets it: the peer has ended without a newline. */
  flush(): Buffer | undefined {
    const rest = this.#skipping || this.#partialBytes === 0 ? undefined : this.#take();
    this.#skipping = false;
    return rest;
  }

  #keep(piece: Buffer): void {
    if (this.#skipping) return;
    if (this.#partialBytes === 0) this.#maxBytes = this.#limitOf(piece[0] as number);
    this.#partialBytes += piece.length;
    if (this.#partialBytes > this.#maxBytes) {
      this.#skipping = true;
      this.#take();
      this.#onTooLong(this.#maxBytes);
      return;
    }
    this.#parts.push(piece);
  }

  #finish(piece: Buffer): Buffer | undefined {
    if (this.#skipping) {
      this.#skipping = false;
      return undefined;
    }
    if (this.#partialBytes === 0 && piece.length > 0) {
      this.#maxBytes = this.#limitOf(piece[0] as number);
    }
    if (this.#partialBytes + piece.length > this.#maxBytes) {
      this.#take();
      this.#onTooLong(this.#maxBytes);
      return undefined;
    }
    if (this.#partialBytes === 0) return piece;
    this.#parts.push(piece);
    return this.#take();
  }

  #take(): Buffer {
    const line = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partialBytes = 0;
    return line;
  }
}
