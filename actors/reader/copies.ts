// Owns the copies of the log that are being sent to other machines: one chunk at a time, as it is
// asked for, so that the thread does everything else in between.

import { readMirrorNote } from '../../src/cluster/mirror-note.ts';
import { sentLog } from '../../src/log/copy-sent.ts';
import { LogCorrupt } from '../../src/log/log.ts';

/** Each holds files open. */
const COPIES_MAX = 4;

export class Copies {
  private readonly dataDir: string | undefined;
  private readonly open = new Map<number, Generator<Buffer>>();
  private static count = 0;

  /** Of one connection. */
  constructor(dataDir: string | undefined) {
    this.dataDir = dataDir;
  }

  /**
   * @param copy a number of the asker's own; the first chunk begins it
   * @returns the next chunk, empty at the end. @throws Error in words that may be shown
   */
  next(copy: number): Uint8Array<ArrayBuffer> {
    const chunks = this.open.get(copy) ?? this.begin(copy);
    try {
      const { value, done } = chunks.next();
      if (done !== true) return new Uint8Array(value);
      this.end(copy);
      return new Uint8Array();
    } catch (error) {
      this.end(copy);
      if (error instanceof LogCorrupt) throw error;
      const words = 'the log is not there, or was rewritten meanwhile; ask again';
      throw new Error(words, { cause: error });
    }
  }

  /** Nobody wants the rest. */
  end(copy: number): void {
    const chunks = this.open.get(copy);
    if (chunks === undefined) return;
    this.open.delete(copy);
    Copies.count -= 1;
    chunks.return(undefined);
  }

  close(): void {
    for (const copy of [...this.open.keys()]) this.end(copy);
  }

  private begin(copy: number): Generator<Buffer> {
    if (this.dataDir === undefined) throw new Error('it is in no directory');
    if (Copies.count === COPIES_MAX) throw new Error('too many copies are being made');
    const note = readMirrorNote(this.dataDir);
    const chunks = sentLog(this.dataDir, note && { cluster: note.cluster, log: note.log });
    this.open.set(copy, chunks);
    Copies.count += 1;
    return chunks;
  }
}
