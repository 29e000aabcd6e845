// Bytes that a user gives: cut into lines without looking into them, and carried without loss.

import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Io } from '../../src/cli/command.ts';
import { bytesField, linesOf, readInput } from '../../src/cli/input.ts';

async function lines(chunks: readonly Uint8Array[]): Promise<string[]> {
  const found: string[] = [];
  for await (const line of linesOf(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))) {
    found.push(line.toString('latin1'));
  }
  return found;
}

/** Line feeds are common in it. */
const bytes = fc.uint8Array({ max: 12 }).map((all) => all.map((byte) => (byte > 5 ? byte : 10)));

describe('input', () => {
  it('is cut at line feeds only, wherever the chunks end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(bytes), async (chunks) => {
        const whole = Buffer.concat(chunks).toString('latin1');
        const expected = whole.split('\n');
        if (expected.at(-1) === '') expected.pop();
        expect(await lines(chunks)).to.deep.equal(expected);
      }),
    );
  });

  it('keeps carriage returns and empty lines', async () => {
    expect(await lines([Buffer.from('a\r\n\nb')])).to.deep.equal(['a\r', '', 'b']);
    expect(await lines([])).to.deep.equal([]);
  });

  it('is waited for at a terminal with a word that says so, and nowhere else', async () => {
    for (const isTTY of [true, false]) {
      const stdin = Object.assign(Readable.from([Buffer.from('typed')]), { isTTY });
      const said: string[] = [];
      const stderr = { write: (text: string) => said.push(text) };
      const io = { stdin, stderr, stdout: stderr, env: {} } as unknown as Io;
      expect(String(await readInput(undefined, io, 'the payload'))).to.equal('typed');
      expect(said.join('')).to.match(
        isTTY ? /^reading the payload from the terminal; .*Ctrl-D/ : /^$/,
      );
    }
  });

  it('is refused before it is sent when no server would take it', () => {
    expect(() => bytesField('payload', Buffer.alloc(64 * 1024 * 1024 + 1))).to.throw('too_large');
  });

  it('travels as text when it is one, else as base64, and comes back the same', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (given) => {
        const field = bytesField('payload', given);
        const { payload, payload_base64: base64 } = field;
        expect(Object.keys(field)).to.have.length(1);
        const back =
          payload === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(payload);
        expect(Buffer.compare(back, given)).to.equal(0);
      }),
    );
    const bom = Buffer.from('\ufeffx');
    expect(Buffer.from(bytesField('p', bom)['p'] ?? '')).to.deep.equal(bom);
    expect(bytesField('p', Buffer.from([0xff]))).to.deep.equal({ p_base64: '/w==' });
  });
});
