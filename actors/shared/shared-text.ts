// Owns a text in shared memory that one thread writes and all others read: whole, or as it was
// before, and never half of each. It lies in one of two places. A writer fills the other one and
// then says that the text lies there: so a reader waits for no writer, not even for one that died.

const VERSION = 0;
/** Two words, one for each place. */
const LENGTHS = 1;
const WORDS = 3;

/** So many bytes of shared memory hold a text of so many; both are multiples of 4. */
export const sharedTextBytes = (bytes: number): number => WORDS * 4 + 2 * bytes;

export class SharedText {
  readonly maxBytes: number;
  readonly #words: Int32Array;
  readonly #places: readonly [Uint8Array, Uint8Array];

  /** @param offset a multiple of 4; `sharedTextBytes(maxBytes)` from there belong to the text. */
  constructor(shared: SharedArrayBuffer, offset: number, maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#words = new Int32Array(shared, offset, WORDS);
    const from = offset + WORDS * 4;
    this.#places = [
      new Uint8Array(shared, from, maxBytes),
      new Uint8Array(shared, from + maxBytes, maxBytes),
    ];
  }

  /** It changes when the text does; its last bit says in which place the text lies. */
  get version(): number {
    return Atomics.load(this.#words, VERSION);
  }

  /** For one thread at a time. @param bytes at most `maxBytes` */
  write(bytes: Uint8Array): void {
    const version = this.version + 1;
    const place = placeOf(version);
    this.#places[place].set(bytes);
    Atomics.store(this.#words, LENGTHS + place, bytes.length);
    Atomics.store(this.#words, VERSION, version);
  }

  /** Empty before anything was written. */
  read(): { readonly version: number; readonly text: string } {
    for (;;) {
      const { version } = this;
      const place = placeOf(version);
      const length = Atomics.load(this.#words, LENGTHS + place);
      const text = Buffer.from(this.#places[place].slice(0, length)).toString();
      // Only what comes after the next text is written where this one lies.
      if (this.version === version) return { version, text };
    }
  }
}

const placeOf = (version: number): 0 | 1 => ((version & 1) === 0 ? 0 : 1);
