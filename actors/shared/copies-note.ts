// Owns what the reader's thread tells the coordinator's about copies of the log that are being
// sent: it stands in shared memory before the first byte of a copy is read. So whatever the other
// thread reports of a later time, it reports with the copy.

import type { SentCopy } from '../../src/model/sent-copy.ts';
import { SharedText, sharedTextBytes } from './shared-text.ts';

const TEXT_MAX_BYTES = 4_096;
export const COPIES_BYTES = sharedTextBytes(TEXT_MAX_BYTES);
/** Of those that were sent whole; the oldest are forgotten first. */
const WHOLE_MAX = 16;

const isWhole = ({ sentAt }: SentCopy): boolean => sentAt !== undefined;

export class CopiesNote {
  readonly #text: SharedText;
  #copies: readonly SentCopy[] = [];

  /** @param offset a multiple of 4; COPIES_BYTES from there belong to the note. */
  constructor(shared: SharedArrayBuffer, offset: number) {
    this.#text = new SharedText(shared, offset, TEXT_MAX_BYTES);
  }

  /** A reader's thread begins: what the one before was sending when it died is broken off. */
  adopt(): void {
    this.#tell(this.read().filter(isWhole));
  }

  /** This and all other changes are the reader's thread's. */
  begins(mirror: string): void {
    const whole = this.#copies.filter(isWhole).slice(-WHOLE_MAX);
    const going = this.#copies.filter((copy) => !isWhole(copy));
    this.#tell([...whole, ...going, { mirror, last: 0 }]);
  }

  /** @param last the copy lacks what comes after this record */
  holds(mirror: string, last: number): void {
    this.#change(mirror, { last });
  }

  /** @param at by monotonic.ts */
  sent(mirror: string, at: number): void {
    this.#change(mirror, { sentAt: at });
  }

  brokenOff(mirror: string): void {
    this.#tell(this.#copies.filter((one) => one.mirror !== mirror));
  }

  read(): readonly SentCopy[] {
    const { text } = this.#text.read();
    return text === '' ? [] : (JSON.parse(text) as SentCopy[]);
  }

  #change(mirror: string, change: Partial<SentCopy>): void {
    this.#tell(this.#copies.map((one) => (one.mirror === mirror ? { ...one, ...change } : one)));
  }

  #tell(copies: readonly SentCopy[]): void {
    this.#copies = copies;
    this.#text.write(Buffer.from(JSON.stringify(copies)));
  }
}
