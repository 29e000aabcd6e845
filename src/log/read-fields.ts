// Owns how each kind of field is read from bytes; write-fields.ts is its mirror. Every method
// throws a RangeError where the bytes are not such a field. What is read shares no memory with the
// input.

import type { ByteReader } from '../model/bytes.ts';
import type { Fields, Texts } from '../model/field-visitor.ts';
import { FORMAT_VERSION } from '../model/records.ts';
import { LogError } from './log.ts';

export class ReadFields implements Fields {
  seq = 0;
  at = 0;
  prev = 0;
  /** The bits of the optional fields that are there. */
  flags = 0;
  private readonly input: ByteReader;

  constructor(input: ByteReader) {
    this.input = input;
  }

  has(bit: number): boolean {
    return (this.flags & bit) !== 0;
  }

  isStored(bit: number): boolean {
    return (this.flags & bit) !== 0;
  }

  own(): void {}

  count(): number {
    return this.input.varint();
  }

  /** @throws LogError LOG_FORMAT_NEWER: what follows may be anything. */
  version(): number {
    const version = this.input.varint();
    if (version <= FORMAT_VERSION) return version;
    throw new LogError(
      'LOG_FORMAT_NEWER',
      `record ${this.seq} begins format version ${version} of the log; this program reads up to ` +
        `version ${FORMAT_VERSION}: use the newer program that wrote it`,
    );
  }

  factor(): number {
    return this.input.f64();
  }

  time(): number {
    const zigzag = this.input.varint();
    return zigzag % 2 === 0 ? this.at + zigzag / 2 : this.at - (zigzag + 1) / 2;
  }

  earlier(): number {
    return numberBack(this.seq, this.input.varint());
  }

  text(): string {
    return this.input.string();
  }

  choice<T extends string>(_name: string, choices: readonly T[]): T {
    const index = this.input.u8();
    const choice = choices[index];
    if (choice === undefined) throw new RangeError(`no choice ${index}`);
    return choice;
  }

  content(): Uint8Array {
    return this.input.bytesCopy();
  }

  hash(): Uint8Array {
    return this.input.bytesCopy();
  }

  texts(): Texts {
    const { input } = this;
    const entries: [string, string][] = [];
    for (let left = input.varint(); left > 0; left--) {
      entries.push([input.string(), input.string()]);
    }
    return Object.fromEntries(entries);
  }
}

export function numberBack(seq: number, distance: number): number {
  if (distance === 0 || distance >= seq) throw new RangeError(`no record ${distance} back`);
  return seq - distance;
}
