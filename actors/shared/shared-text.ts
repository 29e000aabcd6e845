// Owns a text in shared memory that one thread writes and all others read: whole, or as it was
// before, and never half of each.

const VERSION = 0;
const LENGTH = 1;
const WORDS = 2;

/** So many bytes of shared memory hold a text of so many. */
export const sharedTextBytes = (bytes: number): number => WORDS * 4 + bytes;

export class SharedText {
  readonly maxBytes: number;
  readonly #words: Int32Array;
  readonly #text: Uint8Array;

  /** @param offset a multiple of 4; `sharedTextBytes(maxBytes)` from there belong to the text. */
  constructor(shared: SharedArrayBuffer, offset: number, maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#words = new Int32Array(shared, offset, WORDS);
    this.#text = new Uint8Array(shared, offset + WORDS * 4, maxBytes);
  }

  /** It changes when the text does. */
  get version(): number {
    return Atomics.load(this.#words, VERSION);
  }

  /** For one thread at a time. @param bytes at most `maxBytes` */
  write(bytes: Uint8Array): void {
    // An odd version tells readers that the text is being written.
    Atomics.add(this.#words, VERSION, 1);
    this.#text.set(bytes);
    Atomics.store(this.#words, LENGTH, bytes.length);
    Atomics.add(this.#words, VERSION, 1);
  }

  /** Empty before anything was written. */
  read(): { readonly version: number; readonly text: string } {
    for (;;) {
      const { version } = this;
      const length = Atomics.load(this.#words, LENGTH);
      const text = Buffer.from(this.#text.slice(0, length)).toString();
      if (version % 2 === 0 && this.version === version) return { version, text };
    }
  }
}
