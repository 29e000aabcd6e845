// Owns the records of a simulated log that were read from their bytes once, so that the many
// replays of a run do not read them again. It answers for the very bytes that were read alone, and
// an audit passes it by.

import type { LogRecord } from '../../src/core/records.ts';
import { decodeRecord } from '../../src/log/codec.ts';
import type { MemoryStore } from '../../src/log/memory-store.ts';

interface Entry {
  readonly bytes: Uint8Array;
  readonly record: LogRecord;
}

export class Decoded {
  private readonly store: MemoryStore;
  /** Reading a small array's bytes where they are makes the engine move them first. */
  private scratch = Buffer.alloc(4_096);
  private readonly entries: (Entry | undefined)[] = [];

  constructor(store: MemoryStore) {
    this.store = store;
  }

  /** @returns what the store's bytes say, or undefined: there are none. @throws LogCorrupt. */
  get(seq: number): LogRecord | undefined {
    const bytes = this.store.entries.get(seq);
    const entry = this.entries[seq];
    if (entry !== undefined && entry.bytes === bytes) return entry.record;
    if (bytes === undefined) {
      if (entry !== undefined) this.entries[seq] = undefined;
      return undefined;
    }
    if (bytes.length > this.scratch.length) this.scratch = Buffer.alloc(2 * bytes.length);
    this.scratch.set(bytes);
    const record = decodeRecord(seq, this.scratch, 0, bytes.length);
    this.entries[seq] = { bytes, record };
    return record;
  }
}
