// Owns the directory in which a copy grows before it has its name: beside the target, under the
// target's name with something behind it. The process that makes the copy holds the directory's
// lock as long as it lives. So what a killed process left is known, and can be removed, and what
// another process is writing is left alone.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import { LogError } from './log.ts';
import { directoryError, removeHalfMade, syncPath } from './segments/segment-files.ts';

const PART = '.part-';
/** Somebody else may take a new directory for a leftover before its lock is held. */
const TRIES = 5;
/** The way out where no copy can be made. */
export const ELSEWHERE = 'choose another directory for the copy';

export interface Leftover {
  readonly path: string;
  /** Else it may belong to a process of another machine or container: a person must look. */
  readonly isRemoved: boolean;
}

export class GrowingCopy {
  readonly path: string;
  private readonly lock: DirectoryLock;
  private hasName = false;

  private constructor(directory: string, lock: DirectoryLock) {
    this.path = directory;
    this.lock = lock;
  }

  /**
   * @param target absolute
   * @param told of what an earlier copy into the same target has left
   * @throws LogError LOG_LOCKED when another process makes a copy into the same target
   */
  static async begin(target: string, told: (leftover: Leftover) => void): Promise<GrowingCopy> {
    assertNotMounted(target);
    await removeLeftovers(target, told);
    for (let tries = 1; ; tries += 1) {
      const directory = made(target);
      try {
        return new GrowingCopy(directory, await lockDirectory(directory));
      } catch (error) {
        removeHalfMade(directory);
        if (tries === TRIES) throw error;
      }
    }
  }

  /** The copy is whole: it gets its name. */
  async name(target: string): Promise<void> {
    fs.chmodSync(this.path, 0o700);
    await syncPath(this.path);
    // An empty directory gives way; one that is not empty by now refuses.
    try {
      fs.renameSync(this.path, target);
    } catch (error) {
      throw directoryError(target, ELSEWHERE, error);
    }
    this.hasName = true;
    await syncPath(path.dirname(target));
  }

  async close(): Promise<void> {
    if (!this.hasName) removeHalfMade(this.path);
    await this.lock.release();
  }
}

function made(target: string): string {
  try {
    fs.mkdirSync(path.dirname(target), { recursive: true });
    return fs.mkdtempSync(`${target}${PART}${placeOfLocks()}-`);
  } catch (error) {
    throw directoryError(path.dirname(target), ELSEWHERE, error);
  }
}

/** The copy could not have its name in the end. */
function assertNotMounted(target: string): void {
  const [own, parent] = [target, path.dirname(target)].map(deviceOf);
  if (own === undefined || parent === undefined || own === parent) return;
  const busy = Object.assign(new Error('it is mounted'), { code: 'EBUSY' });
  throw directoryError(target, ELSEWHERE, busy);
}

/** @returns undefined: there is nothing, or not for this user; then making the copy says why. */
function deviceOf(directory: string): number | undefined {
  try {
    return fs.statSync(directory).dev;
  } catch {
    return undefined;
  }
}

async function removeLeftovers(target: string, told: (leftover: Leftover) => void) {
  const prefix = `${path.basename(target)}${PART}`;
  const parent = path.dirname(target);
  for (const name of namesIn(parent)) {
    if (!name.startsWith(prefix)) continue;
    const directory = path.join(parent, name);
    // A lock of another machine or container cannot be seen from here.
    const isOurs = name.startsWith(`${prefix}${placeOfLocks()}-`);
    if (isOurs) await remove(directory, target);
    told({ path: directory, isRemoved: isOurs });
  }
}

/** A directory that is not there, or not for this user, is told when the copy is begun in it. */
function namesIn(directory: string): readonly string[] {
  try {
    return fs.readdirSync(directory);
  } catch {
    return [];
  }
}

async function remove(directory: string, target: string): Promise<void> {
  let lock: DirectoryLock;
  try {
    lock = await lockDirectory(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code !== 'LOG_LOCKED') throw error;
    const text = `another process is making a copy into ${target}, in ${directory}`;
    throw new LogError('LOG_LOCKED', `${text}; wait for it, or choose another directory`);
  }
  fs.rmSync(directory, { recursive: true, force: true });
  await lock.release();
}

/** Names where locks are seen: this boot of this machine, and its network namespace. */
function placeOfLocks(): string {
  const seen = process.platform === 'linux' ? `${bootId()} ${namespace()}` : os.hostname();
  return createHash('sha256').update(seen).digest('hex').slice(0, 8);
}

const bootId = (): string => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
const namespace = (): string => fs.readlinkSync('/proc/self/ns/net');
