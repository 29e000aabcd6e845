// Owns the two files of an environment before LMDB sees them: an empty data file, and the lock file
// with all its space. LMDB would make both itself, but when a device refuses the very first write
// it ends the process (a bus or segmentation fault) where we want an error.

import fs from 'node:fs';
import path from 'node:path';
import { errnoText } from '../../model/errno-text.ts';
import { LogError } from '../log.ts';

export const dataFile = (directory: string): string => path.join(directory, 'data.mdb');
const lockFile = (directory: string): string => path.join(directory, 'lock.mdb');

export const PAGE_BYTES = 4_096;
/** The file begins with two of them; the one with the greater transaction counts. */
export const META_MAGIC = 0xbeef_c0de;
export const META_VERSION = 2;
/** Where a meta page's fields begin: after the header that every page has. */
export const PAGE_HEADER_BYTES = 24;
const META_PAGE_FLAG = 8;
export const INTEGER_KEYS_FLAG = 8;
/** The offsets of the meta's fields from the beginning of its page. */
export const META = {
  magic: 24,
  version: 28,
  mapBytes: 40,
  pageBytes: 48, // The unused first field of the description of the free list.
  freeFlags: 52,
  freeDepth: 54,
  freeRoot: 88,
  mainFlags: 100,
  mainDepth: 102,
  mainEntries: 128,
  mainRoot: 136,
  lastPage: 144,
  transaction: 152,
  end: 160,
} as const;

/** Reader slots, a few more than LMDB makes by default, in whole pages. */
const LOCK_BYTES = 3 * PAGE_BYTES;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;

/** Makes the files of an empty environment in an empty directory. */
export function writeEmptyEnvironment(directory: string, mapBytes: number): void {
  const metas = Buffer.alloc(2 * PAGE_BYTES);
  for (const page of [0, 1]) {
    const meta = metas.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
    meta.writeUInt8(page, 0);
    meta.writeUInt16LE(META_PAGE_FLAG, 18);
    meta.writeUInt32LE(META_MAGIC, META.magic);
    meta.writeUInt32LE(META_VERSION, META.version);
    meta.writeBigUInt64LE(BigInt(mapBytes), META.mapBytes);
    meta.writeUInt32LE(PAGE_BYTES, META.pageBytes);
    meta.writeUInt16LE(INTEGER_KEYS_FLAG, META.freeFlags);
    meta.writeBigUInt64LE(NO_PAGE, META.freeRoot);
    meta.writeBigUInt64LE(NO_PAGE, META.mainRoot);
    meta.writeBigUInt64LE(1n, META.lastPage);
  }
  fs.writeFileSync(dataFile(directory), metas, { mode: 0o600 });
  fs.writeFileSync(lockFile(directory), Buffer.alloc(LOCK_BYTES), { mode: 0o600 });
}

/**
 * LMDB writes the lock file through memory: without space behind it, on a full disk, that is a bus
 * error. A copied log may come without one.
 * @throws LogError LOG_IO when it is missing and cannot be made, or may not be written.
 */
export function ensureLockFile(directory: string): void {
  const file = lockFile(directory);
  try {
    if (!fs.existsSync(file)) fs.writeFileSync(file, Buffer.alloc(LOCK_BYTES), { mode: 0o600 });
    fs.accessSync(file, fs.constants.R_OK | fs.constants.W_OK);
  } catch (error) {
    throw new LogError('LOG_IO', `cannot use ${file}: ${errnoText(error)}`, { cause: error });
  }
}

/** A 64-bit word as a number; all ones, which LMDB takes for "no page", as -1. */
export function readWord(bytes: Buffer, at: number): number {
  const low = bytes.readUInt32LE(at);
  const high = bytes.readUInt32LE(at + 4);
  return low === 0xffff_ffff && high === 0xffff_ffff ? -1 : high * 0x1_0000_0000 + low;
}
