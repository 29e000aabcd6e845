// Owns the form in which a group of records lies in etcd: its bytes in pieces, and a manifest that
// says which pieces they are and behind which record they belong. The manifest is written together
// with head and decides what the group is; pieces without one are nothing.
//
// The bytes are, for each record, u32 length · the record's bytes as the codec made them.

import { createHash } from 'node:crypto';
import type { LogRecord } from '../../model/records.ts';
import { checksumOf, decodeRecord, encodeRecord } from '../codec.ts';
import { LogCorrupt } from '../log.ts';
import { jsonBytes, numberIn, readStrictly, textIn } from './strict-json.ts';

/** etcd takes requests of 1.5 MiB by default; a piece travels with the manifest and head. */
const PIECE_BYTES = 1024 * 1024;
const LENGTH_BYTES = 4;

/** Where a log ends: its last record, and the checksum with which that one's bytes begin. */
export interface End {
  readonly last: number;
  readonly check: number;
}

export interface Manifest {
  /** Number of the record before the group, 0 when the log begins here. */
  readonly after: number;
  /** The checksum with which that record's bytes begin, 0 when the log begins here. */
  readonly afterCheck: number;
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  readonly chunks: number;
  /** The revision that head had while the pieces were written; it is part of their keys. */
  readonly revision: number;
  /** SHA-256 of the bytes. */
  readonly hash: string;
  /** So many numbers between `after` and `first` are left out; absent: none. */
  readonly gap?: number;
}

export interface EncodedGroup {
  readonly manifest: Manifest;
  readonly pieces: readonly Uint8Array[];
  /** The checksum with which the last record's bytes begin. */
  readonly lastCheck: number;
}

export const encodeManifest = (manifest: Manifest): Uint8Array => {
  const { after, afterCheck, first, last, bytes, chunks, revision, hash, gap } = manifest;
  const always = { after, afterCheck, first, last, bytes, chunks, revision, hash };
  return jsonBytes(gap === undefined ? always : { ...always, gap });
};

/** @throws LogError LOG_STORE also when the numbers leave out some without saying so. */
export const decodeManifest = (key: string, value: Uint8Array): Manifest =>
  readStrictly(key, value, (fields) => {
    const manifest: Manifest = {
      after: numberIn(fields, 'after'),
      afterCheck: numberIn(fields, 'afterCheck'),
      first: numberIn(fields, 'first', 1),
      last: numberIn(fields, 'last', 1),
      bytes: numberIn(fields, 'bytes', 1),
      chunks: numberIn(fields, 'chunks', 1),
      revision: numberIn(fields, 'revision', 1),
      hash: textIn(fields, 'hash'),
      ...(fields['gap'] === undefined ? {} : { gap: numberIn(fields, 'gap', 1) }),
    };
    const { after, first, last, gap = 0 } = manifest;
    if (first !== after + 1 + gap || last < first) throw new RangeError('its numbers do not fit');
    return manifest;
  });

/**
 * @param records numbered without a gap
 * @param after where the log ends now
 * @param revision that head has
 */
export function encodeGroup(
  records: readonly LogRecord[],
  after: End,
  revision: number,
  pieceBytes = PIECE_BYTES,
): EncodedGroup {
  const parts: Uint8Array[] = [];
  let lastCheck = 0;
  for (const record of records) {
    const bytes = encodeRecord(record);
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32LE(bytes.length);
    parts.push(length, bytes);
    lastCheck = checksumOf(bytes);
  }
  const all = Buffer.concat(parts);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < all.length; at += pieceBytes) {
    pieces.push(all.subarray(at, at + pieceBytes));
  }
  const first = records[0]?.seq ?? 0;
  const gap = first - after.last - 1;
  const manifest: Manifest = {
    after: after.last,
    afterCheck: after.check,
    first,
    last: first + records.length - 1,
    bytes: all.length,
    chunks: pieces.length,
    revision,
    hash: hashOf(all),
    ...(gap === 0 ? {} : { gap }),
  };
  return { manifest, pieces, lastCheck };
}

export interface DecodedGroup {
  readonly manifest: Manifest;
  readonly records: readonly LogRecord[];
  readonly lastCheck: number;
}

/** @throws LogCorrupt naming the first record that cannot be believed. */
export function decodeGroup(manifest: Manifest, pieces: readonly Uint8Array[]): DecodedGroup {
  const { first, last, bytes, hash } = manifest;
  const all = Buffer.concat(pieces);
  const records: LogRecord[] = [];
  let lastCheck = 0;
  let at = 0;
  for (let seq = first; seq <= last; seq++) {
    const start = at + LENGTH_BYTES;
    const end = start <= all.length ? start + all.readUInt32LE(at) : Number.POSITIVE_INFINITY;
    if (end > all.length) throw new LogCorrupt(seq, 'its bytes in etcd are cut off');
    records.push(decodeRecord(seq, all, start, end));
    lastCheck = checksumOf(all, start);
    at = end;
  }
  if (at !== all.length || all.length !== bytes || hashOf(all) !== hash) {
    throw new LogCorrupt(first, 'the group that it begins is not the one that etcd announced');
  }
  return { manifest, records, lastCheck };
}

const hashOf = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url');
