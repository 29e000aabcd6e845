// Owns the bounded memory of a command's output: the beginning of stdout, which becomes the result
// unless stdout was too long, and the end of stderr, which becomes the reason of a failure.

/** Keeps everything up to a limit; beyond it only the count goes on. */
export class HeadCapture {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.isOver) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  get isOver(): boolean {
    return this.bytes > this.#maxBytes;
  }

  /** Nothing when it was too much: a result is never cut. */
  take(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** Keeps the last bytes. */
export class TailCapture {
  readonly #maxBytes: number;
  #tail: Buffer = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(piece: Buffer): void {
    const joined = Buffer.concat([this.#tail, piece.subarray(-this.#maxBytes)]);
    this.#tail = joined.subarray(-this.#maxBytes);
  }

  /** As text, begun at a whole character and without surrounding white space. */
  text(): string {
    let from = 0;
    // Continuation bytes are 10xxxxxx: their character lies before what was kept.
    while (from < 4 && ((this.#tail[from] ?? 0) & 0xc0) === 0x80) from += 1;
    return this.#tail.subarray(from).toString('utf8').trim();
  }
}
