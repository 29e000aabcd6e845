// Owns how each kind of field becomes bytes; read-fields.ts is its mirror. Which fields a record
// has is described in model/record-fields.ts.

import type { ByteWriter } from '../model/bytes.ts';
import type { Fields, Texts } from '../model/field-visitor.ts';
import type { LogRecord } from '../model/records.ts';

export class WrittenFields implements Fields {
  seq = 0;
  at = 0;
  prev = 0;
  /** The bits of the optional fields that were there. */
  flags = 0;
  private readonly out: ByteWriter;

  constructor(out: ByteWriter) {
    this.out = out;
  }

  reset(record: LogRecord): void {
    this.seq = record.seq;
    this.at = record.at;
    this.prev = record.prev;
    this.flags = 0;
  }

  has(bit: number, isThere: boolean): boolean {
    if (isThere) this.flags |= bit;
    return isThere;
  }

  isStored(bit: number, isUnusual: boolean): boolean {
    return this.has(bit, isUnusual);
  }

  own(): void {}

  count(_name: string, value: number): number {
    this.out.varint(value);
    return value;
  }

  version(_name: string, value: number): number {
    this.out.varint(value);
    return value;
  }

  factor(_name: string, value: number): number {
    this.out.f64(value);
    return value;
  }

  /** A signed distance as an unsigned number: 0, -1, 1, -2 … become 0, 1, 2, 3 … */
  time(_name: string, value: number): number {
    const distance = value - this.at;
    this.out.varint(distance >= 0 ? distance * 2 : -distance * 2 - 1);
    return value;
  }

  /** @throws RangeError when that record is not an earlier one. */
  earlier(_name: string, _prefix: string, value: number): number {
    this.out.varint(distanceBack(this.seq, value));
    return value;
  }

  text(_name: string, value: string): string {
    this.out.string(value);
    return value;
  }

  choice<T extends string>(_name: string, choices: readonly T[], value: T | undefined): T {
    this.out.u8(choices.indexOf(value as T));
    return value as T;
  }

  content(_name: string, value: Uint8Array): Uint8Array {
    this.out.bytes(value);
    return value;
  }

  hash(_name: string, value: Uint8Array): Uint8Array {
    this.out.bytes(value);
    return value;
  }

  texts(_name: string, value: Texts): Texts {
    const entries = Object.entries(value);
    this.out.varint(entries.length);
    for (const [key, text] of entries) {
      this.out.string(key);
      this.out.string(text);
    }
    return value;
  }
}

/** The distance back to an earlier record's number: always at least 1. */
export function distanceBack(seq: number, earlier: number): number {
  if (!(earlier >= 1 && earlier < seq)) {
    throw new RangeError(`record ${seq} names record ${earlier}, which is not before it`);
  }
  return seq - earlier;
}
