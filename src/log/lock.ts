// Owns the lock that keeps a second coordinator from one data directory. The kernel holds it as
// long as the process lives, even a stopped one, and frees it the moment the process dies. The
// lock only gives the clear message: two containers on one volume do not see each other's lock.
// What makes two writers harmless is a condition of every append: `commit` in lmdb/env.ts checks
// inside the transaction that nobody has taken the next number. The writer that is refused there
// is fenced, and loop/recovery.ts ends it. In a cluster the condition is etcd's: `append` in
// etcd/tail.ts succeeds only while `head` is as this writer left it.

import { existsSync, statSync, unlinkSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { LogError } from './log.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

/** @throws LogError LOG_LOCKED naming the directory when another process holds it. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const address = addressOf(directory);
  try {
    return await hold(address);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (!isFile(address) || (await answers(address))) throw locked(directory);
    unlinkSync(address); // A socket file that nobody listens on outlived its process.
    return hold(address);
  }
}

/** Whether a process serves the data directory; asks without taking the lock. */
export const isLocked = async (directory: string): Promise<boolean> =>
  existsSync(directory) && answers(addressOf(directory));

/** By device and inode, not by path: two ways to one directory are one lock. */
function addressOf(directory: string): string {
  const { dev, ino } = statSync(directory, { bigint: true });
  if (process.platform === 'linux') return `\0leasehold:${dev}:${ino}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\leasehold-${dev}-${ino}`;
  return path.join(directory, 'lock.sock');
}

const isFile = (address: string): boolean => path.isAbsolute(address) && address[0] === '/';

function hold(address: string): Promise<DirectoryLock> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen({ path: address, exclusive: true }, () => {
      server.unref();
      resolve({ release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function locked(directory: string): LogError {
  return new LogError(
    'LOG_LOCKED',
    `another process is serving the data directory ${directory}; stop it first, or give this one ` +
      'a directory of its own with --data-dir',
  );
}
