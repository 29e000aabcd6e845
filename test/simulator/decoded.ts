// Owns the device of a simulated log, which keeps the records that were read from its bytes: the
// many replays of a run do not read them again. An audit reads the bytes and passes this by.

import { decodeRecord } from '../../src/log/codec.ts';
import { MemoryStore } from '../../src/log/memory-store.ts';
import type { LogRecord } from '../../src/model/records.ts';

export class DecodedStore extends MemoryStore {
  private readonly decoded: (LogRecord | undefined)[] = [];
  /** Reading a small array's bytes where they are makes the engine move them first. */
  private scratch = Buffer.alloc(4_096);

  /** @returns what the bytes say, or undefined: there are none. @throws LogCorrupt. */
  record(seq: number): LogRecord | undefined {
    const known = this.decoded[seq];
    if (known !== undefined) return known;
    const bytes = this.entries.get(seq);
    if (bytes === undefined) return undefined;
    if (bytes.length > this.scratch.length) this.scratch = Buffer.alloc(2 * bytes.length);
    this.scratch.set(bytes);
    const record = decodeRecord(seq, this.scratch, 0, bytes.length);
    this.decoded[seq] = record;
    return record;
  }

  override drop(seq: number): void {
    super.drop(seq);
    this.decoded[seq] = undefined;
  }
}
