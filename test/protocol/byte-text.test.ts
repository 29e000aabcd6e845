// Texts of bytes: whatever letters go in, the bytes on the wire are their UTF-8.

import { expect } from 'chai';
import fc from 'fast-check';
import { byteTextOf, inBytes } from '../../src/protocol/byte-text.ts';

describe('a text of bytes', () => {
  it('is the UTF-8 of the letters that it was made from', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const wire = Buffer.from(inBytes(text), 'latin1');
        expect(wire.equals(Buffer.from(text, 'utf8'))).to.equal(true);
      }),
    );
  });

  it('is the bytes that it was made from, from any place to any other', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), fc.nat(300), (bytes, a, b) => {
        const [from, to] = [Math.min(a, b, bytes.length), Math.min(Math.max(a, b), bytes.length)];
        const text = byteTextOf(Buffer.from(bytes), from, to);
        expect([...Buffer.from(text, 'latin1')]).to.deep.equal([...bytes.subarray(from, to)]);
        expect(text).to.have.length(to - from);
      }),
    );
  });
});
