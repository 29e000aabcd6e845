// A text in shared memory: whoever reads it waits for no writer, not even for one that died.

import { expect } from 'chai';
import { SharedText, sharedTextBytes } from '../../actors/shared/shared-text.ts';

const MAX_BYTES = 64;

function shared(): { writer: SharedText; reader: SharedText } {
  const memory = new SharedArrayBuffer(sharedTextBytes(MAX_BYTES));
  return {
    writer: new SharedText(memory, 0, MAX_BYTES),
    reader: new SharedText(memory, 0, MAX_BYTES),
  };
}

/** Bytes whose third one ends the thread that copies them. */
const deadly = (): Uint8Array => {
  const get = (): never => {
    throw new Error('the thread is ended');
  };
  const bytes = { length: 5, 0: 88, 1: 88, 3: 88, 4: 88 };
  return Object.defineProperty(bytes, 2, { get }) as unknown as Uint8Array;
};

describe('a text that threads share', () => {
  it('is empty at first, and then what was written last', () => {
    const { writer, reader } = shared();
    expect(reader.read().text).to.equal('');
    for (const text of ['one', '', 'ä longer text than the one before', 'two']) {
      const { version } = reader;
      writer.write(Buffer.from(text));
      expect(reader.read().text).to.equal(text);
      expect(reader.version).not.to.equal(version);
      expect(reader.read().version).to.equal(reader.version);
    }
  });

  it('stays as it was when its writer dies in the middle, and the next one can write', () => {
    const { writer, reader } = shared();
    writer.write(Buffer.from('whole'));
    const { version } = reader;
    expect(() => writer.write(deadly())).to.throw('the thread is ended');
    expect(reader.read()).to.deep.equal({ version, text: 'whole' });
    writer.write(Buffer.from('the next'));
    expect(reader.read().text).to.equal('the next');
  });

  it('stays as it was when more is written than it may hold', () => {
    const { writer, reader } = shared();
    writer.write(Buffer.from('whole'));
    expect(() => writer.write(Buffer.alloc(MAX_BYTES + 1))).to.throw(RangeError);
    expect(reader.read().text).to.equal('whole');
  });
});
