// Frames: what is written into batches is what is read out of them, whatever the sizes.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  BatchReader,
  BatchWriter,
  frameBytes,
  messageKinds,
  viewOf,
} from '../../src/mailbox/frame.ts';
import type { ByteWriter } from '../../src/model/bytes.ts';

const readAll = (batches: ArrayBuffer[]) =>
  batches.flatMap((batch) => {
    const reader = new BatchReader(batch);
    const seen = [];
    while (reader.next())
      seen.push({ ticket: reader.ticket, kind: reader.kind, message: viewOf(reader) });
    return seen;
  });

const writeWordAndText = (
  out: ByteWriter,
  { head, text }: { head: number; text: string },
): void => {
  out.u32(head);
  out.text(text);
};

describe('mailbox frames', () => {
  it('read back what was written, in order', () => {
    const frame = fc.record({
      ticket: fc.nat(2 ** 32 - 1),
      kind: fc.constantFrom(...messageKinds),
      message: fc.uint8Array({ maxLength: 300 }),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 50 }), (frames) => {
        const batches: ArrayBuffer[] = [];
        const writer = new BatchWriter((batch) => batches.push(batch));
        for (const { ticket, kind, message } of frames) writer.write(ticket, kind, message);
        writer.flush();
        // A view is a Buffer, and the bytes that were written are not.
        const seen = readAll(batches).map((one) => ({ ...one, message: [...one.message] }));
        const wanted = frames.map((one) => ({ ...one, message: [...one.message] }));
        expect(seen).to.deep.equal(wanted);
      }),
      { numRuns: 100 },
    );
  });

  it('keep the order around a message that is larger than a batch', () => {
    const batches: ArrayBuffer[] = [];
    const writer = new BatchWriter((batch) => batches.push(batch));
    const large = new Uint8Array(2 ** 20).fill(7);
    writer.write(1, 'request', Uint8Array.of(1));
    writer.write(2, 'request', large);
    writer.write(3, 'report', Uint8Array.of(3));
    writer.flush();
    expect(batches).to.have.length(3);
    const seen = readAll(batches);
    expect(seen.map(({ ticket }) => ticket)).to.deep.equal([1, 2, 3]);
    expect(Buffer.compare(seen[1]?.message ?? new Uint8Array(0), large)).to.equal(0);
  });

  it('send a full batch by themselves, and nothing when nothing was written', () => {
    let sent = 0;
    const writer = new BatchWriter((batch) => {
      sent += 1;
      expect(batch.byteLength).to.be.at.most(16 * 1024);
    });
    writer.flush();
    expect(sent).to.equal(0);
    for (let ticket = 0; ticket < 1_000; ticket++) {
      writer.write(ticket, 'request', new Uint8Array(1_000));
    }
    expect(sent).to.equal(Math.floor((1_000 - 1) / Math.floor((16 * 1024) / frameBytes(1_000))));
  });

  it('carry a word and a text of any letters and length, among other messages', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc
        .constantFrom('ü', '€', '𝄞')
        .chain((letter) => fc.integer({ min: 0, max: 9_000 }).map((count) => letter.repeat(count))),
    );
    const word = fc.nat(2 ** 32 - 1);
    fc.assert(
      fc.property(fc.array(fc.tuple(word, unit, fc.boolean()), { maxLength: 20 }), (texts) => {
        const batches: ArrayBuffer[] = [];
        const writer = new BatchWriter((batch) => batches.push(batch));
        for (const [index, [head, text, isBytes]] of texts.entries()) {
          if (isBytes) writer.write(index, 'request', Buffer.from(text));
          else writer.compose(index, 'reply', writeWordAndText, { head, text });
        }
        writer.flush();
        const seen = readAll(batches);
        expect(seen).to.have.length(texts.length);
        for (const [index, [head, text, isBytes]] of texts.entries()) {
          const message = seen[index]?.message ?? Buffer.alloc(0);
          const expected = Buffer.from(text);
          if (isBytes) expect(message.equals(expected)).to.equal(true);
          else {
            expect(message.readUInt32LE(0)).to.equal(head);
            expect(message.subarray(4).equals(expected)).to.equal(true);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('leave out a message whose writing ended in an error', () => {
    const batches: ArrayBuffer[] = [];
    const writer = new BatchWriter((batch) => batches.push(batch));
    writer.write(1, 'request', Uint8Array.of(1));
    const broken = (out: ByteWriter, length: number): void => {
      out.raw(new Uint8Array(length));
      throw new Error('planted');
    };
    expect(() => writer.compose(2, 'reply', broken, 10)).to.throw('planted');
    writer.write(3, 'request', Uint8Array.of(3));
    expect(() => writer.compose(4, 'reply', broken, 2 ** 20)).to.throw('planted');
    writer.flush();
    expect(readAll(batches).map(({ ticket }) => ticket)).to.deep.equal([1, 3]);
  });

  it('copy the message: the sender may reuse its bytes', () => {
    const batches: ArrayBuffer[] = [];
    const writer = new BatchWriter((batch) => batches.push(batch));
    const message = Uint8Array.of(1, 2, 3);
    writer.write(9, 'request', message);
    message.fill(0);
    writer.flush();
    expect([...(readAll(batches)[0]?.message ?? [])]).to.deep.equal([1, 2, 3]);
  });
});
