// Holds the keys and values in etcd to their forms: what is written is read back, the order of keys
// is the order of numbers, and nothing that leasehold did not write is believed.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeGroup,
  decodeManifest,
  encodeGroup,
  encodeManifest,
} from '../../../src/log/etcd/group.ts';
import { decodeHead, encodeHead, type Head } from '../../../src/log/etcd/head.ts';
import { keysOf, prefixEnd } from '../../../src/log/etcd/keys.ts';
import {
  decodeFrozen,
  decodeTrimMark,
  encodeFrozen,
  encodeTrimMark,
} from '../../../src/log/etcd/trim-mark.ts';
import { LogCorrupt, LogError } from '../../../src/log/log.ts';
import { created, group, started } from '../records.ts';

const anyNumber = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const keys = keysOf('main');

describe('log/etcd/keys', () => {
  it('lie below the name of the cluster', () => {
    const { prefix, leader, trim, frozen, groups, chunks, nodes, meta, head } = keys;
    expect(prefix).to.equal('/leasehold/main/');
    const own = [meta, head, leader, trim, frozen, groups, chunks, nodes];
    const all = [...own, keys.group(1), keys.chunk(1, 2, 3), keys.node('a')];
    expect(new Set(all).size).to.equal(all.length);
    for (const key of all) expect(key >= prefix && key < prefixEnd(prefix), key).to.equal(true);
    expect(keysOf('main2').head < prefixEnd(prefix)).to.equal(false);
    expect(keys.chunk(258, 17, 10)).to.equal(
      '/leasehold/main/c/00000000000102/00000000000011/000a',
    );
  });

  it('have the order of the numbers', () => {
    const sign = (a: number | string, b: number | string) => (a < b ? -1 : a > b ? 1 : 0);
    fc.assert(
      fc.property(anyNumber, anyNumber, anyNumber, (a, b, revision) => {
        expect(sign(keys.group(a), keys.group(b))).to.equal(sign(a, b));
        expect(sign(keys.chunk(a, revision, 0), keys.chunk(b, 0, 9))).to.equal(
          a === b ? sign(revision, 0) || -1 : sign(a, b),
        );
      }),
    );
    expect(() => keys.group(-1)).to.throw(RangeError);
    expect(() => keys.chunk(1, 1, 65_536)).to.throw(RangeError);
  });
});

describe('log/etcd/head', () => {
  const head: Head = { epoch: 3, last: 9, check: 4_000_000_000, writer: 'w' };
  const text = (value: unknown) => Buffer.from(JSON.stringify(value));

  it('is read back as written', () => {
    for (const one of [head, { ...head, gap: 1_000_000 }]) {
      expect(decodeHead(encodeHead(one))).to.deep.equal(one);
    }
  });

  it('is not believed when it is anything else', () => {
    const { writer, ...rest } = head;
    const others = [
      Buffer.from(''),
      Buffer.from('null'),
      Buffer.from(` ${JSON.stringify(head)}`),
      text([]),
      text(rest),
      text({ ...head, more: 1 }),
      text({ ...rest, writer: 5 }),
      text({ writer, ...rest }),
      text({ ...head, last: -1 }),
      text({ ...head, last: 1.5 }),
      text({ ...head, last: 2 ** 53 }),
      text({ ...head, last: '9' }),
      text({ ...head, gap: 0 }),
    ];
    for (const other of others) {
      expect(() => decodeHead(other), other.toString())
        .to.throw(LogError, 'under head')
        .with.property('code', 'LOG_STORE');
    }
  });
});

describe('log/etcd/trim-mark', () => {
  it('is read back as written, and a frozen log as well', () => {
    const mark = { through: 7, check: 9 };
    expect(decodeTrimMark(encodeTrimMark(mark))).to.deep.equal(mark);
    const frozen = { by: 'a', last: 9, head: 7 };
    expect(decodeFrozen(encodeFrozen(frozen))).to.deep.equal(frozen);
    expect(() => decodeTrimMark(encodeFrozen(frozen))).to.throw(LogError, 'under trim');
    expect(() => decodeFrozen(encodeTrimMark(mark))).to.throw(LogError, 'under frozen');
  });
});

describe('log/etcd/group', () => {
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
  const encoded = (...given: Parameters<typeof encodeGroup>) => {
    const { manifest, pieces, lastCheck } = encodeGroup(...given);
    return { manifest: decodeManifest('g', encodeManifest(manifest)), pieces, lastCheck };
  };
  const small = () => encoded(group(4, 6), { last: 3, check: 33 }, 17);

  it('is read back as written, in one piece or in several', () => {
    for (const records of [[started(1)], group(1, 500), [created(1, 'x'.repeat(2_500_000))]]) {
      const { manifest, pieces, lastCheck } = encoded(records, { last: 0, check: 0 }, 17);
      expect(manifest.chunks).to.equal(pieces.length);
      expect(Math.max(...pieces.map(({ length }) => length))).to.be.at.most(1_048_576);
      const read = decodeGroup(manifest, pieces);
      expect(plain(read.records)).to.deep.equal(plain(records));
      expect(read.lastCheck).to.equal(lastCheck);
    }
  });

  it('names the record before it, and a gap only where there is one', () => {
    expect(small().manifest).to.include({ after: 3, afterCheck: 33, first: 4, last: 6 });
    expect(small().manifest).not.to.have.property('gap');
    const { manifest } = encoded([started(1_000_004)], { last: 3, check: 33 }, 17);
    expect(manifest).to.include({ after: 3, first: 1_000_004, gap: 1_000_000 });
  });

  it('is not believed when its manifest leaves out numbers without saying so', () => {
    const { manifest } = small();
    for (const wrong of [{ after: 2 }, { first: 5 }, { last: 3 }, { gap: 1 }, { chunks: 0 }]) {
      expect(() => decodeManifest('g', encodeManifest({ ...manifest, ...wrong })))
        .to.throw(LogError)
        .with.property('code', 'LOG_STORE');
    }
  });

  it('names the first record that is not as it was written', () => {
    const { manifest, pieces } = small();
    const [whole = new Uint8Array()] = pieces;
    const flipped = (at: number) => whole.map((byte, i) => (i === at ? byte ^ 1 : byte));
    const second = 4 + Buffer.from(whole).readUInt32LE(0);
    const cases: (readonly [Uint8Array[], number])[] = [
      [[flipped(10)], 4],
      [[flipped(second + 10)], 5],
      [[whole.slice(0, -1)], 6],
      [[whole, Buffer.from('x')], 4],
      [[], 4],
    ];
    for (const [wrong, seq] of cases) {
      expect(() => decodeGroup(manifest, wrong))
        .to.throw(LogCorrupt)
        .with.property('seq', seq);
    }
    expect(() => decodeGroup({ ...manifest, hash: 'other' }, pieces)).to.throw(LogCorrupt);
    expect(() => decodeGroup({ ...manifest, first: 3 }, pieces)).to.throw(LogCorrupt, 'record 3');
  });
});
