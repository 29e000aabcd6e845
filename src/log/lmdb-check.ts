// Owns the look at an environment before LMDB maps it: LMDB believes every page number and offset
// that it finds, and one beyond the file ends the process instead of the attempt.

import { dataFile } from './lmdb-files.ts';
import { LogError } from './log.ts';
import { PageFile } from './page-file.ts';

/** @throws LogError LOG_IO in words when the data file is missing, truncated, damaged or not ours. */
export function checkEnvironment(directory: string): void {
  const file = dataFile(directory);
  let pages: PageFile | undefined;
  try {
    pages = new PageFile(file);
    checkPages(pages);
  } catch (error) {
    const { message } = error as Error;
    throw new LogError('LOG_IO', `cannot open ${file}: ${message}`, { cause: error });
  } finally {
    pages?.close();
  }
}

function checkPages(pages: PageFile): void {
  for (;;) {
    try {
      pages.check();
      return;
    } catch (error) {
      // Another writer may be at work: what it wrote meanwhile is looked at instead.
      if (!pages.refresh()) throw error;
    }
  }
}
