// Owns the look at an environment's files before LMDB maps them: a file that is shorter than its
// meta page says would end the process with a bus error, not with words. It repairs nothing.

import fs from 'node:fs';
import path from 'node:path';
import { LogError } from './log.ts';

const META_MAGIC = 0xbeef_c0de;
const META_VERSION = 2;
const META_AT = 24; // After the page header.
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;

interface Meta {
  readonly pageBytes: number;
  readonly mainRoot: bigint;
  readonly freeRoot: bigint;
  readonly lastPage: bigint;
  readonly transaction: bigint;
}

/** @throws LogError LOG_IO in words when the files are missing, truncated or not ours. */
export function checkEnvironment(directory: string): void {
  const file = path.join(directory, 'data.mdb');
  let fd: number;
  try {
    fd = fs.openSync(file, 'r');
  } catch (error) {
    throw refused(file, (error as Error).message);
  }
  try {
    checkFile(file, fd);
  } finally {
    fs.closeSync(fd);
  }
}

function checkFile(file: string, fd: number): void {
  const { size } = fs.fstatSync(fd);
  const first = readMeta(fd, 0);
  if (first === undefined) throw refused(file, 'its first meta page is damaged');
  const second = readMeta(fd, first.pageBytes);
  if (second === undefined || second.pageBytes !== first.pageBytes) {
    throw refused(file, 'its second meta page is damaged');
  }
  const newest = second.transaction > first.transaction ? second : first;
  const pages = BigInt(Math.floor(size / newest.pageBytes));
  const needed = newest.lastPage + 1n;
  if (pages < needed) {
    const has = `${pages} pages of ${newest.pageBytes} bytes`;
    throw refused(file, `it is truncated: it has ${has} and needs ${needed}`);
  }
}

function readMeta(fd: number, pageAt: number): Meta | undefined {
  const bytes = Buffer.alloc(META_AT + 136);
  if (fs.readSync(fd, bytes, 0, bytes.length, pageAt) < bytes.length) return undefined;
  const meta = bytes.subarray(META_AT);
  if (meta.readUInt32LE(0) !== META_MAGIC) return undefined;
  if ((meta.readUInt32LE(4) & 0xffff) !== META_VERSION) return undefined;
  const pageBytes = meta.readUInt32LE(24);
  const powerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (!powerOfTwo || pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) return undefined;
  return {
    pageBytes,
    freeRoot: meta.readBigUInt64LE(24 + 40),
    mainRoot: meta.readBigUInt64LE(72 + 40),
    lastPage: meta.readBigUInt64LE(120),
    transaction: meta.readBigUInt64LE(128),
  };
}

const refused = (file: string, why: string): LogError =>
  new LogError('LOG_IO', `cannot open the log's file ${file}: ${why}`);
