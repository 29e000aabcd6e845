// The JSON reader: what it takes, and what it refuses as malformed.

import { expect } from 'chai';
import fc from 'fast-check';
import { parseJson } from '../../src/protocol/json.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

describe('strict JSON', () => {
  it('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.json({ depthSize: 'small' }), (text) => {
        const got = parse(text);
        // The generator makes objects, so no key is there twice.
        expect(got).to.deep.equal({ kind: 'json', value: JSON.parse(text) });
      }),
    );
  });

  it('refuses what is no JSON without quoting it', () => {
    for (const text of ['', ' ', 'x=1', '{"secret":"p",}', '{"a":1} {}', '\ufeff{}', '"\\"']) {
      const got = parse(text);
      expect(got, text).to.include({ kind: 'refusal', reason: 'malformed' });
      expect(JSON.stringify(got)).not.to.include('secret');
    }
  });

  it('names a place that the parser found, never one that the text speaks of', () => {
    expect(parse('{"a":1,'))
      .to.have.property('detail')
      .that.matches(/\(near character 7\)/);
    for (const text of ['position 77', '{"a": at JSON at position 77', '[x JSON at position 77]']) {
      expect(parse(text), text).to.have.property('detail').that.does.not.include('77');
    }
  });

  it('refuses bytes that are no UTF-8', () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0x80, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ]) {
      expect(parseJson(Uint8Array.from(bytes))).to.include({ reason: 'malformed' });
    }
  });

  it('refuses depth instead of falling into it', () => {
    expect(parse('['.repeat(32) + ']'.repeat(32))).to.include({ kind: 'json' });
    for (const depth of [33, 3_500, 5_000_000]) {
      expect(parse('['.repeat(depth)), `${depth}`).to.include({ reason: 'malformed' });
      expect(parse('{"a":'.repeat(depth)), `${depth}`).to.include({ reason: 'malformed' });
    }
  });

  const twice: readonly (readonly [string, string])[] = [
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"x":{"b":1,"c":[{"d":1},{"d":1, "d" :2}]}}', 'x.c.1.d'],
    ['[{"a":1},{"a":1,"b":[1,2],"a":1}]', '1.a'],
    ['{"":1,"":2}', ''],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ];
  for (const [text, field] of twice) {
    it(`names the key given twice in ${text}`, () => {
      expect(parse(text)).to.include({ reason: 'malformed', field });
    });
  }

  const rounded: readonly (readonly [string, string])[] = [
    ['{"a":1.00000000000000000001}', 'a'],
    ['{"a":"1.00000000000000000001","b":[0,{"c":0.99999999999999999999}]}', 'b.1.c'],
    ['{"a":1e-400}', 'a'],
    ['{"a":-1E-400}', 'a'],
    ['{"a":9007199254740991.4}', 'a'],
    ['{"a":900719925474099.14e1}', 'a'],
    [`{"a":0.${'0'.repeat(300_000)}1}`, 'a'],
  ];
  for (const [text, field] of rounded) {
    it(`refuses the fraction that would be lost in ${text.slice(0, 60)}`, () => {
      expect(parse(text)).to.include({ reason: 'malformed', field });
    });
  }

  it('takes a whole number in whatever way it is written', () => {
    for (const text of ['1.0', '1e3', '10e-1', '-0', '-0.0', '0e-400', '1.5e1', '0.10e1', '2.5']) {
      expect(parse(text), text).to.deep.equal({ kind: 'json', value: JSON.parse(text) });
    }
    const long = `100${'0'.repeat(300)}e-300`;
    expect(parse(`{"a":${long},"b":"\\\\","c":"0.${'9'.repeat(40)}"}`)).to.include({
      kind: 'json',
    });
    expect(parse('[true,false,null,1e400]')).to.include({ kind: 'json' });
  });

  it('takes colons, brackets and quotes inside strings for text', () => {
    const value = { a: '{"a":1,"a":2}', 'b:"\\': ['[[[[', '\\', '\\\\"'], c: { a: ':' } };
    expect(parse(JSON.stringify(value))).to.deep.equal({ kind: 'json', value });
    expect(parse(JSON.stringify(['['.repeat(1_000)]))).to.include({ kind: 'json' });
  });
});
