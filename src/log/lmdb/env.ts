// Owns one LMDB environment: how it is opened, read, written and left. Everything that LMDB does
// otherwise than one would expect is dealt with in this file and explained where it is dealt with.
//
// The recipe of a commit: one transaction in the caller's own thread, which returns when both of
// LMDB's flushes are done (overlappingSync is off, else an error of the second would be lost). The
// thread does nothing else meanwhile, and needs not: no answer may leave before the flush anyway,
// and handing the group to a thread of LMDB costs more than the wait. Queued writes must never be
// mixed into such an environment: LMDB would make them part of the transaction.

import fs from 'node:fs';
import * as lmdb from 'lmdb';
import type { LogRecord } from '../../model/records.ts';
import { decodeRecord } from '../codec.ts';
import { LogError } from '../log.ts';
import { within } from '../stalls.ts';
import { withRoom } from './disk-room.ts';
import { dataFile, ensureLockFile, writeEmptyEnvironment } from './env-files.ts';
import { readKey, writeKey } from './page.ts';
import { readNewestMeta } from './page-meta.ts';

/** An entry as it is stored. */
export type Entry = readonly [key: number, bytes: Uint8Array];

/** refused: the number is taken. failed: not known to have happened, or not possible. */
export type Written = 'written' | 'refused' | 'failed';
type Database = lmdb.RootDatabase<Uint8Array, number>;

/** Every database that lmdb has opened, under its directory's name. Not among lmdb's types. */
const { allDbs } = lmdb as unknown as { readonly allDbs: Map<string, unknown> };

/** LMDB refuses the entry unless its key is the greatest. */
const APPEND = { append: true } as const;
/** A new segment is filled in groups, between which everything else gets its turn. */
const CREATED_AT_ONCE = 1_000;
const CREATED_AT_ONCE_BYTES = 4 * 1024 * 1024;
const STDERR = 2;
const WRITE_REFUSED = 'Attempting to write page';
/** More words than LMDB's own functions take of the stack. */
const ZEROS: readonly number[] = Array.from({ length: 1_000 }, () => 0);
const MAP_BYTES = 256 * 1024 * 1024; // Address space, not memory; LMDB maps more when it must.

export class Environment {
  readonly directory: string;
  private readonly db: Database;
  /** The data file, to be read beside LMDB; undefined once the environment is left. */
  private fd: number | undefined;
  /** What the newest commit failed of, as the system or LMDB says; undefined: it did not fail. */
  failure: Error | undefined;

  /**
   * The data file must have passed page-check.ts. LMDB believes every page number and offset that
   * it finds, and one beyond the file ends the process instead of throwing an error.
   */
  constructor(directory: string) {
    this.directory = directory;
    ensureLockFile(directory);
    this.db = openDatabase(directory);
    this.fd = fs.openSync(dataFile(directory), 'r');
  }

  /** Makes an environment with these entries in an empty directory, not flushed, and leaves it. */
  static create(directory: string, entries: Iterable<Entry>): Promise<void> {
    return Environment.createFrom(directory, inGroups(entries));
  }

  /** The same of entries that come in groups. */
  static async createFrom(
    directory: string,
    groups: Iterable<readonly Entry[]> | AsyncIterable<readonly Entry[]>,
  ): Promise<void> {
    writeEmptyEnvironment(directory, MAP_BYTES);
    const db = openDatabase(directory, { noSync: true });
    try {
      for await (const group of groups) await putAll(db, withRoom(directory, group));
    } finally {
      await closeDatabase(db);
    }
  }

  /**
   * @returns undefined also when the environment cannot be read any more: the file can be.
   * @throws LogCorrupt when the bytes under this number are not those of its record.
   */
  get(seq: number): LogRecord | undefined {
    const bytes = this.bytesOf(seq); // LMDB's own buffer: valid until the next read.
    return bytes === undefined ? undefined : decodeRecord(seq, bytes, 0, bytes.length);
  }

  /**
   * One atomic commit of these entries, in ascending order and all after every entry that is
   * there. It is flushed when this returns. After 'failed' the environment must be left: after an
   * error of a commit's last write LMDB takes no more writes, and a transaction that cannot begin
   * crashes.
   *
   * All conditions are checked inside the transaction. LMDB lets one write transaction run at a
   * time, so no other process can take the number between the check and the write.
   * @param free the number that must not be taken
   * @param before the greatest key, which the entries follow
   * @param replaced overwritten under the same conditions
   */
  commit(
    free: number,
    before: number,
    entries: readonly Entry[],
    replaced: readonly Entry[] = [],
  ): Written {
    let written: Written = 'failed';
    this.failure = undefined;
    try {
      this.db.transactionSync(() => {
        written = this.put(free, before, entries, replaced);
        clearStack();
        return written === 'written' ? undefined : lmdb.ABORT;
      });
      return written;
    } catch (error) {
      this.failure = error as Error;
      // LMDB has written half a line about the error to standard error: the next message needs a
      // new line.
      if (this.failure.message.includes(WRITE_REFUSED)) fs.writeSync(STDERR, '\n');
      return 'failed';
    }
  }

  /**
   * Runs inside the transaction. A refused entry does not end the transaction: the caller must.
   */
  private put(
    free: number,
    before: number,
    entries: readonly Entry[],
    replaced: readonly Entry[],
  ): Written {
    if (!this.beganOnNewest()) return 'failed';
    if (this.db.doesExist(free)) return 'refused';
    if (!this.db.doesExist(before)) return 'failed';
    const db = this.db as unknown as Synchronous;
    for (const [key, bytes] of replaced) if (!db.putSync(key, bytes)) return 'failed';
    for (const [key, bytes] of entries) if (!db.putSync(key, bytes, APPEND)) return 'refused';
    return 'written';
  }

  /**
   * Whether the transaction began where the newest commit ended. LMDB keeps the number of the
   * newest commit in memory that all processes share. Whoever opens the environment stores there
   * the number that it read a moment before, without the writers' lock. If another process commits
   * in that moment, LMDB forgets the commit: the next transaction would begin before it, and
   * replace it. The file has the true number, so it is compared.
   */
  private beganOnNewest(): boolean {
    const { fd } = this;
    if (fd === undefined) return false;
    return this.db.getWriteTxnId() === readNewestMeta(fd).transaction + 1;
  }

  private bytesOf(seq: number): Uint8Array | undefined {
    try {
      return this.db.getBinaryFast(seq);
    } catch {
      // After an error of a commit's last write LMDB refuses reads as well, and a request may need
      // a payload before the environment is opened anew.
      return undefined;
    }
  }

  /** Leaves the environment, or gives up after `stallMs`. */
  async close(stallMs: number): Promise<void> {
    if (this.fd !== undefined) fs.closeSync(this.fd);
    this.fd = undefined;
    await within(closeDatabase(this.db), stallMs, undefined);
  }
}

/** As they are; lmdb's types have neither the options nor the result of putSync. */
interface Queued {
  put(key: number, value: Uint8Array, options: typeof APPEND): Promise<boolean>;
}
interface Synchronous {
  putSync(key: number, value: Uint8Array, options?: typeof APPEND): boolean;
}

function openDatabase(directory: string, { noSync = false } = {}): Database {
  const options = {
    path: directory,
    noSubdir: false, // Else a dot in the path would make LMDB take it for a file.
    overlappingSync: false,
    noSync,
    mapSize: MAP_BYTES,
    permissionsMode: 0o600, // Not among lmdb's types.
    encoding: 'binary',
    keyEncoder: { writeKey, readKey },
  } as const;
  return lmdb.open<Uint8Array, number>(options);
}

/**
 * Leaves zeros on the stack below its caller, where the arguments of a call lie.
 *
 * When the device refuses a write, LMDB 3.5.6 formats three numbers into a buffer of 100 bytes,
 * and it may have set only one of them. The other two are whatever lies on the stack. Long ones
 * overflow the buffer and damage the heap, and the process dies of that some time later.
 */
const clearStack = (): number => Math.max(...ZEROS);

/**
 * lmdb never removes an environment from its table. Each one that was left would stay in memory
 * with its write buffer and its newest promises, a hundred kilobytes or more, and a log opens new
 * ones for years. An environment that does not close stays in the table: its write is under way.
 */
async function closeDatabase(db: Database): Promise<void> {
  await db.close();
  for (const [name, known] of allDbs) if (known === db) allDbs.delete(name);
}

function* inGroups(entries: Iterable<Entry>): Generator<readonly Entry[]> {
  let group: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    group.push(entry);
    bytes += entry[1].length;
    if (group.length < CREATED_AT_ONCE && bytes < CREATED_AT_ONCE_BYTES) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  yield group;
}

async function putAll(db: Database, entries: readonly Entry[]): Promise<void> {
  const puts = entries.map(([key, bytes]) => (db as unknown as Queued).put(key, bytes, APPEND));
  if (!(await allTaken(puts))) throw new LogError('LOG_IO', 'the device refused a new segment');
}

/**
 * Looks at the result of each write of one transaction. LMDB settles all of them in one turn, so
 * one after the other costs no time, and none of them is rejected without being looked at.
 */
async function allTaken(results: readonly PromiseLike<boolean>[]): Promise<boolean> {
  let taken = true;
  for (const result of results) {
    try {
      if (!(await result)) taken = false;
    } catch (error) {
      taken = false;
      // LMDB hands out a second promise that it also rejects; unhandled, it would end the process.
      (error as { commitError?: Promise<unknown> }).commitError?.catch(() => {});
    }
  }
  return taken;
}
