// Owns the making of a directory with all that lead to it, for the log and for the socket.

import fs from 'node:fs';
import path from 'node:path';

/**
 * Like `mkdir -p`, one directory at a time. Node's own recursive way never ends in a file system
 * that answers ENOENT for what it does not let anybody make, as /proc does. @returns the first
 * directory that was missing, undefined when all were there. @throws Error of the system.
 */
export function makeDirectory(directory: string, mode: number): string | undefined {
  const whole = path.resolve(directory);
  const missing: string[] = [];
  for (let at = whole; !fs.existsSync(at); at = path.dirname(at)) missing.unshift(at);
  for (const at of missing.length === 0 ? [whole] : missing) makeOne(at, mode);
  return missing[0];
}

function makeOne(directory: string, mode: number): void {
  try {
    fs.mkdirSync(directory, { mode });
  } catch (error) {
    // Another process may have made the directory since it was found missing.
    const isThere = fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isThere) throw error;
  }
}
