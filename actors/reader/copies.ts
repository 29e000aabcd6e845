// Owns the copies of the log that are being sent to other machines: one chunk at a time, as it is
// asked for, so that the thread does everything else in between. A node's copies are noted for the
// coordinator's thread, which sees to it that etcd keeps what a copy lacks.

import { randomUUID } from 'node:crypto';
import { type MirrorNote, readMirrorNote } from '../../src/cluster/mirror-note.ts';
import { sentLog } from '../../src/log/copy-sent.ts';
import { LogCorrupt } from '../../src/log/log.ts';
import { monotonicMs } from '../shared/clock.ts';
import type { CopiesNote } from '../shared/copies-note.ts';

/** Each holds files open. */
const COPIES_MAX = 4;

interface Open {
  readonly chunks: Generator<Buffer>;
  /** Of a node's copy: the random name under which it is noted. */
  readonly mirror: string | undefined;
}

export class Copies {
  private readonly dataDir: string | undefined;
  private readonly note: CopiesNote | undefined;
  private readonly open = new Map<number, Open>();
  private static count = 0;

  /** Of one connection. */
  constructor(dataDir: string | undefined, note: CopiesNote | undefined) {
    this.dataDir = dataDir;
    this.note = note;
  }

  /**
   * @param copy a number of the asker's own; the first chunk begins it
   * @returns the next chunk, empty at the end. @throws Error in words that may be shown
   */
  next(copy: number): Uint8Array<ArrayBuffer> {
    const { chunks, mirror } = this.open.get(copy) ?? this.begin(copy);
    try {
      const { value, done } = chunks.next();
      if (done !== true) return new Uint8Array(value);
      this.forget(copy);
      if (mirror !== undefined) this.note?.sent(mirror, monotonicMs());
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
    const open = this.forget(copy);
    open?.chunks.return(undefined);
    if (open?.mirror !== undefined) this.note?.brokenOff(open.mirror);
  }

  close(): void {
    for (const copy of [...this.open.keys()]) this.end(copy);
  }

  private begin(copy: number): Open {
    if (this.dataDir === undefined) throw new Error('it is in no directory');
    if (Copies.count === COPIES_MAX) throw new Error('too many copies are being made');
    const of = readMirrorNote(this.dataDir);
    const open = of === undefined ? this.ofServer(this.dataDir) : this.ofNode(this.dataDir, of);
    this.open.set(copy, open);
    Copies.count += 1;
    return open;
  }

  private ofServer(dataDir: string): Open {
    return { chunks: sentLog(dataDir), mirror: undefined };
  }

  private ofNode(dataDir: string, { cluster, log }: MirrorNote): Open {
    const mirror = randomUUID();
    // Before anything is read: what is reported from now on is reported with this copy.
    this.note?.begins(mirror);
    const begun = (last: number): void => this.note?.holds(mirror, last);
    return { chunks: sentLog(dataDir, { cluster, log, mirror }, begun), mirror };
  }

  private forget(copy: number): Open | undefined {
    const open = this.open.get(copy);
    if (this.open.delete(copy)) Copies.count -= 1;
    return open;
  }
}
