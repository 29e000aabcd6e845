// Holds the codec to bytes that are on disks already, and to reading back all that it writes.

import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { checksum } from '../../src/log/checksum.ts';
import { decodeRecord, encodeRecord } from '../../src/log/codec.ts';
import { LogCorrupt, LogError } from '../../src/log/log.ts';
import { anyRecord, created, SAMPLES } from './records.ts';

// Written by format version 1. A failing line means that existing logs cannot be read any more.
const GOLDEN: Readonly<Record<string, string>> = {
  'CoordinatorStarted, the first': 'c1e2ef0709008180b3c19c33000101',
  'TaskCreated, plain':
    'f352a3a70100aa80b3c19c33000764656661756c740a7061796c6f616420343280dddb0103b0ea01',
  'TaskCreated, every option':
    'e1c2ead3017ff0a2b7c19c3300076d61696c3a65750400ff800780dddb0100010c6f726465722d31' +
    '3720e29c931000102030405060708090a0b0c0d0e0f0020574726163650261310a5f5f70726f746f' +
    '5f5f7800e0d403c6a204e0d403000000000000f83f',
  LeaseGranted: '03a6d5a302008080b3c19c330f0f02773101e0d40300',
  LeaseExtended: 'f412c89b03008080b3c19c33061506e0d403',
  'LeaseExpired, never extended': 'd3e045a804008080b3c19c33071607',
  'LeaseExpired, extended': '24e1498c04018080b3c19c330716070301',
  'TaskCompleted, plain': '133fcb6905008080b3c19c33071607',
  'TaskCompleted, every option': 'dd865a8b05038080b3c19c33071607030104646f6e65',
  'TaskFailed, for good': 'c693774306008080b3c19c33071607096469736b2066756c6c01',
  'TaskFailed, every option': 'e1df1e2206038080b3c19c3307160703010002d00f',
  TaskCancelled: 'a7f8488e07008080b3c19c3310261701',
  'TaskDead, from WAITING': '3ff8ea1608008080b3c19c330127066b696c6c6564',
  'TaskDead, extended':
    'da8e520108018080b3c19c33b0ffffffff1fd6ffffffff1f03c1ffffffff1f06706f69736f6e',
  HistoryForgotten: '9c240a6f0a008080b3c19c33004000010203900305',
};

const fromHex = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const absentDropped = (record: object) => JSON.parse(JSON.stringify(record)) as unknown;

describe('log/codec', () => {
  describe('golden bytes', () => {
    for (const [name, record] of Object.entries(SAMPLES)) {
      it(name, () => {
        const golden = GOLDEN[name] ?? 'none';
        expect(toHex(encodeRecord(record))).to.equal(golden);
        expect(absentDropped(decodeRecord(record.seq, fromHex(golden)))).to.deep.equal(
          absentDropped(record),
        );
      });
    }

    it('exist for every sample and nothing else', () => {
      expect(Object.keys(GOLDEN)).to.deep.equal(Object.keys(SAMPLES));
    });
  });

  it('never overwrites what it gave, whatever sizes come after it', () => {
    const sizes = [0, 10, 3_000, 5_000, 70_000, 1, 200_000, 60_000];
    const kept: { bytes: Uint8Array; hex: string; payload: string }[] = [];
    for (let seq = 1; seq <= 400; seq += 1) {
      const payload = String(seq % 10).repeat(sizes[seq % sizes.length] as number);
      const bytes = encodeRecord(created(seq, payload));
      kept.push({ bytes, hex: toHex(bytes), payload });
    }
    for (const [index, { bytes, hex, payload }] of kept.entries()) {
      expect(toHex(bytes) === hex, `record ${index + 1}`).to.equal(true);
      const record = decodeRecord(index + 1, bytes);
      expect(record).to.have.property('payload').that.deep.equals(Buffer.from(payload));
    }
  });

  it('reads back every record that it writes', () => {
    const property = fc.property(anyRecord, (record) => {
      const again = decodeRecord(record.seq, encodeRecord(record));
      expect(again).to.deep.equal(record);
    });
    fc.assert(property, { numRuns: 1_000 });
  });

  it('gives every record of a type the same keys, whatever it holds', () => {
    const keys = new Map<string, string>();
    for (const record of Object.values(SAMPLES)) {
      const found = Object.keys(decodeRecord(record.seq, encodeRecord(record))).join();
      expect(keys.get(record.type) ?? found).to.equal(found);
      keys.set(record.type, found);
    }
  });

  it('names the number of a record with any one bit flipped', () => {
    for (const record of Object.values(SAMPLES)) {
      const bytes = encodeRecord(record);
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const damaged = bytes.slice();
        damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(() => decodeRecord(record.seq, damaged), `bit ${bit}`)
          .to.throw(LogCorrupt)
          .with.property('seq', record.seq);
      }
    }
  });

  it('refuses sound bytes that stand under another number', () => {
    const bytes = encodeRecord(created(42));
    for (const seq of [41, 43, 42 + 2 ** 32, 2 ** 52]) {
      expect(() => decodeRecord(seq, bytes)).to.throw(LogCorrupt, `record ${seq}`);
    }
  });

  it('refuses arbitrary and truncated bytes in words', () => {
    const property = fc.property(fc.uint8Array({ maxLength: 60 }), (body) => {
      const bytes = new Uint8Array(4 + body.length);
      bytes.set(body, 4);
      new DataView(bytes.buffer).setUint32(0, checksum(9, bytes, 4, bytes.length), true);
      try {
        decodeRecord(9, bytes);
      } catch (error) {
        const newer = error instanceof LogError && error.code === 'LOG_FORMAT_NEWER';
        if (!newer) expect(error).to.be.instanceOf(LogCorrupt);
      }
    });
    fc.assert(property, { numRuns: 5_000 });
    for (const size of [0, 3, 4]) {
      expect(() => decodeRecord(1, new Uint8Array(size))).to.throw(LogCorrupt, 'record 1');
    }
  });

  it('says which type or flag it does not know', () => {
    const forge = (...body: number[]) => {
      const bytes = Uint8Array.of(0, 0, 0, 0, ...body);
      new DataView(bytes.buffer).setUint32(0, checksum(9, bytes, 4, bytes.length), true);
      return () => decodeRecord(9, bytes);
    };
    expect(forge(11, 0, 0, 0)).to.throw(LogCorrupt, 'unknown record type 11');
    expect(forge(0)).to.throw(LogCorrupt, 'unknown record type 0');
    expect(forge(2, 1, 0, 0)).to.throw(LogCorrupt, 'unknown flags 1 of a LeaseGranted');
    expect(forge(3, 0, 0, 9)).to.throw(LogCorrupt, 'no record 9 back');
  });

  it('does not write a record that names one which is not before it', () => {
    expect(() => encodeRecord({ ...created(5), prev: 5 })).to.throw(RangeError, 'record 5');
    expect(() => encodeRecord({ ...created(5), originTaskId: 0 })).to.throw(RangeError);
    expect(() => encodeRecord({ ...created(5), at: -1 })).to.throw(RangeError);
  });

  it('refuses bytes behind a record, though their checksum is right', () => {
    for (const record of Object.values(SAMPLES)) {
      const bytes = Buffer.concat([encodeRecord(record), Buffer.from([0])]);
      bytes.writeUInt32LE(checksum(record.seq, bytes, 4, bytes.length), 0);
      expect(() => decodeRecord(record.seq, bytes)).to.throw(LogCorrupt, '1 bytes left over');
    }
  });

  it('owns its bytes: the input may be reused at once', () => {
    const bytes = encodeRecord(created(42, 'abc'));
    const record = decodeRecord(42, bytes);
    bytes.fill(0);
    expect(record.type === 'TaskCreated' && toHex(record.payload)).to.equal('616263');
  });

  it('uses the CRC-32 of zlib over the number and the body, short or long', () => {
    for (const size of [0, 1, 5, 160, 161, 5_000]) {
      for (const seq of [1, 0xffff_ffff, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER]) {
        const body = Buffer.alloc(size, 'leasehold');
        const number = Buffer.alloc(8);
        number.writeBigUInt64LE(BigInt(seq));
        // A gzip file ends with the CRC-32 of its content, and its length.
        const expected = gzipSync(Buffer.concat([number, body]))
          .subarray(-8)
          .readUInt32LE();
        expect(checksum(seq, body, 0, size), `${size} bytes at ${seq}`).to.equal(expected);
      }
    }
  });
});
