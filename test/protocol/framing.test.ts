// Lines out of a byte stream: the same lines however the bytes were cut, and no more memory than
// one line within its limit.

import { expect } from 'chai';
import fc from 'fast-check';
import { LineReader } from '../../src/protocol/framing.ts';

const LIMIT = 20;

function read(chunks: readonly Buffer[], limit = LIMIT) {
  const lines: string[] = [];
  let tooLong = 0;
  const reader = new LineReader(
    () => limit,
    () => {
      tooLong += 1;
    },
  );
  for (const chunk of chunks) {
    reader.push(chunk, (line) => lines.push(line.toString('latin1')) > 0);
  }
  return { lines, tooLong, reader };
}

describe('line reader', () => {
  const line = fc
    .uint8Array({ maxLength: 2 * LIMIT })
    .map((bytes) => Buffer.from(bytes).toString('latin1').replaceAll('\n', 'n'));

  it('gives the same lines however the stream was cut', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(line), cuts, (lines, sizes) => {
        const stream = Buffer.from(lines.map((each) => `${each}\n`).join(''), 'latin1');
        const chunks: Buffer[] = [];
        for (let at = 0, n = 0; at < stream.length; n += 1) {
          const size = sizes[n % sizes.length] as number;
          chunks.push(stream.subarray(at, at + size));
          at += size;
        }
        const got = read(chunks);
        expect(got.lines).to.deep.equal(lines.filter((each) => each.length <= LIMIT));
        expect(got.tooLong).to.equal(lines.filter((each) => each.length > LIMIT).length);
        expect(got.reader.midLine).to.equal(false);
      }),
    );
  });

  it('tells a line that is too long as soon as it is, once, and goes on after it', () => {
    const reader = read([Buffer.alloc(LIMIT + 1, 'x')]);
    expect(reader.tooLong).to.equal(1);
    expect(reader.reader.midLine).to.equal(true);
    const more = read([Buffer.alloc(50, 'x'), Buffer.alloc(50, 'x'), Buffer.from('x\nok\n')]);
    expect(more).to.deep.include({ lines: ['ok'], tooLong: 1 });
  });

  it('takes the limit by the first byte of a line', () => {
    const seen: number[] = [];
    const reader = new LineReader(
      (first) => (first === 0x5b ? 10 : 3),
      (limit) => seen.push(limit),
    );
    const lines: string[] = [];
    const push = (text: string): void => {
      reader.push(Buffer.from(text), (each) => lines.push(`${each}`) > 0);
    };
    push('[123456\nabcd\n[');
    push('12345678901\nabc\n');
    expect(lines).to.deep.equal(['[123456', 'abc']);
    expect(seen).to.deep.equal([3, 10]);
  });

  it('stops where its sink says so, and gives back what it did not look at', () => {
    const reader = new LineReader(
      () => LIMIT,
      () => {},
    );
    const lines: string[] = [];
    const rest = reader.push(Buffer.from('a\nb\nc'), (each) => {
      lines.push(`${each}`);
      return false;
    });
    expect(lines).to.deep.equal(['a']);
    expect(String(rest)).to.equal('b\nc');
    expect(reader.push(Buffer.from('b\n'), () => false)).to.equal(undefined);
  });

  it('gives up an unfinished line when asked', () => {
    const { reader } = read([Buffer.from('ab'), Buffer.from('c')]);
    expect(String(reader.flush())).to.equal('abc');
    expect(reader.flush()).to.equal(undefined);
    expect(read([Buffer.alloc(LIMIT + 1, 'x')]).reader.flush()).to.equal(undefined);
  });
});
