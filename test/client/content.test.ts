// What a program gives as a payload or result becomes exactly those bytes, or is refused.

import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { encodeContent } from '../../src/client/content.ts';

const bytes = Uint8Array.from([1, 2, 3, 4]);
const at = (offset: number): ArrayBuffer =>
  Uint8Array.from([0, 0, ...bytes, 0, 0]).buffer.slice(0, 8 - offset);
const shared = new SharedArrayBuffer(4);
new Uint8Array(shared).set(bytes);

const SHAPES: Record<string, unknown> = {
  Uint8Array: bytes,
  'a part of a Uint8Array': new Uint8Array(at(0), 2, 4),
  Buffer: Buffer.from(bytes),
  ArrayBuffer: bytes.slice().buffer,
  SharedArrayBuffer: shared,
  'a Uint8Array over shared memory': new Uint8Array(shared),
  DataView: new DataView(at(0), 2, 4),
  Uint8ClampedArray: new Uint8ClampedArray(bytes),
  Int8Array: new Int8Array(bytes),
  Uint16Array: new Uint16Array(bytes.slice().buffer),
  Int32Array: new Int32Array(bytes.slice().buffer),
  Float32Array: new Float32Array(bytes.slice().buffer),
  'a Uint8Array of another realm': runInNewContext('Uint8Array.from([1, 2, 3, 4])'),
  'an ArrayBuffer of another realm': runInNewContext('Uint8Array.from([1, 2, 3, 4]).buffer'),
  'a DataView of another realm': runInNewContext('new DataView(Uint8Array.from([1,2,3,4]).buffer)'),
};

class Named {
  readonly name = 'a';
}
class Hidden {
  readonly #name = 'a';
  toString(): string {
    return this.#name;
  }
}

const TEXTS: [content: unknown, text: string][] = [
  ['', ''],
  ['smile \u{1f600}', 'smile \u{1f600}'],
  [{}, '{}'],
  [Object.create(null), '{}'],
  [runInNewContext('({ a: {} })'), '{"a":{}}'],
  [[], '[]'],
  [null, 'null'],
  [0, '0'],
  [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  [
    { when: new Date(0), url: new URL('http://a/') },
    '{"when":"1970-01-01T00:00:00.000Z","url":"http://a/"}',
  ],
  [new Named(), '{"name":"a"}'],
  [{ half: '\ud83d' }, '{"half":"\\ud83d"}'],
  [{ none: undefined }, '{}'],
  [{ none: new Uint8Array(0) }, '{"none":{}}'],
];

const REFUSED: Record<string, unknown> = {
  'the first half of a character': 'smile \ud83d',
  'the second half of one': '\ude00',
  undefined: undefined,
  'a function': () => {},
  'a symbol': Symbol('s'),
  'a bigint': 1n,
  'a Blob': new Blob(['x']),
  'a Blob within': { file: new Blob(['x']) },
  'a Map': new Map([['a', 1]]),
  'a Set within a list': [new Set([1])],
  'an ArrayBuffer within': { bytes: new ArrayBuffer(4) },
  'a promise': Promise.resolve(1),
  'an error': new Error('x'),
  'an expression': /x/,
  'an object whose members are private': new Hidden(),
};

describe('content', () => {
  for (const [name, content] of Object.entries(SHAPES)) {
    it(`of ${name} is its bytes`, () => {
      expect([...encodeContent(content)]).to.deep.equal([1, 2, 3, 4]);
    });
  }

  it('of anything else is its JSON text', () => {
    for (const [content, text] of TEXTS) expect(String(encodeContent(content))).to.equal(text);
  });

  for (const [name, content] of Object.entries(REFUSED)) {
    it(`is refused: ${name}`, () => expect(() => encodeContent(content)).to.throw(TypeError));
  }

  it('that is refused is named with its place', () => {
    const act = (): Buffer => encodeContent({ file: new Blob(['x']) });
    expect(act).to.throw('"file": JSON would make {} of a Blob');
  });
});
