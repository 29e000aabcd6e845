// Owns the bytes of a record: what stands on the disk for ever. It checks that the bytes are those
// that were written under this number, never whether the record makes sense at its place.
//
//   u32 checksum (of the number and all that follows) · u8 type code · varint flags · varint at
//   · varint number - prev (0: none) · the type's fields
//
// Which fields a type has, in which order and under which flags, is described in
// model/record-fields.ts; how each kind of field is stored stands in write-fields.ts and
// read-fields.ts. Numbers of earlier records are the distance back, times the signed distance from
// `at`: distances stay short, while the numbers grow with the log. A record's own number, which is
// a task's or a lease's id, is its key and not stored again.

import { ByteReader, ByteWriter } from '../model/bytes.ts';
import { fieldsOf, recordOf, visitFields } from '../model/record-fields.ts';
import { type LogRecord, RECORD_TYPES, type RecordType } from '../model/records.ts';
import { checksum } from './checksum.ts';
import { LogCorrupt } from './log.ts';
import { numberBack, ReadFields } from './read-fields.ts';
import { distanceBack, WrittenFields } from './write-fields.ts';

/** Every entry of the log, record or not, begins with this many bytes of checksum. */
export const CHECKSUM_BYTES = 4;

const CODE = new Map<RecordType, number>(RECORD_TYPES.map((type, i) => [type, i + 1]));
/** Records are cut from blocks, one after the other: one allocation for hundreds of them. */
const BLOCK_BYTES = 65_536;
/** A block that has less room than this is left. A record that needs more makes its block grow. */
const ROOM_BYTES = 4_096;
const HEAD_BYTES_MAX = CHECKSUM_BYTES + 1 + 3 * 8;
const block = new ByteWriter(BLOCK_BYTES);
const head = new ByteWriter(HEAD_BYTES_MAX);
const written = new WrittenFields(block);
const reader = new ByteReader();
const read = new ReadFields(reader);

/** Of a later format's CoordinatorStarted anything: its version is told before anything else. */
const KNOWN_FLAGS = RECORD_TYPES.map((type) =>
  type === 'CoordinatorStarted' ? 0xffff : fieldsOf(type).reduce((all, { bit }) => all | bit, 0),
);

/** The checksum with which an entry's bytes begin, whether it is right or not. */
export const checksumOf = (b: Uint8Array, at = 0): number =>
  ((b[at] as number) |
    ((b[at + 1] as number) << 8) |
    ((b[at + 2] as number) << 16) |
    ((b[at + 3] as number) << 24)) >>>
  0;

/**
 * @returns the record's bytes, which nothing overwrites. Who keeps them keeps their block.
 * @throws RangeError when a field cannot be stored: a number that is not before it in the log, say.
 */
export function encodeRecord(record: LogRecord): Uint8Array {
  block.makeRoom(ROOM_BYTES, BLOCK_BYTES);
  // The fields are written first: only then is it known which of the optional ones there are. The
  // head is put right before them.
  const start = block.claim(HEAD_BYTES_MAX);
  written.reset(record);
  visitFields(written, record);
  head.reset();
  head.u32(0);
  head.u8(CODE.get(record.type) as number);
  head.varint(written.flags);
  head.varint(record.at);
  head.varint(record.prev === 0 ? 0 : distanceBack(record.seq, record.prev));
  const headStart = start + HEAD_BYTES_MAX - head.length;
  block.put(headStart, head);
  const bytes = block.view(headStart);
  bytes.writeUInt32LE(checksum(record.seq, bytes, CHECKSUM_BYTES, bytes.length), 0);
  return bytes;
}

/**
 * @param start where the record's bytes begin, in a larger buffer; end is exclusive.
 * @returns the record; it owns its bytes, so the input may be reused at once.
 * @throws LogCorrupt naming the number when these are not the bytes that were written under it.
 */
export function decodeRecord(
  seq: number,
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
): LogRecord {
  try {
    reader.reset(bytes, start, end);
    const expected = reader.u32();
    if (checksum(seq, bytes, start + CHECKSUM_BYTES, end) !== expected) {
      throw new LogCorrupt(seq, 'its checksum does not match its bytes');
    }
    const record = readRecord(seq);
    if (reader.remaining > 0) throw new RangeError(`${reader.remaining} bytes left over`);
    return record;
  } catch (error) {
    if (error instanceof RangeError)
      throw new LogCorrupt(seq, `cannot decode it: ${error.message}`);
    throw error;
  }
}

/** @throws RangeError when the bytes are not a record's. */
function readRecord(seq: number): LogRecord {
  const code = reader.u8();
  const type = RECORD_TYPES[code - 1];
  if (type === undefined) throw new RangeError(`unknown record type ${code}`);
  const flags = reader.varint();
  const known = KNOWN_FLAGS[code - 1] as number;
  // The bytes do not say what an unknown field is or where it ends, so the record is refused whole.
  if (flags > known || (flags & ~known) !== 0) {
    throw new RangeError(`unknown flags ${flags} of a ${type}`);
  }
  read.seq = seq;
  read.flags = flags;
  read.at = reader.varint();
  const distance = reader.varint();
  read.prev = distance === 0 ? 0 : numberBack(seq, distance);
  return recordOf(read, type);
}
