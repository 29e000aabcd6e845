// Holds the byte cursors to their promise: what was written is read back, and nothing beyond it.

import { expect } from 'chai';
import fc from 'fast-check';
import { ByteReader, ByteWriter } from '../../src/model/bytes.ts';

type Item =
  | { kind: 'u8' | 'u32' | 'varint' | 'f64'; value: number }
  | { kind: 'string'; value: string }
  | { kind: 'bytes'; value: Uint8Array };

const varint = fc.oneof(
  fc.maxSafeNat(),
  fc.constantFrom(0, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER),
);
const text = fc.string({ unit: 'grapheme', maxLength: 80 });
const of = <K extends Item['kind'], V>(kind: K, value: fc.Arbitrary<V>) =>
  value.map((v) => ({ kind, value: v }) as unknown as Item);
const item: fc.Arbitrary<Item> = fc.oneof(
  of('u8', fc.nat(255)),
  of('u32', fc.nat(0xffff_ffff)),
  of('varint', varint),
  of('f64', fc.double({ noNaN: true })),
  of('string', text),
  of('bytes', fc.uint8Array({ maxLength: 300 })),
);

function write(items: readonly Item[], writer = new ByteWriter(16)): Uint8Array {
  writer.reset();
  for (const { kind, value } of items) (writer[kind] as (v: unknown) => void)(value);
  return writer.view();
}

function read(items: readonly Item[], reader: ByteReader): unknown[] {
  return items.map(({ kind }) => reader[kind]());
}

const plain = (value: unknown) => (value instanceof Uint8Array ? Array.from(value) : value);

describe('protocol/bytes', () => {
  it('reads back what it wrote and ends where it ended', () => {
    const property = fc.property(fc.array(item, { maxLength: 20 }), (items) => {
      const reader = new ByteReader(write(items));
      const values = read(items, reader);
      expect(values.map(plain)).to.deep.equal(items.map(({ value }) => plain(value)));
      expect(reader.remaining).to.equal(0);
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('throws RangeError on every truncation', () => {
    const property = fc.property(fc.array(item, { minLength: 1, maxLength: 6 }), (items) => {
      const bytes = write(items);
      for (let size = 0; size < bytes.length; size++) {
        expect(() => read(items, new ByteReader(bytes.subarray(0, size)))).to.throw(RangeError);
      }
    });
    fc.assert(property, { numRuns: 60 });
  });

  it('never throws anything but RangeError on arbitrary input', () => {
    const property = fc.property(fc.uint8Array({ maxLength: 64 }), item, (bytes, one) => {
      try {
        read([one], new ByteReader(bytes));
      } catch (error) {
        expect(error).to.be.instanceOf(RangeError);
      }
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('refuses numbers that a varint cannot hold', () => {
    const writer = new ByteWriter();
    for (const value of [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => writer.varint(value), String(value)).to.throw(RangeError);
    }
    const over = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f);
    expect(() => new ByteReader(over).varint()).to.throw(RangeError, '2^53');
    const endless = new Uint8Array(12).fill(0xff);
    expect(() => new ByteReader(endless).varint()).to.throw(RangeError);
  });

  it('gives views from bytes and copies from bytesCopy', () => {
    const writer = new ByteWriter(16);
    writer.bytes(Uint8Array.of(1, 2, 3));
    const input = Buffer.from(writer.view());
    const view = new ByteReader(input).bytes();
    const copy = new ByteReader(input).bytesCopy();
    input[1] = 9;
    expect([view[0], copy[0]]).to.deep.equal([9, 1]);
    writer.reset();
    writer.u32(7);
    expect(input[2]).to.equal(2);
    expect(Array.from(writer.view())).to.deep.equal([7, 0, 0, 0]);
  });

  it('goes on in new memory when there is no room, and leaves what was written', () => {
    const writer = new ByteWriter(16);
    writer.u32(7);
    const first = writer.view();
    writer.makeRoom(12, 16);
    expect(writer.length).to.equal(4);
    writer.makeRoom(13, 32);
    expect(writer.length).to.equal(0);
    writer.u32(9);
    expect([first[0], writer.view()[0]]).to.deep.equal([7, 9]);
  });

  it('reads a part of a larger input and refuses a range outside it', () => {
    const bytes = Uint8Array.of(9, 9, 5, 9);
    const reader = new ByteReader(bytes, 2, 3);
    expect(reader.u8()).to.equal(5);
    expect(() => reader.u8()).to.throw(RangeError);
    expect(() => reader.reset(bytes, 2, 9)).to.throw(RangeError);
  });
});
