// Owns one LMDB environment: how it is opened, read, written and left. Everything that LMDB does
// otherwise than one would expect is dealt with in this file and explained where it is dealt with.
//
// The recipe: two flushes a commit (overlappingSync off, else an error of the second is lost), all
// writes of a group in one turn of the event loop and under one condition, every result looked at.

import * as lmdb from 'lmdb';
import type { LogRecord } from '../../model/records.ts';
import { decodeRecord } from '../codec.ts';
import { LogError } from '../log.ts';
import { hangs, within } from '../stalls.ts';
import { ensureLockFile, writeEmptyEnvironment } from './env-files.ts';
import { readKey, writeKey } from './page.ts';

/** An entry as it is stored. */
export type Entry = readonly [key: number, bytes: Uint8Array];

export type Written = 'written' | 'refused' | 'failed' | 'stalled';
type Database = lmdb.RootDatabase<Uint8Array, number>;

/** Every database that lmdb has opened, under its directory's name. Not among lmdb's types. */
const { allDbs } = lmdb as unknown as { readonly allDbs: Map<string, unknown> };

// Refused by LMDB itself unless the key is the greatest. Never add noOverwrite: inside a
// conditional block lmdb takes that flag for a new condition, and the later records of a refused
// group pass.
const APPEND = { append: true } as const;
/** A new segment is filled in groups, between which everything else gets its turn. */
const CREATED_AT_ONCE = 1_000;
const CREATED_AT_ONCE_BYTES = 4 * 1024 * 1024;
const MAP_BYTES = 256 * 1024 * 1024; // Address space, not memory; LMDB maps more when it must.

export class Environment {
  readonly directory: string;
  private readonly db: Database;
  /** The newest write, settled or not: closing before it is settled would block the thread. */
  private writing: Promise<unknown> = Promise.resolve();
  private settled = true;
  /** What the newest commit failed of, as the system or LMDB says; undefined: it did not fail. */
  failure: Error | undefined;

  /**
   * The data file must have been looked at (page-check.ts): LMDB believes every page number and
   * offset that it finds, and one beyond the file ends the process instead of the attempt.
   */
  constructor(directory: string) {
    this.directory = directory;
    ensureLockFile(directory);
    this.db = openDatabase(directory);
  }

  /** Makes an environment with these entries in an empty directory, not flushed, and leaves it. */
  static async create(directory: string, entries: Iterable<Entry>): Promise<void> {
    writeEmptyEnvironment(directory, MAP_BYTES);
    const db = openDatabase(directory, { noSync: true });
    try {
      let group: Entry[] = [];
      let bytes = 0;
      for (const entry of entries) {
        group.push(entry);
        bytes += entry[1].length;
        if (group.length < CREATED_AT_ONCE && bytes < CREATED_AT_ONCE_BYTES) continue;
        await putAll(db, group);
        group = [];
        bytes = 0;
      }
      await putAll(db, group);
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
   * One atomic commit of these entries, in ascending order and all after everything that is there,
   * on the condition, inside the transaction, that the number `free` is not taken.
   * @param replaced overwritten under the same condition.
   */
  async commit(
    free: number,
    entries: readonly Entry[],
    stallMs: number,
    replaced: readonly Entry[] = [],
  ): Promise<Written> {
    const puts: PromiseLike<boolean>[] = [];
    const condition = this.db.ifNoExists(free, () => {
      for (const [key, bytes] of replaced) puts.push(this.db.put(key, bytes));
      for (const [key, bytes] of entries) {
        puts.push((this.db as unknown as WithOptions).put(key, bytes, APPEND));
      }
    });
    this.settled = false;
    const writing = this.settle([condition, ...puts]);
    this.writing = writing;
    return within(writing, stallMs, 'stalled');
  }

  private bytesOf(seq: number): Uint8Array | undefined {
    try {
      return this.db.getBinaryFast(seq);
    } catch {
      // After an error of a commit's last write LMDB refuses to read as well, and a request may
      // want a payload before the commit is known to have failed.
      return undefined;
    }
  }

  private async settle(results: readonly PromiseLike<boolean>[]): Promise<Written> {
    this.failure = undefined;
    const written = await outcome(results, (error) => {
      this.failure ??= error;
    });
    this.settled = true;
    return written;
  }

  /**
   * Leaves the environment. A write that never settles holds LMDB's own lock, and closing would
   * wait for it on this thread for ever; such an environment can only be left with the process.
   * @throws LogError LOG_IO then.
   */
  async close(stallMs: number): Promise<void> {
    if (!this.settled) await within(this.writing, stallMs, undefined);
    if (!this.settled) {
      throw hangs(this.directory);
    }
    await within(closeDatabase(this.db), stallMs, undefined);
  }
}

interface WithOptions {
  put(key: number, value: Uint8Array, options: typeof APPEND): Promise<boolean>;
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
 * lmdb takes nothing out of its table by itself: each environment that was left would stay in
 * memory with its write buffer and its newest promises, a hundred kilobytes or more, and a log
 * opens new ones for years. One that does not close is not let go of: its write is under way.
 */
async function closeDatabase(db: Database): Promise<void> {
  await db.close();
  for (const [name, known] of allDbs) if (known === db) allDbs.delete(name);
}

async function putAll(db: Database, entries: readonly Entry[]): Promise<void> {
  const puts = entries.map(([key, bytes]) =>
    (db as unknown as WithOptions).put(key, bytes, APPEND),
  );
  if ((await outcome(puts)) !== 'written')
    throw new LogError('LOG_IO', 'the device refused a new segment');
}

/**
 * Looks at the result of each write of one transaction. LMDB settles all of them in one turn, so
 * one after the other costs no time, and none of them is rejected without being looked at.
 */
async function outcome(
  results: readonly PromiseLike<boolean>[],
  onFailure: (error: Error) => void = () => {},
): Promise<Written> {
  let refused = false;
  let failed = false;
  for (const result of results) {
    try {
      if (!(await result)) refused = true;
    } catch (error) {
      failed = true;
      onFailure(error as Error);
      // LMDB hands out a second promise that it also rejects; unhandled, it would end the process.
      (error as { commitError?: Promise<unknown> }).commitError?.catch(() => {});
    }
  }
  if (failed) return 'failed';
  return refused ? 'refused' : 'written';
}
